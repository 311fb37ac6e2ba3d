package dwell.comm.wire

import java.nio.{ByteBuffer, LongBuffer}

import dwell.base.LittleEndian

/**
 * Encodes slices of vectors to send them. A slice travels in dense form or, if that is clearly shorter, in sparse form,
 * which contains only the entries that the receiver cannot predict. Decoding gives the same bits from either form.
 *
 * Sender and receiver hold the same shared vector. The receiver predicts that entry j is shared(j) * f1 * f2 ...,
 * rounded after each product, for some factors f1, f2, ...; without factors it predicts that no bit is set. Wrong
 * predictions only make the slice longer.
 *
 * The dense form is the slice itself, so that it costs no copy. The sparse form is always shorter, and the receiver
 * tells them apart by the length. The sparse form consists of words of 8 bytes, little endian: the number of factors;
 * the factors, doubles; a bitmap with bit k of word w set if entry 64 w + k differs from its prediction in any bit;
 * those entries, in their order.
 *
 * @param numbers
 *   the numbers in the entries
 */
private[comm] final class SliceCodec(numbers: Numbers) extends Serializable {
  import SliceCodec._

  /**
   * Encodes a slice, which may be returned itself.
   *
   * @param slice
   *   entries of 8 bytes each
   * @param shared
   *   the same slice of the shared vector; read only if there are factors
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
      val different = compare(values, new PredictedBits(factors, shared, entries), bitmap, most)
      if (different > most) slice else sparse(values, factors, bitmap, different)
    }
  }

  /**
   * Decodes a slice.
   *
   * @param bytes
   *   the encoded slice, which may be returned itself
   * @param entries
   *   number of entries of the slice
   * @param shared
   *   as for [[encode]]
   * @throws IllegalArgumentException
   *   if the bytes do not encode a slice of this length
   */
  def decode(bytes: ByteBuffer, entries: Int, shared: => ByteBuffer = Empty): ByteBuffer =
    if (bytes.remaining() == 8L * entries) bytes
    else {
      val decoded = ByteBuffer.allocate(8 * entries)
      val words = longs(decoded)
      val sparse = new Sparse(bytes, entries, shared)
      inBlocks(entries)((start, size) => words.duplicate().position(start).put(sparse.next(start, size), 0, size))
      decoded
    }

  /**
   * Adds an encoded slice to a sum, with the same result as adding the decoded slice.
   *
   * @param bytes
   *   as for [[decode]]
   * @param sum
   *   as many entries as the slice has; only the bytes of these entries change
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
        summands.duplicate().position(start).get(summand, 0, size)
        adder.add(start, size, summand)
      }
    } else {
      val sparse = new Sparse(bytes, entries, shared)
      inBlocks(entries)((start, size) => adder.add(start, size, sparse.next(start, size)))
    }
  }

  /**
   * Sets the bits of the entries that differ from their predictions, and returns their number. If that exceeds `most`,
   * the result is some number above `most`.
   */
  private def compare(values: LongBuffer, prediction: PredictedBits, bitmap: Array[Long], most: Int): Int = {
    val block = new Array[Long](Block)
    var different = 0
    var start = 0
    while (start < prediction.entries && different <= most) {
      val size = math.min(Block, prediction.entries - start)
      values.duplicate().position(start).get(block, 0, size)
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
      values.duplicate().position(start).get(block, 0, size)
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
      new PredictedBits(Array.fill(factors.toInt)(java.lang.Double.longBitsToDouble(words.get())), shared, entries)
    private val bitmap = new Array[Long](bitmapWords(entries))
    words.get(bitmap)
    check(bitmap.map(java.lang.Long.bitCount(_).toLong).sum == words.remaining())
    // Bits beyond the last entry must be 0.
    check(entries % 64 == 0 || (bitmap.last >>> (entries % 64)) == 0L)

    /** The entries from `start` on. Blocks must be read in order. The next call overwrites the array. */
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
  private final class PredictedBits(factors: Array[Double], shared: => ByteBuffer, val entries: Int) {
    private val bits = new Array[Long](Block)
    private val products = if (factors.isEmpty) None else Some(numbers.products(checked(shared), factors, Block))

    private def checked(shared: ByteBuffer): ByteBuffer = {
      require(
        shared.remaining() == 8L * entries,
        s"the shared slice has ${shared.remaining() / 8} entries, but there are $entries")
      shared
    }

    /** The bits of entries from `start` on. The caller may change the array; the next call overwrites it. */
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

  /** Entries in a block. The arrays for one block fit into the fastest cache. */
  private val Block = 512

  /**
   * The largest number of entries that may differ from their predictions in the sparse form: it then has half the
   * bytes. At a gigabyte a second, sending the other half takes about as long as both ends spend on the sparse form.
   */
  def mostDifferent(entries: Int, factors: Int): Int = entries / 2 - (1 + factors + bitmapWords(entries))

  private def bitmapWords(entries: Int): Int = ((entries + 63L) / 64).toInt

  /** Bit k is set if entry `from + k` differs. No branch, since the processor could not predict it. */
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

  /** Moves the entries whose bits are set to the front of the block, without a branch, and returns their number. */
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

  /** Calls `work` with the first entry and the size of each block, in order. */
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
