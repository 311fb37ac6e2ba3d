package dwell.data

import scala.util.Random

import org.apache.spark.{ShuffleOutputs, SparkContext}
import org.apache.spark.ml.linalg.{Vector, Vectors}

import dwell.base.SliceBounds
import dwell.bulk.Kept
import dwell.data.block.{ColumnNames, LabelSummary, LabeledRow, PartitionSummary, ReadFacts, ReadRows, RowBlock, RowBlockBuilder}
import dwell.data.columns._
import dwell.data.matrix.{ColumnCounts, MatrixBlock, NarrowValues, PartitionForm}
import dwell.data.moments.MergedMoments
import dwell.data.rows.BlockArrays

/** Random rows, and columns made of rows without Spark. */
object TestData {

  /** The kinds of values that tests use for columns. */
  sealed trait Values
  object Values {
    case object Ones extends Values
    case object Singles extends Values
    case object Doubles extends Values
  }

  def row(label: Double, features: Double*): LabeledRow = LabeledRow(label, 1.0, Vectors.dense(features.toArray))

  /**
   * Rows whose columns have about `density` nonzeros, the first columns more than the last. Column 0 is constant where
   * there are at least three columns, column 1 is empty.
   */
  def random(
      seed: Int,
      rows: Int,
      columns: Int,
      density: Double,
      values: Values = Values.Doubles,
      weighted: Boolean = false,
      dense: Boolean = false): Seq[LabeledRow] = {
    val random = new Random(seed)
    Seq.fill(rows) {
      val features = Array.tabulate(columns) { i =>
        val filled = random.nextDouble() < math.min(1.0, density * 2.0 * (columns - i) / columns)
        val value = values match {
          case Values.Ones => 1.0
          case Values.Singles => random.nextInt(64) / 8.0 - 4.0
          case Values.Doubles => random.nextGaussian()
        }
        if (columns >= 3 && i == 0) 1.0 else if (columns >= 3 && i == 1) 0.0 else if (filled) value else 0.0
      }
      val weight = if (weighted) random.nextInt(4) * 0.75 else 1.0
      val label = random.nextGaussian() + features.zipWithIndex.map { case (x, i) => x * ((i % 3) - 1) }.sum
      val vector: Vector = if (dense) Vectors.dense(features) else Vectors.dense(features).toSparse
      LabeledRow(label, weight, vector)
    }
  }

  /**
   * Columns by partition, from rows in blocks, as [[TrainingReader]] makes them.
   *
   * @param deliver
   *   the order in which the shuffle delivers the pieces
   */
  def partitions(
      blocks: Seq[Seq[LabeledRow]],
      numPartitions: Int,
      choice: PartitionForm.Choice = PartitionForm.Choice.ForSolvers,
      valuesAtATime: Int = MatrixBlock.ValuesAtATime,
      deliver: Seq[(Int, ColumnPiece)] => Seq[(Int, ColumnPiece)] = identity): Array[ColumnPartition] = {
    val names = ColumnNames()
    val numFeatures = blocks.flatten.head.features.size
    val read = blocks.zipWithIndex.map { case (rows, index) =>
      RowBlockBuilder.read(index, numFeatures, rows.iterator.map(_.toInternal), names).next()
    }
    read.find(_.problem != null).foreach(block => throw new IllegalArgumentException(block.problem))
    val (counts, widths) = columnCounts(read.map(_.matrix), numFeatures)
    val rows = blocks.flatten.filter(_.weight > 0.0).map(_.features)
    counts.indices.filter(j => rows.forall(_(j) == rows.head(j))).foreach(counts(_) = 0)
    val assignment = ColumnAssignment.balanced(counts, numPartitions)
    val firstRows = read.scanLeft(0)(_ + _.matrix.rows)
    val slices = SliceBounds(firstRows.last, numPartitions)
    val forms = ColumnDataset.forms(assignment, widths, slices.start(slices.count), choice)
    val pieces = deliver(read.flatMap { b =>
      ColumnCut(b.matrix, firstRows(b.at.partition), assignment.partitionOf, forms.map(_.width), valuesAtATime)
    })
    Array.tabulate(numPartitions) { k =>
      val merge = new ColumnMerge(k, slices, assignment.partitionOf, counts, forms(k))
      pieces.foreach { case (partition, piece) => if (partition == k) merge.add(piece) }
      val values = read.map(b => RowValues.of(b, firstRows(b.at.partition), slices, k)).filterNot(_.isEmpty)
      merge.result(values.toArray, blocks.flatten.map(_.weight).sum, names)
    }
  }

  /** Number of nonzeros and width of each column, over all blocks. */
  def columnCounts(blocks: Seq[MatrixBlock], numFeatures: Int): (Array[Int], Array[Byte]) = {
    val sums = new Array[Double](ColumnCounts.sumsOf(numFeatures))
    blocks.foreach { block =>
      val own = ColumnCounts.of(Iterator(block), numFeatures).sums(numFeatures)
      own.indices.indices.foreach(i => sums(own.indices(i)) += own.sums(i))
    }
    ColumnCounts.ofSums(sums)
  }

  /** Rows of labels 0 that blocks of the given sizes claim to hold, without data. */
  def claimed(sc: SparkContext, sizes: Seq[Int], numFeatures: Int): TrainingRows = {
    val summaries = sizes.zipWithIndex.map { case (rows, index) =>
      val labels = LabelSummary.of(Array(0.0), null).copy(rows = rows.toLong, weight = rows.toDouble)
      PartitionSummary(
        rows.toLong,
        rows.toLong,
        densePairs = 0.0,
        sparsePairs = 0.5 * rows,
        4L * rows,
        NarrowValues.Ones,
        index.toLong,
        labels,
        problem = null)
    }
    new TrainingRows(
      new ReadRows(
        Kept.of(sc.emptyRDD[RowBlock], "none"),
        new ReadFacts(summaries, new MergedMoments(0, numFeatures).result),
        numFeatures,
        "claimed",
        ColumnNames()))
  }

  /**
   * Drops what is cached and what was shuffled, as the loss of all executors does. The RDDs and shuffles stay in use: a shuffle
   * that is removed under a running job fails the job.
   */
  def loseCached(sc: SparkContext): Unit = {
    sc.getPersistentRDDs.values.foreach { rdd =>
      val level = rdd.getStorageLevel
      rdd.unpersist(blocking = true)
      rdd.persist(level)
    }
    ShuffleOutputs.lose()
  }

  /** The row and the value of each stored value of a column. */
  def stored(p: ColumnPartition, column: Int): Seq[(Int, Double)] = stored(p.offsets, p.indices, p.value(_))(column)

  /** The feature and the value of each stored value of a row. */
  def stored(block: BlockArrays, features: Int, row: Int): Seq[(Int, Double)] = {
    def value(at: Int): Double =
      if (block.values64 != null) block.values64(at)
      else if (block.values32 != null) block.values32(at).toDouble
      else 1.0
    if (block.offsets == null) (0 until features).map(j => (j, value(row * features + j)))
    else stored(block.offsets, block.features, value(_))(row)
  }

  private def stored(offsets: Array[Int], indices: Array[Int], value: Int => Double)(i: Int): Seq[(Int, Double)] =
    (offsets(i) until offsets(i + 1)).map(at => (if (indices == null) at - offsets(i) else indices(at), value(at)))

  /** Positive weights of the rows, or null where every one is 1. */
  def weights(rows: Seq[LabeledRow]): Array[Double] = {
    val positive = rows.map(_.weight).filter(_ > 0.0).toArray
    if (positive.forall(_ == 1.0)) null else positive
  }
}
