package dwell.data.columns

import scala.util.Random

import org.apache.spark.ml.linalg.Vectors

import dwell.LimitedSuite
import dwell.base.SliceBounds
import dwell.data.{Forms, TestData}
import dwell.data.TestData.row
import dwell.data.block.{ColumnNames, LabeledRow, RowBlockBuilder}
import dwell.data.matrix.{DenseBlock, MatrixBlock, PartitionForm, SparseBlock}
import dwell.data.matrix.PartitionForm.Choice

/** Pieces of columns, dense and sparse, and the partitions that they become. */
class ColumnMergeSuite extends LimitedSuite {

  /** Each column with its nonzeros and moments, bit by bit. */
  private def content(p: ColumnPartition): Map[Int, Seq[Any]] = p.columns.indices.map { i =>
    val nonzeros = TestData.stored(p, i).filter(_._2 != 0.0)
    p.columns(i) -> Seq[Any](nonzeros, p.mean(i), p.variance(i), p.deviation(i))
  }.toMap

  private def read(blocks: Seq[Seq[LabeledRow]]): Seq[MatrixBlock] = blocks.zipWithIndex.map { case (rows, index) =>
    RowBlockBuilder.read(index, rows.head.features.size, rows.iterator.map(_.toInternal), ColumnNames()).next().matrix
  }

  private val cases = for {
    (dense, share) <- Seq((0, 0.1), (3, 0.02), (9, 0.9), (4, 0.5))
    numPartitions <- Seq(1, 2, 4)
  } yield (Forms.rows(dense, 40, 9, dense, share), numPartitions)

  test("partitions have the same columns in either form, from pieces of any size in any order") {
    val random = new Random(3)
    for ((blocks, numPartitions) <- cases) {
      val expected = TestData.partitions(blocks, numPartitions, Choice.Sparse)
      for (choice <- Seq(Choice.Sparse, Choice.Smallest); valuesAtATime <- Seq(1, 50, 100000)) {
        val merged =
          TestData.partitions(blocks, numPartitions, choice, valuesAtATime, pieces => random.shuffle(pieces))
        for ((p, sparse) <- merged.zip(expected)) assert(content(p) == content(sparse), s"$choice, $valuesAtATime")
        merged.zip(expected).foreach { case (p, sparse) =>
          assert((p.values32 == null) == (sparse.values32 == null) && p.rows == 120)
          val ascend = (0 until p.numColumns).forall { i =>
            val rows = if (p.isDense) Nil else (p.offsets(i) until p.offsets(i + 1)).map(p.indices(_))
            rows == rows.sorted.distinct
          }
          assert(ascend)
        }
      }
    }
  }

  test("the columns equal the rows that were read") {
    for ((blocks, numPartitions) <- cases; choice <- Seq(Choice.Sparse, Choice.Smallest)) {
      val rows = blocks.flatten
      TestData.partitions(blocks, numPartitions, choice, valuesAtATime = 64).flatMap(content).foreach {
        case (column, nonzeros :: _) =>
          assert(nonzeros == rows.map(_.features(column)).zipWithIndex.map(_.swap).filter(_._2 != 0.0))
        case other => fail(other.toString)
      }
    }
  }

