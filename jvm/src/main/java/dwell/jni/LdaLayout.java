package dwell.jni;

/**
 * Layout of the calls of LDA: the model, and {@code control}, {@code settings} and the result of {@link NativeBridge#ldaRound} and
 * {@link NativeBridge#ldaBound}. {@link ResultHeader} names the slots that all results share; {@link NativeBridge} defines the
 * flags.
 *
 * <p>A model has V K numbers for V words and K topics: number w K + k is lambda_kw - eta, topic k of word w without its prior, 0 to
 * 1e30. They are little endian floats. If V K is odd, a float 0 follows them, so that a vector has 8 ceil(V K / 2) bytes.
 *
 * <p>{@code native/jni/src/lda/layout.rs} takes its constants from this file.
 */
public final class LdaLayout {

  // control: longs. A bound ignores the slots marked "Round".

  /** {@link NativeBridge#LDA_LAYOUT_VERSION}. */
  public static final int CONTROL_VERSION = 0;

  /** Number of the fit. */
  public static final int CONTROL_FIT = 1;

  /** Number of the partition, at least 0. It also decides the order of the documents. */
  public static final int CONTROL_PARTITION = 2;

  /** Round: seed of the order of the documents. */
  public static final int CONTROL_SEED = 3;

  /** V, the number of words, at least 1. */
  public static final int CONTROL_WORDS = 4;

  /** K, the number of topics, at least 1. */
  public static final int CONTROL_TOPICS = 5;

  /** Round: number of documents of a step, at least 1. */
  public static final int CONTROL_BATCH = 6;

  /** Sum of flags: {@link NativeBridge#LDA_CONCENTRATION}, {@link NativeBridge#LDA_TOPIC_MEAN}. A bound ignores them. */
  public static final int CONTROL_FLAGS = 7;

  /** Round: number of documents to visit, at least 1, not counting empty ones. */
  public static final int CONTROL_BUDGET = 8;

  /** Round: number of documents of this partition visited since the start of the fit, counting empty ones. */
  public static final int CONTROL_CURSOR = 9;

  /** Bound: the first document. */
  public static final int CONTROL_FIRST = 9;

  /** Round: number of documents that all workers visited since the start of the fit, not counting empty ones. */
  public static final int CONTROL_SEEN = 10;

  /** Bound: the document after the last one. */
  public static final int CONTROL_LAST = 10;

  /** Round: W, the number of workers, at least 1. */
  public static final int CONTROL_WORKERS = 11;

  /** Largest number of iterations of a document, at least 1. */
  public static final int CONTROL_ITERATIONS = 12;

  /** Round: D, the number of documents of all workers, at least 1, not counting empty ones. */
  public static final int CONTROL_CORPUS = 13;

  /** Round: size of the sample, the documents from the first on whose bound the round computes. */
  public static final int CONTROL_SAMPLE = 14;

  /** Number of threads, at least 1. It does not change the results. */
  public static final int CONTROL_THREADS = 15;

  /** Length of {@code control}. */
  public static final int CONTROL_SLOTS = 16;

  // settings: doubles.

  /** eta, the prior of the words in a topic, 1e-6 to 1e6. */
  public static final int SETTING_ETA = 0;

  /** Round: tau0, at least 0. */
  public static final int SETTING_TAU0 = 1;

  /** Round: kappa, at least 0. */
  public static final int SETTING_KAPPA = 2;

  /** Round: base, positive: the documents that count as one step of the schedule. */
  public static final int SETTING_BASE = 3;

  /** Tolerance, positive: a document is done when the mean over the topics of the change of gamma is less. */
  public static final int SETTING_TOLERANCE = 4;

  /** Over-relaxation, 0 to 1: how much further than gamma the next iteration starts. */
  public static final int SETTING_OVER_RELAXATION = 5;

  /** Pruning, 0 to 0.5: a topic leaves a document when its share is smaller and does not rise. */
  public static final int SETTING_PRUNING = 6;

  /** Round: the share, 0 to 1, that multiplies the model that it reaches. */
  public static final int SETTING_SHARE = 7;

  /** Length of {@code settings}. */
  public static final int SETTING_SLOTS = 8;

  // Slots of a result.

  /** Round: sum of the counts of the documents visited. */
  public static final int TOKENS = 0;

  /** Round: sum of the step sizes r. */
  public static final int RHO_SUM = 1;

  /** Round: number of steps. */
  public static final int UPDATES = 2;

  /** Number of iterations of all documents; a round does not count the iterations of the sample. */
  public static final int ITERATIONS = 3;

  /**
   * Sum of the documents' parts of the variational bound at the shared model, without the topics' own part. In a round the documents
   * are the sample.
   */
  public static final int BOUND = 4;

