package dwell.comm

import java.lang.Double.{doubleToLongBits, doubleToRawLongBits, longBitsToDouble}
import java.nio.{ByteBuffer, ByteOrder}

import scala.util.Random

import dwell.LimitedSuite
import dwell.base.LittleEndian
import dwell.comm.wire.{Numbers, SliceCodec}

/** Slices of vectors as they travel between the members of a gang. */
class SliceCodecSuite extends LimitedSuite {

  private val codec = new SliceCodec(Numbers.Doubles)

  private def buffer(vector: Array[Double]): ByteBuffer = ByteBuffer.wrap(LittleEndian.bytes(vector))

  private def bits(bytes: ByteBuffer): Seq[Long] = {
    val vector = new Array[Byte](bytes.remaining())
    bytes.duplicate().get(vector)
    LittleEndian.doubles(vector).toSeq.map(doubleToRawLongBits)
  }

  /** Numbers, some with bits that arithmetic or a comparison would not keep. */
  private val Odd = Seq(
    0.0,
    -0.0,
    Double.NaN,
    longBitsToDouble(0x7ff8000000000123L),
    longBitsToDouble(0xfff4000000000001L),
    Double.MinPositiveValue,
    -Double.MinPositiveValue,
    longBitsToDouble(0x000fffffffffffffL),
    Double.PositiveInfinity,
    Double.NegativeInfinity,
    Double.MaxValue)

  private def number(random: Random): Double =
    if (random.nextInt(4) == 0) Odd(random.nextInt(Odd.size)) else random.nextGaussian()

  private def predicted(shared: Array[Double], factors: Array[Double]): Array[Double] =
    if (factors.isEmpty) new Array[Double](shared.length) else shared.map(x => factors.foldLeft(x)(_ * _))

  private val Lengths = Seq(0, 1, 2, 7, 63, 64, 65, 127, 128, 511, 512, 513, 1000, 1024, 1025, 4099)

  test("what is decoded has the bits of what was encoded, and takes half the bytes or less, or all of them") {
    val random = new Random(1)
    var sparse = 0
    for {
      length <- Lengths
      factors <- Seq(Array.empty[Double], Array(0.3), Array(1e-5, 0.7, 1.0, 0.1), Array.fill(24)(0.9))
      share <- Seq(0.0, 0.01, 0.2, 0.45, 0.5, 0.9, 1.0)
    } {
      val shared = Array.fill(length)(number(random))
      val vector = predicted(shared, factors).map(x => if (random.nextDouble() < share) number(random) else x)
      val encoded = codec.encode(buffer(vector), factors, buffer(shared))
      val about = s"length $length, ${factors.length} factors, $share different"
      assert(bits(codec.decode(encoded, length, buffer(shared))) == bits(buffer(vector)), about)
      val summands = Array.fill(length)(random.nextGaussian())
      val expected = summands.indices.map(j => doubleToLongBits(summands(j) + vector(j)))
      val sum = buffer(summands)
      codec.add(encoded, sum, buffer(shared))
      assert(LittleEndian.doubles(sum.array).toSeq.map(doubleToLongBits) == expected, about)
      assert(encoded.remaining() == 8 * length || 2 * encoded.remaining() <= 8 * length, about)
      if (encoded.remaining() < 8 * length) sparse += 1
      else assert(share > 0.2 || length < 128, about)
    }
    assert(sparse > 150)
  }

  test("floats: predicted and added as such, two in an entry, with the same bits") {
    val floats = new SliceCodec(Numbers.Floats)
    val random = new Random(5)
    def floatBuffer(vector: Array[Float]): ByteBuffer = {
      val bytes = ByteBuffer.allocate(4 * vector.length).order(ByteOrder.LITTLE_ENDIAN)
      bytes.asFloatBuffer().put(vector)
      bytes
    }
    var sparse = 0
    for {
      length <- Lengths
      factors <- Seq(Array.empty[Double], Array(0.3), Array(1e-5, 0.7, 1.0, 0.1).map(_.toFloat.toDouble))
      share <- Seq(0.0, 0.1, 1.0)
    } {
      // After the factors, some of them are subnormal or 0.
      val shared = Array.fill(2 * length)((number(random) * math.pow(10.0, random.nextInt(45) - 40.0)).toFloat)
      val vector =
        if (factors.isEmpty) new Array[Float](2 * length)
        else shared.map(x => factors.foldLeft(x)((y, factor) => y * factor.toFloat))
      // Changes one number of an entry, or both.
      vector.indices.filter(_ => random.nextDouble() < share).foreach(vector(_) = random.nextGaussian().toFloat)
      val encoded = floats.encode(floatBuffer(vector), factors, floatBuffer(shared))
      val about = s"length $length, ${factors.length} factors, $share different"
      assert(bits(floats.decode(encoded, length, floatBuffer(shared))) == bits(floatBuffer(vector)), about)
      val summands = Array.fill(2 * length)(random.nextGaussian().toFloat)
      val sum = floatBuffer(summands)
      floats.add(encoded, sum, floatBuffer(shared))
      val expected = summands.indices.map(j => (summands(j) + vector(j)).toDouble)
      assert(Numbers.Floats.values(sum.array).toSeq.map(doubleToLongBits) == expected.map(doubleToLongBits), about)
      if (encoded.remaining() < 8 * length) sparse += 1
    }
    assert(sparse > 60)
  }