  test("a partition is dense where that is smaller, and has a value for each row") {
    val forms = for ((blocks, numPartitions) <- cases) yield {
      val (smallest, sparse) =
        (
          TestData.partitions(blocks, numPartitions, Choice.Smallest),
          TestData.partitions(blocks, numPartitions, Choice.Sparse))
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
    assert(forms.flatten.distinct.size == 2)
  }

  test("blocks are cut into pieces of both forms, a few rows at a time") {
    val blocks = read(Forms.rows(5, 60, 9, 2, 0.02))
    assert(
      blocks.map { case _: DenseBlock => "dense"; case _: SparseBlock => "sparse" } == Seq("dense", "sparse", "dense"))
    // Columns 0 and 1 are dense throughout.
    val partitionOf = Array.tabulate(9)(i => if (i == 8) -1 else if (i < 2) 0 else 1)
    def pieces(block: MatrixBlock) = ColumnCut(block, 1000, partitionOf, Array[Byte](1, 2), valuesAtATime = 90).toSeq
    def isDense(pieces: Seq[(Int, ColumnPiece)], k: Int) =
      pieces.collect { case (`k`, piece) => piece.isInstanceOf[DenseColumnPiece] }.distinct
    val Seq(full, few, _) = blocks.map(pieces)
    assert(full.count(_._1 == 0) == 6 && isDense(full, 0) == Seq(true) && isDense(full, 1) == Seq(true))
    assert(isDense(few, 0) == Seq(true) && isDense(few, 1) == Seq(false))
    full.collect { case (0, piece: DenseColumnPiece) => piece }.zipWithIndex.foreach { case (piece, i) =>
      assert(piece.firstRow == 1000 + 10 * i && piece.rows == 10 && piece.columns.sameElements(Array(0, 1)))
      assert(piece.values.values32.length == 20, "narrower than the block, whose column 2 has doubles")
    }
    few.collect { case (1, piece: SparseColumnPiece) => piece }.foreach { piece =>
      assert(piece.counts.forall(_ > 0) && piece.rows.length == piece.counts.sum)
    }
  }

  test("merging allocates the partition and hardly more") {
    val (numRows, numColumns) = (5000, 30)
    def check(density: Double, choice: Choice, dense: Boolean): Unit = {
      val blocks = Seq.tabulate(4)(b => TestData.random(b, numRows / 4, numColumns, density, dense = dense))
      // Loads all classes.
      val partition = TestData.partitions(blocks, 1, choice).head
      assert(partition.isDense == (choice == Choice.Smallest))
      val matrices = read(blocks)
      val (counts, widths) = TestData.columnCounts(matrices, numColumns)
      val partitionOf = Array.tabulate(numColumns)(i => if (i == 0 || counts(i) == 0) -1 else 0)
      val form = PartitionForm(partition.isDense, widths.max)
      val pieces =
        matrices.zipWithIndex.flatMap { case (m, b) =>
          ColumnCut(m, b * numRows / 4, partitionOf, Array(widths.max), 1000)
        }
      // The last piece comes first, so that sparse columns have to be sorted.
      val inReverse = pieces.map(_._2).reverse
      val bytes = Forms.allocated {
        val merge = new ColumnMerge(0, SliceBounds(numRows, 1), partitionOf, counts, form)
        inReverse.foreach(merge.add)
        merge.result(Array.empty, numRows.toDouble, ColumnNames())
      }
      // Sorting takes 8 bytes for each nonzero of a column, and a copy of its values. Both are garbage at once.
      val sorted = if (choice == Choice.Sparse) 16L * partition.nonzeros else 0L
      assert(bytes < partition.bytes + sorted + 200000L, s"$bytes bytes for a partition of ${partition.bytes}")
    }
    check(1.0, Choice.Smallest, dense = true)
    check(0.2, Choice.Sparse, dense = false)
  }

  test("a column whose variance is lost to underflow is left out of either form") {
    val blocks = Seq(Seq(row(0, 1e-170, 1.0, 3.0), row(1, -1e-170, 2.0, 5.0)), Seq(row(1, 1e-170, 4.0, 1.0)))
    for (choice <- Seq(Choice.Sparse, Choice.Smallest)) {
      val p = TestData.partitions(blocks, 1, choice).head
      assert(p.columns.sameElements(Array(1, 2)) && p.isDense == (choice == Choice.Smallest))
      assert(p.values32.sameElements(Array(1f, 2f, 4f, 3f, 5f, 1f)) && p.values64 == null, "as narrow as what is left")
      assert(p.offsets.sameElements(Array(0, 3, 6)) && p.mean(0) == 7.0 / 3.0 && p.deviation.length == 2)
    }
  }

  test("a row that is longer than a cut is cut alone") {
    val block = read(Seq(Seq(row(1, 1, 2, 3), LabeledRow(0, 1, Vectors.sparse(3, Array(1), Array(4.0)))))).head
    val pieces = ColumnCut(block, 0, Array(0, 0, 0), Array[Byte](1), valuesAtATime = 2).map(_._2.columns.toSeq).toSeq
    assert(pieces == Seq(Seq(0, 1, 2), Seq(1)))
  }
}
