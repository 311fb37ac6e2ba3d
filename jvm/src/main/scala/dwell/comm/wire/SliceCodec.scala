package dwell.comm.wire

import java.nio.{ByteBuffer, LongBuffer}

import dwell.base.LittleEndian

/**
 * A slice of a vector as it travels: dense, or, where that is clearly shorter, sparse, which has only the entries that its
 * receiver cannot predict. What is decoded has the bits of what was encoded, whichever form it had.
 *
 * The receiver predicts from its own copy of a vector that the sender has as well: an entry is predicted to be that of the
 * shared vector times each of some factors in turn, rounded every time; without factors to have no bit set. Predictions may be
 * wrong, which only makes the slice longer.
 *
 * The dense form is the slice itself, so that it costs no copy. The sparse form is always shorter, which is what tells them
 * apart. It consists of words of 8 bytes, little endian: the number of factors; the factors, doubles; a bitmap with bit k of
 * word w set where entry 64 w + k is not as predicted, bit for bit; those entries, in their order.
 *
 * @param numbers
 *   what the entries hold
 */
private[comm] final class SliceCodec(numbers: Numbers) extends Serializable {
  import SliceCodec._

  /**
   * @param slice
   *   entries of 8 bytes; the answer may be the same buffer
   * @param shared
   *   of the same length; read only where there are factors
   */
  def encode(
      slice: ByteBuffer,
      factors: Array[Double] = Array.emptyDoubleArray,
      shared: => ByteBuffer = Empty): ByteBuffer = {
    val entries = slice.remaining() / 8
    val most = mostDifferent(entries, factors.length)
    if (most < 0) slice
    else {
      val values = longs(slice)
      val bitmap = new Array[Long](bitmapWords(entries))
      val different = compare(values, new Prediction(factors, shared, entries), bitmap, most)
      if (different > most) slice else sparse(values, factors, bitmap, different)
    }
  }

  /**
   * @param bytes
   *   encoded; the answer may be the same buffer
   * @param entries
   *   of the slice
   * @param shared
   *   as for [[encode]]
   * @throws IllegalArgumentException
   *   if these are not the bytes of such a slice
   */
  def decode(bytes: ByteBuffer, entries: Int, shared: => ByteBuffer = Empty): ByteBuffer =
    if (bytes.remaining() == 8L * entries) bytes
    else {
      val decoded = ByteBuffer.allocate(8 * entries)
      val words = longs(decoded)
      val sparse = new Sparse(bytes, entries, shared)
      inBlocks(entries)((start, size) => words.put(start, sparse.next(start, size), 0, size))
      decoded
    }

  /**
   * Adds a slice to a sum: the numbers are those that adding it decoded would give.
   *
   * @param bytes
   *   as for [[decode]]
   * @param sum
   *   as many entries as the slice has; only what they hold is changed
   * @param shared
   *   as for [[encode]]
   * @throws IllegalArgumentException
   *   as [[decode]]
   */
  def add(bytes: ByteBuffer, sum: ByteBuffer, shared: => ByteBuffer = Empty): Unit = {
    val entries = sum.remaining() / 8
    val adder = numbers.adder(sum, Block)
    if (bytes.remaining() == sum.remaining()) {
      val summands = longs(bytes)
      val summand = new Array[Long](Block)
      inBlocks(entries) { (start, size) =>
        summands.get(start, summand, 0, size)
        adder.add(start, size, summand)
      }
    } else {
      val sparse = new Sparse(bytes, entries, shared)
      inBlocks(entries)((start, size) => adder.add(start, size, sparse.next(start, size)))
    }
  }

  /**
   * Sets the bits of the entries that are not as predicted, and returns how many these are; any number above `most` if there
   * are more than that.
   */
  private def compare(values: LongBuffer, prediction: Prediction, bitmap: Array[Long], most: Int): Int = {
    val block = new Array[Long](Block)
    var different = 0
    var start = 0
    while (start < prediction.entries && different <= most) {
      val size = math.min(Block, prediction.entries - start)
      values.get(start, block, 0, size)
      val predicted = prediction.of(start, size)
      var k = 0
      while (k < size) {
        val bits = differences(block, predicted, k, math.min(k + 64, size))
        bitmap((start + k) / 64) = bits
        different += java.lang.Long.bitCount(bits)
        k += 64
      }
      start += size
    }
    different
  }

  private def sparse(values: LongBuffer, factors: Array[Double], bitmap: Array[Long], different: Int): ByteBuffer = {
    val encoded = ByteBuffer.allocate(8 * (1 + factors.length + bitmap.length + different))
    val words = longs(encoded)
    words.put(factors.length.toLong)
    factors.foreach(f => words.put(java.lang.Double.doubleToRawLongBits(f)))
    words.put(bitmap)
    val block = new Array[Long](Block)
    inBlocks(values.remaining()) { (start, size) =>
      values.get(start, block, 0, size)
      words.put(block, 0, chosen(block, size, bitmap, start / 64))
    }
    encoded
  }

  /** The sparse form of a slice, block by block. */
  private final class Sparse(bytes: ByteBuffer, entries: Int, shared: => ByteBuffer) {
    private def check(is: Boolean): Unit =
      require(is, s"${bytes.remaining()} bytes are neither the dense nor the sparse form of $entries entries")

    check(bytes.remaining() >= 8 && bytes.remaining() % 8 == 0 && bytes.remaining() < 8L * entries)
    private val words = longs(bytes)
    private val factors = words.get()
    check(factors >= 0 && factors <= words.remaining() - bitmapWords(entries))
    private val prediction =
      new Prediction(Array.fill(factors.toInt)(java.lang.Double.longBitsToDouble(words.get())), shared, entries)
    private val bitmap = new Array[Long](bitmapWords(entries))
    words.get(bitmap)
    check(bitmap.map(java.lang.Long.bitCount(_).toLong).sum == words.remaining())
    // The bits beyond the last entry.
    check(entries % 64 == 0 || (bitmap.last >>> (entries % 64)) == 0L)

    /** Of entries from `start` on, which is where the block before ended; the next call overwrites it. */
    def next(start: Int, size: Int): Array[Long] = {
      val block = prediction.of(start, size)
      var k = 0
      while (k < size) {
        overwrite(block, k, bitmap((start + k) / 64))
        k += 64
      }
      block
    }

    private def overwrite(block: Array[Long], from: Int, different: Long): Unit =
      if (different == -1L) words.get(block, from, 64)
      else {
        var bits = different
        while (bits != 0L) {
          block(from + java.lang.Long.numberOfTrailingZeros(bits)) = words.get()
          bits &= bits - 1
        }
      }
  }

  /** The bits that a receiver predicts. */
  private final class Prediction(factors: Array[Double], shared: => ByteBuffer, val entries: Int) {
    private val bits = new Array[Long](Block)
    private val products = if (factors.isEmpty) None else Some(numbers.products(checked(shared), factors, Block))

    private def checked(shared: ByteBuffer): ByteBuffer = {
      require(
        shared.remaining() == 8L * entries,
        s"the shared slice has ${shared.remaining() / 8} entries, but there are $entries")
      shared
    }

    /** Of entries from `start` on; the caller may change them, and the next call overwrites them. */
    def of(start: Int, size: Int): Array[Long] = {
      products match {
        case None => java.util.Arrays.fill(bits, 0L)
        case Some(p) => p.put(start, size, bits)
      }
      bits
    }
  }
}

