package dwell.jni;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.DoubleBuffer;
import java.time.Instant;

/**
 * Layout of the result of a native call: a header of {@link #SLOTS} slots, then the vector. Header and vector are little
 * endian; a slot is a double. Both share one byte array, because Spark moves byte arrays without looking at their elements.
 *
 * <p>This class names the slots that the results of all calls share. {@link CdLayout}, {@link SgdLayout} and
 * {@link LdaLayout} name the other slots. A slot that a call does not use is 0.
 */
public final class ResultHeader {

  /** Number of slots of the header. */
  public static final int SLOTS = 64;

  /** Size of the header in bytes; the vector starts here. */
  public static final int BYTES = 8 * SLOTS;

  /** Length of the longest vector, in doubles. Header and vector share one array, and some JVMs refuse the last few lengths. */
  public static final int MAX_ENTRIES = (Integer.MAX_VALUE - 15 - BYTES) / 8;

  /** Slot: number of stored entries of the matrix that the call visited. */
  public static final int NONZEROS = 6;

  /** Slot: nanoseconds inside the solver. */
  public static final int SOLVER_NANOS = 7;

  /** Slot: bytes of the memory that the worker keeps for the partition after the call. */
  public static final int STATE_BYTES = 8;

  /** First slot that native code does not write. */
  public static final int FIRST_FREE = 56;

  /** Slot: time at which the caller called the solver, by {@link #now}. The caller writes this slot. */
  public static final int STARTED = FIRST_FREE;

  private ResultHeader() {}

  /** Seconds since 1970, by this machine's clock, to a microsecond. */
  public static double now() {
    Instant now = Instant.now();
    return now.getEpochSecond() + now.getNano() * 1e-9;
  }

  /**
   * Length of a result, in bytes.
   *
   * @param entries
   *   doubles of its vector
   * @throws IllegalArgumentException
   *   unless entries is 0 to {@link #MAX_ENTRIES}
   */
  public static int length(int entries) {
    if (entries < 0 || entries > MAX_ENTRIES) {
      throw new IllegalArgumentException("A result holds 0 to " + MAX_ENTRIES + " entries, not " + entries);
    }
    return BYTES + 8 * entries;
  }

  /** A result of zeros with a vector of {@code entries} doubles; see {@link #length}. */
  public static byte[] allocate(int entries) {
    return new byte[length(entries)];
  }

  /** The number in a slot. */
  public static double get(byte[] result, int slot) {
    return wrap(result).getDouble(8 * slot);
  }

  /** Writes a number into a slot. */
  public static void put(byte[] result, int slot, double value) {
    wrap(result).putDouble(8 * slot, value);
  }

  /** The vector after the header, as a view. */
  public static DoubleBuffer vector(byte[] result) {
    return ByteBuffer.wrap(result, BYTES, result.length - BYTES).slice().order(ByteOrder.LITTLE_ENDIAN).asDoubleBuffer();
  }

  /** The doubles of a shared vector, which has no header, as a view. */
  public static DoubleBuffer doubles(byte[] shared) {
    return wrap(shared).asDoubleBuffer();
  }

  private static ByteBuffer wrap(byte[] bytes) {
    return ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
  }
}
