package dwell.bulk

import java.io._

import org.apache.spark.SparkEnv

import dwell.SparkSuite
import dwell.spark.Shuffle

/** Arrays in bulk: in streams of bytes, in Java's streams of objects, and in shuffles. */
class BulkSuite extends SparkSuite {
  import BulkSuite._

  /** No value, one, as many as fit into the buffer and one more or less, and many. */
  private val lengths = Seq(0, 1, 4095, 4096, 4097, 8191, 8192, 8193, 100000)

  private def written(write: BulkOutput => Unit): Array[Byte] = {
    val bytes = new ByteArrayOutputStream()
    write(new BulkOutput(new DataOutputStream(bytes)))
    bytes.toByteArray
  }

  private def reading(bytes: Array[Byte]): BulkInput = new BulkInput(
    new DataInputStream(new ByteArrayInputStream(bytes)))

  test("arrays of any length come back, and absent ones too") {
    for (length <- lengths) {
      val sample =
        Sample(7, Array.tabulate(length)(_ * 31 - 5), Array.tabulate(length)(_ / 3f), Array.tabulate(length)(1.0 / _))
      assert(same(Sample.read(reading(written(Sample.write(sample, _)))), sample))
    }
    val absent = Sample(Int.MinValue, null, null, null)
    assert(same(Sample.read(reading(written(Sample.write(absent, _)))), absent))
  }

  test("numbers and texts come back") {
    val texts = Seq(null, "", "no zeros\n\u00e9 \ud83d\ude00")
    val in = reading(written { out =>
      out.long(Long.MinValue + 5L)
      texts.foreach(out.text)
      out.int(-3)
    })
    assert(in.long() == Long.MinValue + 5L && texts.map(_ => in.text()) == texts && in.int() == -3)
    intercept[EOFException](in.int())
  }

  test("an array of millions comes back, and a length that the stream does not hold ends it without room for it") {
    for (length <- Seq((1 << 20) + 1, (1 << 23) + 12345)) {
      val array = Array.tabulate(length)(_ * 7)
      assert(java.util.Arrays.equals(reading(written(_.array(array))).intArray(), array))
    }
    // The heap of the tests has no room for so many doubles.
    intercept[EOFException](reading(written { out =>
      out.int(Int.MaxValue - 8)
      out.long(1L)
    }).doubleArray())
  }

  test("the lowest byte comes first, and the bits of a NaN stay") {
    assert(written(_.array(Array(258))).toSeq == Seq[Byte](1, 0, 0, 0, 2, 1, 0, 0))
    val nan = java.lang.Double.longBitsToDouble(0x7ff8000000001234L)
    val back = reading(written(_.array(Array(nan, -0.0)))).doubleArray()
    assert(back.map(java.lang.Double.doubleToRawLongBits).toSeq == Seq(0x7ff8000000001234L, Long.MinValue))
  }

  test("Java's serialiser writes a bulk object in its format") {
    val sample = Sample(1, Array.range(0, 50000), null, Array.tabulate(50000)(math.sqrt(_)))
    val bytes = new ByteArrayOutputStream()
    val out = new ObjectOutputStream(bytes)
    out.writeObject(Seq(sample, sample))
    out.close()
    assert(bytes.size < 1.01 * (12 * 50000), "the object is written once, and its numbers in 4 and 8 bytes")
    val in = new ObjectInputStream(new ByteArrayInputStream(bytes.toByteArray))
    val back = in.readObject().asInstanceOf[Seq[Sample]]
    assert(same(back.head, sample) && (back.head eq back(1)))
  }

  test("a shuffle in bulk brings every piece to its partition") {
    // Spark writes the files of more than 200 partitions in another way.
    for (numPartitions <- Seq(3, 300)) {
      val pieces = sc.parallelize(0 until 5, 5).flatMap { i =>
        (0 until numPartitions).map(k => (k, Sample(i, Array.fill(1000 + i)(k), null, Array(i.toDouble))))
      }
      val arrived = BulkShuffle
        .byIndex(pieces, numPartitions, Sample)
        .mapPartitionsWithIndex((k, it) => Iterator.single((k, it.toSeq.sortBy(_.number))))
      Shuffle.once(arrived)(arrived.collect()).foreach { case (k, pieces) =>
        assert(pieces.size == 5)
        pieces.zipWithIndex.foreach { case (piece, i) =>
          assert(same(piece, Sample(i, Array.fill(1000 + i)(k), null, Array(i.toDouble))))
        }
      }
    }
  }

  test("a shuffle in order brings the pieces in the order of their places, also from disk") {
    val pieces = sc.parallelize(0 until 40, 5).flatMap { i =>
      (0 until 3).map(k => (k, Sample((i * 17) % 40, Array.fill(1000 + i)(k), null, null)))
    }
    val conf = SparkEnv.get.conf
    for (inMemory <- Seq(Int.MaxValue, 7)) {
      conf.set(BulkSuite.MostInMemory, inMemory.toString)
      try {
        val arrived = BulkShuffle
          .inOrder(pieces, 3, Sample)(_.number)
          .mapPartitionsWithIndex((k, it) => it.map(piece => (k, piece.number, piece.ints.head)))
        val found = Shuffle.once(arrived)(arrived.collect()).toSeq
        assert(found == (for (k <- 0 until 3; number <- 0 until 40) yield (k, number, k)))
      } finally conf.remove(BulkSuite.MostInMemory)
    }
  }
}

object BulkSuite {

  /** Spark's key for the number of pieces that it sorts in memory. */
  private val MostInMemory = "spark.shuffle.spill.numElementsForceSpillThreshold"

  private final case class Sample(number: Int, ints: Array[Int], floats: Array[Float], doubles: Array[Double])
      extends Bulk[Sample] {
    override protected def format: BulkFormat[Sample] = Sample
  }

  private object Sample extends BulkFormat[Sample] {
    override def write(value: Sample, out: BulkOutput): Unit = {
      out.int(value.number)
      out.array(value.ints)
      out.array(value.floats)
      out.array(value.doubles)
    }

    override def read(in: BulkInput): Sample = new Sample(in.int(), in.intArray(), in.floatArray(), in.doubleArray())
  }

  private def same(a: Sample, b: Sample): Boolean =
    a.number == b.number && java.util.Arrays.equals(a.ints, b.ints) && java.util.Arrays.equals(a.floats, b.floats) &&
      java.util.Arrays.equals(a.doubles, b.doubles)
}
