package dwell.data.rows

import scala.util.Random

import org.scalactic.Tolerance

import dwell.LimitedSuite
import dwell.data.{Forms, TestData}
import dwell.data.block.{ColumnNames, LabeledRow, RowBlock, RowBlockBuilder}
import dwell.data.matrix.{DenseBlock, ExcludedFeatures, NarrowValues, SparseBlock}
import dwell.data.merge.{DealtRows, MatrixMerge, MatrixPiece, RowDistribution, VectorSizes}
import dwell.data.matrix.PartitionForm.Choice
import dwell.problem.Labels

/** Pieces of rows, dense and sparse, and the partitions that they become. */
class RowMergeSuite extends LimitedSuite with Tolerance {
  private val (numRows, numFeatures) = (120, 9)
  private val excluded = new ExcludedFeatures(Array(1, 7), numFeatures)
  private val scale = Array.tabulate(numFeatures)(j => 1.0 / (j + 1.3))
  private val mean = Array.tabulate(numFeatures)(j => j - 4.1)

  private def read(blocks: Seq[Seq[LabeledRow]]): Seq[RowBlock] = blocks.zipWithIndex.map { case (rows, index) =>
    RowBlockBuilder.read(index, rows.head.features.size, rows.iterator.map(_.toInternal), ColumnNames()).next()
  }

  /** All partitions of the rows; `deliver` is the order in which the shuffle delivers. */
  private def merged(
      blocks: Seq[RowBlock],
      numPartitions: Int,
      choice: Choice,
      mixed: Boolean,
      valuesAtATime: Int,
      deliver: Random): Seq[RowPartition] = {
    val firstRows = blocks.scanLeft(0L)(_ + _.matrix.rows)
    val facts = deliver.shuffle(blocks.zip(firstRows).flatMap { case (b, first) =>
      RowFacts.of(b, first, excluded, numPartitions)
    })
    val pieces = deliver.shuffle(blocks.zip(firstRows).flatMap { case (b, first) =>
      MatrixPiece.cut(b.matrix, first, excluded, numPartitions, valuesAtATime)
    })
    (0 until numPartitions).map { k =>
      val merge = new RowMerge(numFeatures, weighted = true, labels = Labels.Signed, mixed, choice)
      val (ownFacts, ownPieces) =
        (facts.iterator.collect { case (`k`, f) => f }, pieces.iterator.collect { case (`k`, p) => p })
      merge.dealt(k, numPartitions, firstRows.last, ownFacts, ownPieces, scale, mean)
    }
  }

  /** Each row with its nonzeros and numbers, bit by bit. */
  private def content(p: RowPartition): Seq[Any] = p.rows.indices.map { i =>
    val nonzeros = TestData.stored(p, i).filter(_._2 != 0.0)
    (p.rows(i), nonzeros, p.labels(i), p.weights(i), p.norms(i), p.projections(i))
  }

  private val cases = for {
    (dense, share) <- Seq((0, 0.1), (3, 0.02), (9, 0.9), (4, 0.5))
    numPartitions <- Seq(1, 2, 5)
  } yield (Forms.rows(dense, numRows / 3, numFeatures, dense, share), numPartitions)

  test("partitions have the same rows in either form, from pieces of any size in any order") {
    val random = new Random(3)
    for ((rows, numPartitions) <- cases; mixed <- Seq(false, true)) {
      val blocks = read(rows)
      val expected = merged(blocks, numPartitions, Choice.Sparse, mixed, 1000000, random)
      for (choice <- Seq(Choice.Sparse, Choice.Smallest); valuesAtATime <- Seq(1, 50, 100000)) {
        val found = merged(blocks, numPartitions, choice, mixed, valuesAtATime, random)
        assert(found.map(content) == expected.map(content))
        found.zip(expected).foreach { case (p, sparse) =>
          assert((p.values32 == null) == (sparse.values32 == null))
          assert(p.isDense == (choice == Choice.Smallest && p.bytes < sparse.bytes) && p.bytes <= sparse.bytes)
          if (p.isDense) {
            assert(p.offsets.sameElements(Array.tabulate(p.numRows + 1)(_ * numFeatures)))
            assert(p.nonzeros == p.numRows * numFeatures && (p.values32 == null) != (p.values64 == null))
          }
        }
      }
    }
  }

