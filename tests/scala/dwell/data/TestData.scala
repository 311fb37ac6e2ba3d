package dwell.data

import scala.util.Random

import org.apache.spark.{ShuffleOutputs, SparkContext}
import org.apache.spark.ml.linalg.{Vector, Vectors}

import dwell.base.SliceBounds
import dwell.bulk.Kept
import dwell.data.block.{ColumnNames, LabelSummary, LabeledRow, PartitionSummary, ReadFacts, ReadRows, RowBlock, RowBlockBuilder}
import dwell.data.columns._
import dwell.data.matrix.{NarrowValues, PartitionForm}
import dwell.data.moments.{MergedMoments, NativeMoments}
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
   * @param isDense
   *   the form of all partitions; none for the smaller one of each
   * @param projected
   *   whether blocks are cut by columns first, as they are for several partitions
   */
  def partitions(
      blocks: Seq[Seq[LabeledRow]],
      numPartitions: Int,
      isDense: Option[Boolean] = None,
      projected: Option[Boolean] = None): Array[ColumnPartition] = {
    val numFeatures = blocks.flatten.head.features.size
    val read = this.read(blocks)
    val matrices = read.map(_.matrix)
    val facts = this.facts(read, numFeatures)
    val assignment = ColumnAssignment.balanced(facts.counts, numPartitions)
    val firstRows = matrices.scanLeft(0)(_ + _.rows)
    val slices = SliceBounds(firstRows.last, numPartitions)
    val forms = ColumnDataset.forms(assignment, facts.widths, firstRows.last).map { form =>
      val least = if (isDense.contains(true)) NarrowValues.Single else NarrowValues.Ones
      PartitionForm(isDense.getOrElse(form.isDense), if (form.width < least) least else form.width)
    }
    val cut = projected.getOrElse(numPartitions > 1)
    val projection = new Projection(slices, assignment.partitionOf, forms.map(_.width))
    val projections = if (cut) read.zip(firstRows).map { case (b, first) => projection(b, first).toMap }
    else Nil
    Array.tabulate(numPartitions) { k =>
      val made = new Transposition(k, slices, assignment.partitionOf, facts, forms(k), cut)
      if (cut) projections.foreach(of => made.add(of(k)))
      else read.zip(firstRows).foreach { case (b, first) => made.add(ColumnBlock.of(b, first, b.matrix, slices, k)) }
      made.result
    }
  }

  /** The blocks that have rows, each of one source partition. */
  def read(blocks: Seq[Seq[LabeledRow]]): Seq[RowBlock] = {
    val numFeatures = blocks.flatten.head.features.size
    val read = blocks.zipWithIndex.map { case (rows, index) =>
      RowBlockBuilder.read(index, numFeatures, rows.iterator.map(_.toInternal), ColumnNames()).next()
    }
    read.find(_.problem != null).foreach(block => throw new IllegalArgumentException(block.problem))
    read.filter(_.rows > 0)
  }

  /** What reading finds of the columns of blocks. */
  def facts(blocks: Seq[RowBlock], numFeatures: Int): ColumnFacts = {
    val sums = new NativeMoments(numFeatures)
    blocks.foreach(block => sums.add(block.matrix, block.labels, block.weights))
    val moments = sums.result
    val weight = blocks.flatMap(b => if (b.weights == null) Seq(b.rows.toDouble) else b.weights.toSeq).sum
    val (mean, variance) = moments.overRows(blocks.map(_.rows.toLong).sum, weight)
    ColumnFacts.of(moments, variance.indices.filter(variance(_) > 0.0).toArray, numFeatures, mean, variance)
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