private[comm] object SliceCodec {

  /** Entries that are looked at together: what is kept of them stays in the fastest cache. */
  private val Block = 512

  /**
   * So many entries may differ from their predictions in a slice that travels sparse: it then has half the bytes. A gigabyte
   * a second takes about as long for the other half as both ends take for this form.
   */
  def mostDifferent(entries: Int, factors: Int): Int = entries / 2 - (1 + factors + bitmapWords(entries))

  private def bitmapWords(entries: Int): Int = ((entries + 63L) / 64).toInt

  /** Bit k is set where entry `from + k` is different. Without a branch, which could not be foretold. */
  private def differences(values: Array[Long], predicted: Array[Long], from: Int, until: Int): Long = {
    var bits = 0L
    var k = from
    while (k < until) {
      val difference = values(k) ^ predicted(k)
      bits |= ((difference | -difference) >>> 63) << k
      k += 1
    }
    bits
  }

  /** Moves the entries whose bits are set to the front of the block; how many there are. Without a branch. */
  private def chosen(block: Array[Long], size: Int, bitmap: Array[Long], word: Int): Int = {
    var n = 0
    var k = 0
    while (k < size) {
      block(n) = block(k)
      n += ((bitmap(word + k / 64) >>> k) & 1L).toInt
      k += 1
    }
    n
  }

  /** First entry and size of block after block. */
  private def inBlocks(entries: Int)(work: (Int, Int) => Unit): Unit = {
    var start = 0
    while (start < entries) {
      val size = math.min(Block, entries - start)
      work(start, size)
      start += size
    }
  }

  private def Empty: ByteBuffer = ByteBuffer.allocate(0)

  private def longs(bytes: ByteBuffer): LongBuffer = LittleEndian.buffer(bytes).asLongBuffer()
}