  /** Number of documents visited, not counting empty ones. */
  public static final int DOCUMENTS = 5;

  /** Round: the cursor of the next round. */
  public static final int CURSOR = 9;

  /** Round: words of the documents visited. */
  public static final int WORDS = 10;

  /** Sum of the counts of the documents in {@link #BOUND}. */
  public static final int BOUND_TOKENS = 11;

  /** Round: number of factors, 0 to {@link #MAX_FACTORS}; 0 if more would be needed. */
  public static final int FACTORS = 15;

  /**
   * Round: first of the factors. If no visited document has word w, its numbers in the vector are the shared ones times each factor in
   * turn. The last factor is the share. Each factor and each product is rounded to a float, which may be subnormal or 0.
   */
  public static final int FACTOR = 16;

  /** Largest number of factors. */
  public static final int MAX_FACTORS = 24;

  private LdaLayout() {}

  /** Largest number of entries of a model with this many topics. */
  public static long maxEntries(int topics) {
    return 2 * ((long) ResultHeader.MAX_ENTRIES - topics);
  }

  /**
   * Number of entries of a model.
   *
   * @throws IllegalArgumentException
   *   if a result, with sums after its vector, cannot hold them
   */
  public static int entries(int words, int topics) {
    long entries = (long) words * topics;
    if (words < 1 || topics < 1 || entries > maxEntries(topics)) {
      throw new IllegalArgumentException(words + " words and " + topics + " topics: at least 1 of each, and at most "
          + maxEntries(topics) + " numbers fit into an array");
    }
    return (int) entries;
  }

  /** Size in bytes of a shared model, and of the vector of a round's result: 4 for each number, rounded up to a multiple of 8. */
  public static int vectorBytes(int words, int topics) {
    return 8 * ((entries(words, topics) + 1) / 2);
  }

  /** Size of a round's result in bytes. */
  public static int length(int words, int topics, boolean concentration) {
    return ResultHeader.BYTES + vectorBytes(words, topics) + (concentration ? 8 * topics : 0);
  }

  /** The control of {@link NativeBridge#ldaRound}; {@code cap} is the largest number of iterations of a document. */
  public static long[] round(long fit, int partition, long seed, int words, int topics, int batch, boolean concentration, boolean mean,
      long budget, long cursor, long seen, int workers, int cap, long corpus, int sample, int threads) {
    long[] control = control(fit, partition, words, topics, cap, threads);
    control[CONTROL_SEED] = seed;
    control[CONTROL_BATCH] = batch;
    control[CONTROL_FLAGS] = (concentration ? NativeBridge.LDA_CONCENTRATION : 0) + (mean ? NativeBridge.LDA_TOPIC_MEAN : 0);
    control[CONTROL_BUDGET] = budget;
    control[CONTROL_CURSOR] = cursor;
    control[CONTROL_SEEN] = seen;
    control[CONTROL_WORKERS] = workers;
    control[CONTROL_CORPUS] = corpus;
    control[CONTROL_SAMPLE] = sample;
    return control;
  }

  /** The control of {@link NativeBridge#ldaBound}, over documents {@code first} until {@code last}. */
  public static long[] bound(long fit, int partition, int words, int topics, int first, int last, int cap, int threads) {
    long[] control = control(fit, partition, words, topics, cap, threads);
    control[CONTROL_FIRST] = first;
    control[CONTROL_LAST] = last;
    return control;
  }

  private static long[] control(long fit, int partition, int words, int topics, int cap, int threads) {
    long[] control = new long[CONTROL_SLOTS];
    control[CONTROL_VERSION] = NativeBridge.LDA_LAYOUT_VERSION;
    control[CONTROL_FIT] = fit;
    control[CONTROL_PARTITION] = partition;
    control[CONTROL_WORDS] = words;
    control[CONTROL_TOPICS] = topics;
    control[CONTROL_ITERATIONS] = cap;
    control[CONTROL_THREADS] = threads;
    return control;
  }

  /** The settings of either call. */
  public static double[] settings(double eta, double tau0, double kappa, double base, double tolerance, double overRelaxation,
      double pruning, double share) {
    double[] settings = new double[SETTING_SLOTS];
    settings[SETTING_ETA] = eta;
    settings[SETTING_TAU0] = tau0;
    settings[SETTING_KAPPA] = kappa;
    settings[SETTING_BASE] = base;
    settings[SETTING_TOLERANCE] = tolerance;
    settings[SETTING_OVER_RELAXATION] = overRelaxation;
    settings[SETTING_PRUNING] = pruning;
    settings[SETTING_SHARE] = share;
    return settings;
  }
}
