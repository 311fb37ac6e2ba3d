package dwell.jni;

/** Control, settings and slots of the calls of LDA, which {@link NativeBridge} describes. */
public final class LdaLayout {

  /** Bytes of a result before its vector. */
  public static final int HEADER_BYTES = 512;

  /** Slot of a round's result: sum of the counts of the documents visited. */
  public static final int TOKENS = 0;

  /** Slot of a round's result: sum of the step sizes. */
  public static final int RHO_SUM = 1;

  /** Slot of a round's result: steps. */
  public static final int UPDATES = 2;

  /** Slot of a result: iterations of all documents. */
  public static final int ITERATIONS = 3;

  /** Slot of a result: sum of the sampled documents' parts of the variational bound. */
  public static final int BOUND = 4;

  /** Slot of a result: documents visited that were not empty. */
  public static final int DOCUMENTS = 5;

  /** Slot of a result: their entries that are not 0. */
  public static final int NONZEROS = 6;

  /** Slot of a result: nanoseconds inside the solver. */
  public static final int SOLVER_NANOS = 7;

  /** Slot of a round's result: the cursor of the next one. */
  public static final int CURSOR = 9;

  /** Slot of a round's result: words of the documents visited. */
  public static final int WORDS = 10;

  /** Slot of a result: sum of the counts of the sampled documents. */
  public static final int BOUND_TOKENS = 11;

  /** Slot of a round's result: how many factors there are from {@link #FACTOR} on. */
  public static final int FACTORS = 15;

  /** Slot of a round's result: the first of the factors of words that no document of the round has. */
  public static final int FACTOR = 16;

  /** So many factors there may be. */
  public static final int MOST_FACTORS = 24;

  private LdaLayout() {}

  /** Numbers that a model of so many topics may have. */
  public static long mostEntries(int topics) {
    return 2 * ((Integer.MAX_VALUE - 15L - HEADER_BYTES) / 8 - topics);
  }

  /** Numbers of a model; an exception if a result, with sums behind it, could not hold them. */
  public static int entries(int words, int topics) {
    long entries = (long) words * topics;
    if (words < 1 || topics < 1 || entries > mostEntries(topics)) {
      throw new IllegalArgumentException(words + " words and " + topics + " topics: at least 1 of each, and at most "
          + mostEntries(topics) + " numbers fit into an array");
    }
    return (int) entries;
  }

  /** Bytes of a shared model, and of the vector of a round's result: 4 for each number, up to a multiple of 8. */
  public static int vectorBytes(int words, int topics) {
    return 8 * ((entries(words, topics) + 1) / 2);
  }

  /** Bytes of a round's result. */
  public static int length(int words, int topics, boolean concentration) {
    return HEADER_BYTES + vectorBytes(words, topics) + (concentration ? 8 * topics : 0);
  }

  /** The control of {@link NativeBridge#ldaRound}. */
  public static long[] round(long fit, int partition, long seed, int words, int topics, int batch, boolean concentration, boolean mean,
      long budget, long cursor, long seen, int workers, int cap, long corpus, int sample) {
    long flags = (concentration ? NativeBridge.LDA_CONCENTRATION : 0) + (mean ? NativeBridge.LDA_TOPIC_MEAN : 0);
    return new long[] {NativeBridge.LDA_LAYOUT_VERSION, fit, partition, seed, words, topics, batch, flags, budget, cursor, seen, workers,
        cap, corpus, sample};
  }

  /** The control of {@link NativeBridge#ldaBound}, over documents {@code first} until {@code last}. */
  public static long[] bound(long fit, int partition, int words, int topics, int first, int last, int cap) {
    return new long[] {NativeBridge.LDA_LAYOUT_VERSION, fit, partition, 0, words, topics, 0, 0, 0, first, last, 0, cap, 0, 0};
  }

  /** The settings of either. */
  public static double[] settings(double eta, double tau0, double kappa, double base, double tolerance, double overRelaxation,
      double pruning, double share) {
    return new double[] {eta, tau0, kappa, base, tolerance, overRelaxation, pruning, share};
  }
}