  test("runs of entries that are not as predicted, wherever they begin, among others that are") {
    val random = new Random(4)
    for (start <- Seq(0, 1, 63, 64, 65, 500, 511, 512, 600); factors <- Seq(Array.empty[Double], Array(0.3, 0.7))) {
      val length = 1500
      val Seq(shared, others) = Seq.fill(2)(Array.fill(length)(random.nextGaussian()))
      val vector = predicted(shared, factors)
      Array.copy(others, start, vector, start, 300)
      val encoded = codec.encode(buffer(vector), factors, buffer(shared))
      assert(encoded.remaining() == 8 * (1 + factors.length + 24 + 300))
      assert(bits(codec.decode(encoded, length, buffer(shared))) == bits(buffer(vector)), s"from $start on")
      val sum = buffer(Array.fill(length)(1.0))
      codec.add(encoded, sum, buffer(shared))
      assert(LittleEndian.doubles(sum.array).toSeq == vector.map(_ + 1.0).toSeq, s"from $start on")
    }
  }

  test("a slice inside of a larger buffer, of a shared vector inside of a larger one") {
    val random = new Random(2)
    val Seq(shared, vector) = Seq.fill(2)(Array.fill(300)(random.nextGaussian()))
    for (j <- 100 until 290) vector(j) = shared(j) * 0.5
    def inside(v: Array[Double]) = ByteBuffer.wrap(LittleEndian.bytes(v), 8 * 97, 8 * 200)
    val encoded = codec.encode(inside(vector), Array(0.5), inside(shared))
    assert(encoded.remaining() == 8 * (1 + 1 + 4 + 10))
    val larger = ByteBuffer.allocate(24 + encoded.remaining() + 8).position(24)
    larger.put(encoded.duplicate()).position(24).limit(24 + encoded.remaining())
    assert(bits(codec.decode(larger, 200, inside(shared))) == bits(inside(vector)))
  }

  test("the form is decided by the number of entries that are not as predicted, at exactly half the bytes") {
    for (length <- Seq(64, 100, 1000, 2049); factors <- Seq(Array.empty[Double], Array(0.5, 0.25))) {
      val shared = Array.tabulate(length)(_ + 1.0)
      val most = SliceCodec.mostDifferent(length, factors.length)
      def encoded(different: Int): ByteBuffer = {
        val vector = predicted(shared, factors)
        new Random(3).shuffle(vector.indices.toList).take(different).foreach(vector(_) = -7.0)
        codec.encode(buffer(vector), factors, buffer(shared))
      }
      assert(encoded(most).remaining() == 8 * (length / 2))
      assert(encoded(most + 1).remaining() == 8 * length)
      assert(encoded(0).remaining() == 8 * (1 + factors.length + (length + 63) / 64))
    }
  }

  test("zeros of the other sign are different, and so are numbers of other NaNs") {
    val vector = Array.fill(256)(0.0)
    vector(3) = -0.0
    vector(200) = Double.NaN
    val encoded = codec.encode(buffer(vector))
    assert(encoded.remaining() == 8 * (1 + 4 + 2))
    assert(bits(codec.decode(encoded, 256)) == bits(buffer(vector)))
  }

  test("bytes that are no slice of so many entries are refused") {
    val vector = Array.fill(100)(0.0)
    Seq(2, 50, 99).foreach(vector(_) = 1.0)
    val good = codec.encode(buffer(vector))
    assert(good.remaining() == 8 * (1 + 2 + 3))
    def refused(bytes: ByteBuffer, entries: Int): Unit = {
      val shared = buffer(new Array[Double](entries))
      Seq[() => Any](
        () => codec.decode(bytes, entries, shared),
        () => codec.add(bytes, ByteBuffer.allocate(8 * entries), shared)).foreach { read =>
        val e = intercept[IllegalArgumentException](read())
        assert(
          e.getMessage.contains(
            s"${bytes.remaining()} bytes are neither the dense nor the sparse form of $entries entries"))
      }
    }
    def changed(word: Int, value: Long): ByteBuffer = {
      val copy = ByteBuffer.allocate(good.remaining()).put(good.duplicate()).flip()
      copy.putLong(8 * word, java.lang.Long.reverseBytes(value))
    }
    refused(ByteBuffer.allocate(0), 100)
    refused(good.duplicate().limit(7), 100)
    refused(good.duplicate().limit(8), 100)
    refused(good.duplicate().limit(8 * 5), 100)
    refused(good.duplicate().limit(8 * 5 + 1), 100)
    refused(good, 5)
    refused(good, 200)
    refused(good, 99)
    Seq(-1L, 1L, 3L, 5L, Long.MaxValue).foreach(factors => refused(changed(0, factors), 100))
    refused(changed(1, -1L), 100)
    refused(changed(2, 1L << 40), 100)
    refused(ByteBuffer.allocate(8 * 101), 100)
    val factors = Array(0.5)
    val predicted = codec.encode(buffer(vector), factors, buffer(new Array[Double](100)))
    val e = intercept[IllegalArgumentException](codec.decode(predicted, 100, buffer(new Array[Double](99))))
    assert(e.getMessage.contains("the shared slice has 99 entries, but there are 100"))
  }
}
