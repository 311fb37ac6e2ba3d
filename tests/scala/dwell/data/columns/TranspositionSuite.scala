package dwell.data.columns

import scala.util.Random

import dwell.LimitedSuite
import dwell.base.SliceBounds
import dwell.data.{Forms, TestData}
import dwell.data.TestData.{row, Values}
import dwell.data.block.LabeledRow
import dwell.data.matrix.{DenseBlock, MatrixBlock, PartitionForm}

/** Columns of partitions, dense and sparse, from blocks of rows in place and cut by columns. */
class TranspositionSuite extends LimitedSuite {

  private val forms = Seq(Some(false), Some(true), None)
  private val mixed = Seq((0, 0.1), (3, 0.02), (9, 0.9), (4, 0.5)).map { case (dense, share) =>
    Forms.rows(dense, 40, 9, dense, share)
  }

  /** The nonzeros of a column, with its mean and variance. */
  private type Content = (Seq[(Int, Double)], Double, Double)

  private def content(p: ColumnPartition): Map[Int, Content] = p.columns.indices.map { i =>
    assert(p.deviation(i) == math.sqrt(p.variance(i)))
    p.columns(i) -> ((TestData.stored(p, i).filter(_._2 != 0.0), p.mean(i), p.variance(i)))
  }.toMap

  /** The same of all columns that are not constant, by definition. */
  private def expected(rows: Seq[LabeledRow]): Map[Int, Content] = {
    val total = rows.map(_.weight).sum
    val varying = rows.head.features.toArray.indices.filter(i => rows.map(_.features(i)).distinct.size > 1)
    varying.map { i =>
      val values = rows.map(row => (row.weight, row.features(i)))
      val mean = values.map { case (s, x) => s * x }.sum / total
      val variance = values.map { case (s, x) => s * ((x - mean) * (x - mean)) }.sum / total
      i -> ((values.map(_._2).zipWithIndex.map(_.swap).filter(_._2 != 0.0), mean, variance))
    }.toMap
  }

  private def close(a: Double, b: Double): Boolean = math.abs(a - b) <= 1e-13 * math.max(1.0, math.abs(b))

  private def check(blocks: Seq[Seq[LabeledRow]], numPartitions: Int): Unit = {
    val rows = blocks.flatten.filter(_.weight > 0.0)
    val slices = SliceBounds(rows.size, numPartitions)
    val columns = expected(rows)
    for (isDense <- forms; projected <- Seq(true, numPartitions > 1).distinct) {
      val partitions = TestData.partitions(blocks, numPartitions, isDense, Some(projected))
      val found = partitions.flatMap(content).toMap
      assert(found.keySet == columns.keySet && partitions.map(_.numColumns).sum == columns.size)
      found.foreach { case (i, (nonzeros, mean, variance)) =>
        assert(nonzeros == columns(i)._1 && close(mean, columns(i)._2) && close(variance, columns(i)._3), s"column $i")
      }
      partitions.foreach { p =>
        assert(p.rows == rows.size && isDense.forall(_ == p.isDense))
        assert(p.labels.toSeq == rows.slice(slices.start(p.index), slices.start(p.index + 1)).map(_.label))
        assert(Option(p.weights).map(_.toSeq) == Option(TestData.weights(rows)).map(_.toSeq))
        val lengths = p.columns.indices.map(i => p.offsets(i + 1) - p.offsets(i))
        assert(p.columns.indices.sortBy(i => (math.min(lengths(i), 9), p.columns(i))) == p.columns.indices)
        val values = Array.tabulate(p.nonzeros)(p.value)
        assert((p.values64 != null) == values.exists(v => v.toFloat.toDouble != v))
        assert((p.values32 == null && p.values64 == null) == (!p.isDense && values.forall(_ == 1.0)))
      }
    }
  }

  test("columns equal the rows that were read, in blocks of mixed forms") {
    for (blocks <- mixed; numPartitions <- 1 to 5) check(blocks, numPartitions)
  }

  test("columns equal random rows, of any form, width, density and weights, in blocks of any size") {
    for (seed <- 0 until 60) {
      val random = new Random(seed)
      val numColumns = 1 + random.nextInt(20)
      val blocks = Seq.tabulate(1 + random.nextInt(5)) { b =>
        TestData.random(
          100 * seed + b,
          if (b > 0 && random.nextInt(4) == 0) 0 else 2 + random.nextInt(40),
          numColumns,
          random.nextDouble(),
          Seq[Values](Values.Ones, Values.Singles, Values.Doubles)(random.nextInt(3)),
          weighted = random.nextBoolean(),
          dense = random.nextBoolean())
      }
      check(blocks, 1 + seed % 5)
    }
  }