  test("both forms occur, and the rows equal those that were read") {
    val forms = for ((rows, numPartitions) <- cases) yield {
      val all = rows.flatten
      val partitions = merged(read(rows), numPartitions, Choice.Smallest, mixed = false, 50, new Random(1))
      assert(partitions.flatMap(_.rows).sorted == all.indices)
      for (p <- partitions; i <- p.rows.indices) {
        val row = all(p.rows(i).toInt)
        val features = row.features.toArray.zipWithIndex.map { case (x, j) => if (excluded(j)) 0.0 else x }
        val found = new Array[Double](numFeatures)
        TestData.stored(p, i).foreach { case (feature, value) => found(feature) = value }
        assert(found.sameElements(features), "left out features are zeros")
        assert(p.labels(i) == 2.0 * row.label - 1.0 && p.weights(i) == row.weight)
        assert(RowDistribution.partitionOf(p.rows(i), numPartitions) == p.index)
        assert(p.norms(i) === features.indices.map(j => scale(j) * features(j) * features(j)).sum +- 1e-12)
        assert(p.projections(i) === features.indices.map(j => scale(j) * mean(j) * features(j)).sum +- 1e-12)
      }
      partitions.map(_.isDense)
    }
    assert(forms.flatten.distinct.size == 2)
  }

  /** A partition of some of the blocks. */
  private def ofBlocks(
      all: Seq[RowBlock],
      group: Seq[Int],
      choice: Choice,
      mixed: Boolean = false,
      excluded: ExcludedFeatures = excluded,
      labels: Labels = Labels.Signed,
      weighted: Boolean = true): RowPartition = {
    val firstRows = all.scanLeft(0L)(_ + _.matrix.rows)
    val merge = new RowMerge(numFeatures, weighted, labels, mixed, choice)
    merge.ofBlocks(1, 2, () => group.iterator.map(all), b => firstRows(all.indexOf(b)), excluded, scale, mean)
  }

  test("whole blocks make the partition that a shuffle to one worker makes, bit by bit") {
    for ((rows, numPartitions) <- cases if numPartitions == 1; choice <- Seq(Choice.Sparse, Choice.Smallest)) {
      val blocks = read(rows)
      val expected = merged(blocks, 1, choice, mixed = false, 1000, new Random(1)).head
      val found = ofBlocks(blocks, blocks.indices, choice)
      assert(content(found) == content(expected) && found.isDense == expected.isDense)
      assert((found.values32 == null) == (expected.values32 == null) && found.weights.sameElements(expected.weights))
    }
  }

  test("the rows of a group keep their numbers, in the order of the dataset or mixed") {
    for ((rows, 1) <- cases; choice <- Seq(Choice.Sparse, Choice.Smallest);
      group <- Seq(Seq(0, 2), Seq(1), Seq(1, 2))) {
      val blocks = read(rows)
      val firstRows = blocks.scanLeft(0L)(_ + _.matrix.rows)
      val all = content(ofBlocks(blocks, blocks.indices, Choice.Sparse))
      val plain = ofBlocks(blocks, group, choice)
      assert(plain.rows.toSeq == group.flatMap(b => firstRows(b) until firstRows(b + 1)) && plain.index == 1)
      assert(content(plain) == plain.rows.toSeq.map(row => all(row.toInt)))
      val mixed = ofBlocks(blocks, group, choice, mixed = true)
      assert(mixed.rows.toSeq != plain.rows.toSeq && content(mixed) == mixed.rows.toSeq.map(row => all(row.toInt)))
      assert(content(ofBlocks(blocks, group, choice, mixed = true)) == content(mixed))
    }
  }