  test("a partition is dense where that is smaller, and has a value for each row") {
    val chosen = for (blocks <- mixed; numPartitions <- Seq(1, 2, 4)) yield {
      val Seq(sparse, _, smallest) = forms.map(TestData.partitions(blocks, numPartitions, _))
      smallest.zip(sparse).map { case (p, s) =>
        assert(p.bytes <= s.bytes && p.isDense == (p.bytes < s.bytes))
        if (p.isDense) {
          assert(p.offsets.sameElements(Array.tabulate(p.numColumns + 1)(_ * p.rows)))
          assert(p.nonzeros == p.numColumns * p.rows && (p.values32 == null) != (p.values64 == null))
          assert(p.columns.sameElements(p.columns.sorted), "columns of one length come in their order")
        }
        p.isDense
      }
    }
    assert(chosen.flatten.distinct.size == 2)
  }

  test("blocks are cut by columns in their form, as narrow as the partition, with the labels of its slice") {
    val blocks = TestData.read(Forms.rows(5, 60, 9, 2, 0.02))
    assert(blocks.map(_.matrix.isDense) == Seq(true, false, true))
    // Columns 0 and 1 are dense throughout.
    val partitionOf = Array.tabulate(9)(i => if (i == 8) -1 else if (i < 2) 0 else 1)
    val slices = SliceBounds(180, 2)
    val projection = new Projection(slices, partitionOf, Array[Byte](1, 2))
    val cut = blocks.zipWithIndex.map { case (block, b) => projection(block, 60 * b).map(_._2).toSeq }
    cut.zipWithIndex.foreach { case (parts, b) =>
      assert(parts.forall(p => p.firstRow == 60 * b && p.matrix.rows == 60 && p.matrix.isDense == (b != 1)))
      assert(parts.forall(_.weights.length == 60) && parts.head.matrix.nonzeros == 120)
      assert(parts.head.matrix.values.values32.length == 120, "narrower than the block, whose column 2 has doubles")
    }
    assert(cut.map(_.map(_.labels.length)).transpose.map(_.sum) == Seq(slices.size(0), slices.size(1)))
    def nonzeros(block: MatrixBlock) = (0 until block.rows).map { j =>
      val found = Seq.newBuilder[(Int, Double)]
      block.eachNonzero(j)((column, value) => found += column -> value)
      found.result()
    }
    blocks.zip(cut).foreach { case (block, parts) =>
      val all = nonzeros(block.matrix)
      assert(nonzeros(parts.head.matrix) == all.map(_.filter(_._1 < 2)))
      assert(nonzeros(parts(1).matrix) == all.map(_.collect { case (i, x) if i >= 2 && i < 8 => (i - 2, x) }))
      parts.map(_.matrix).zip(Seq(2, 6)).foreach {
        case (dense: DenseBlock, columns) => assert(dense.columns == columns)
        case _ =>
      }
    }
  }

  test("a transposition allocates the partition and hardly more") {
    val (numRows, numColumns) = (5000, 30)
    def check(density: Double, dense: Boolean): Unit = {
      val blocks = Seq.tabulate(4)(b => TestData.random(b, numRows / 4, numColumns, density, dense = dense))
      // Loads all classes.
      val partition = TestData.partitions(blocks, 1).head
      assert(partition.isDense == dense)
      val read = TestData.read(blocks)
      val facts = TestData.facts(read, numColumns)
      val partitionOf = Array.tabulate(numColumns)(i => if (facts.counts(i) == 0) -1 else 0)
      val slices = SliceBounds(numRows, 1)
      val own = read.zipWithIndex.map { case (b, i) => ColumnBlock.of(b, i * numRows / 4, b.matrix, slices, 0) }
      val bytes = Forms.allocated {
        val all =
          new Transposition(0, slices, partitionOf, facts, PartitionForm(dense, facts.widths.max), projected = false)
        own.foreach(all.add)
        all.result
      }
      assert(bytes < partition.bytes + 200000L, s"$bytes bytes for a partition of ${partition.bytes}")
    }
    check(1.0, dense = true)
    check(0.2, dense = false)
  }

  test("a column whose variance is lost to underflow is left out of either form") {
    val blocks = Seq(Seq(row(0, 1e-170, 1.0, 3.0), row(1, -1e-170, 2.0, 5.0)), Seq(row(1, 1e-170, 4.0, 1.0)))
    for (isDense <- forms) {
      val p = TestData.partitions(blocks, 1, isDense).head
      assert(p.columns.sameElements(Array(1, 2)) && p.isDense == !isDense.contains(false))
      assert(p.values32.sameElements(Array(1f, 2f, 4f, 3f, 5f, 1f)) && p.values64 == null, "as narrow as what is left")
      assert(p.offsets.sameElements(Array(0, 3, 6)) && close(p.mean(0), 7.0 / 3.0) && p.deviation.length == 2)
    }
  }
}