  test("one block lends its arrays where nothing changes, and none where something does") {
    val blocks = read(Forms.rows(1, 40, numFeatures, 0, 0.1))
    val (dense, sparse) = (blocks(0), blocks(1))
    assert(dense.matrix.isInstanceOf[DenseBlock] && sparse.matrix.isInstanceOf[SparseBlock])
    val none = ExcludedFeatures.None
    def lent(
        block: Int,
        choice: Choice,
        mixed: Boolean = false,
        excluded: ExcludedFeatures = none,
        labels: Labels = Labels.Real) = {
      val (b, p) = (blocks(block), ofBlocks(blocks, Seq(block), choice, mixed, excluded, labels))
      val values = (b.matrix.values.values64 eq p.values64) && (b.matrix.values.values32 eq p.values32)
      (values, b.labels eq p.labels, b.weights eq p.weights)
    }
    assert(lent(1, Choice.Sparse) == ((true, true, true)) && lent(0, Choice.Smallest) == ((true, true, true)))
    assert(lent(0, Choice.Sparse)._1 == false, "another form")
    assert(lent(1, Choice.Sparse, labels = Labels.Signed) == ((true, false, true)))
    assert(lent(1, Choice.Sparse, mixed = true) == ((false, false, false)))
    assert(lent(1, Choice.Sparse, excluded = excluded) == ((false, true, true)))
    val plain = ofBlocks(blocks, Seq(1), Choice.Sparse, excluded = none, labels = Labels.Real, weighted = false)
    assert(plain.weights == null && (plain.indices eq sparse.matrix.asInstanceOf[SparseBlock].indices))
    // The same block in the same form, but built anew.
    val built = ofBlocks(blocks, Seq(1), Choice.Sparse, excluded = new ExcludedFeatures(Array(8), numFeatures))
    assert(built.rows.sameElements(plain.rows) && built.offsets.last <= plain.offsets.last)
  }

  test("a block without weights among others has weights 1") {
    val rows = Forms.rows(4, 10, numFeatures, 0, 0.5)
    val blocks = read(Seq(rows(0).map(_.copy(weight = 1.0)), rows(1)))
    assert(blocks(0).weights == null)
    val p = ofBlocks(blocks, Seq(0, 1), Choice.Sparse)
    assert(p.weights.toSeq == Seq.fill(10)(1.0) ++ rows(1).map(_.weight))
  }

  test("sizes leave out what is excluded, and tell the width of what is left") {
    val rows = Seq(LabeledRow(1, 1, org.apache.spark.ml.linalg.Vectors.sparse(3, Array(0, 1, 2), Array(0.1, 1.0, 2.0))))
    val block = read(Seq(rows)).head.matrix
    def sizes(excluded: Int*) = VectorSizes.of(block, 0L, new ExcludedFeatures(excluded.toArray, 3), 1).head
    assert(sizes().counts.toSeq == Seq(3) && sizes().width == NarrowValues.Double)
    assert(sizes(0).counts.toSeq == Seq(2) && sizes(0).width == NarrowValues.Single)
    assert(sizes(0, 2).counts.toSeq == Seq(1) && sizes(0, 2).width == NarrowValues.Ones)
  }

  test("merging allocates the partition and hardly more") {
    for ((share, choice) <- Seq((1.0, Choice.Smallest), (0.02, Choice.Sparse))) {
      val blocks = read(Forms.rows(1, 2000, numFeatures, if (share == 1.0) numFeatures else 0, share))
      def partition = merged(blocks, 1, choice, mixed = true, 1000, new Random(2)).head
      val expected = partition // loads all classes
      assert(expected.isDense == (choice == Choice.Smallest))
      val firstRows = blocks.scanLeft(0L)(_ + _.matrix.rows)
      val facts = blocks.zip(firstRows).flatMap { case (b, first) => RowFacts.of(b, first, excluded, 1).map(_._2) }
      val pieces = blocks.zip(firstRows).flatMap { case (b, first) =>
        MatrixPiece.cut(b.matrix, first, excluded, 1, 1000).map(_._2)
      }
      val bytes = Forms.allocated {
        val merge = new RowMerge(numFeatures, weighted = true, labels = Labels.Signed, mixed = true, choice)
        merge.dealt(0, 1, 6000L, facts.iterator, pieces.iterator, scale, mean)
      }
      // Two numbers of 4 bytes a row, its place and its count, are needed for a while.
      assert(bytes < expected.bytes + 8L * 6000L + 200000L, s"$bytes bytes for a partition of ${expected.bytes}")
    }
  }

  test("refused: more nonzeros than an array holds") {
    val sizes = new VectorSizes(0L, 2, Array(Int.MaxValue - 20, 20), NarrowValues.Ones)
    val rows = new DealtRows(0, 1, 2L, mixed = false)
    val error =
      intercept[IllegalArgumentException](new MatrixMerge(rows, 3, Choice.Sparse, Iterator.single(sizes)))
    assert(error.getMessage.contains("Partition 0 of 1") && error.getMessage.contains("numWorkers"))
  }
}
