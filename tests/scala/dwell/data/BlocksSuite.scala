package dwell.data

import java.util.Arrays

import org.apache.spark.ml.linalg.{Vector, Vectors}
import org.apache.spark.rdd.RDD

import dwell.data.block.{ColumnNames, LabeledRow, RowBlockBuilder}
import dwell.data.documents.DocumentDataset
import dwell.data.matrix.MatrixBlock
import dwell.data.rows.RowForm
import dwell.problem.Labels
import dwell.spark.{InputChangedException, TaskFailure}

/** Source partitions that are read in several blocks. */
class BlocksSuite extends Reading {
  import BlocksSuite._
  import Reading.reads

  private val form = RowForm(1.0, intercept = true, labels = Labels.Signed)

  /** The rows in smaller partitions of the source. */
  private def pieces: Seq[Seq[LabeledRow]] = rows.grouped(rows.size / 7 + 1).toSeq

  test("a block ends where it is large enough, and the next one goes on") {
    val blocks = RowBlockBuilder.read(3, Columns, rows.iterator.map(_.toInternal), ColumnNames()).toSeq
    assert(blocks.size == 3, "a half million values each")
    assert(blocks.map(_.rows).sum == rows.count(_.weight > 0.0) && blocks.map(_.rowsRead).sum == rows.size)
    blocks.foreach(block => assert(block.at.partition == 3 && block.problem == null))
    blocks.init.foreach(block =>
      assert(math.abs(block.rows * (Columns + 1) - MatrixBlock.ValuesAtATime) <= Columns + 1))
    assert(blocks.map(_.at.rows) == blocks.scanLeft(0L)(_ + _.rows).init)
    assert(blocks.map(_.at.rowsRead) == blocks.scanLeft(0L)(_ + _.rowsRead).init)
    val labels = rows.filter(_.weight > 0.0).map(_.label)
    assert(blocks.flatMap(_.labels) == labels)
  }

  test("a partition without rows is one block") {
    assert(RowBlockBuilder.read(0, Columns, Iterator.empty, ColumnNames()).map(_.rows).toSeq == Seq(0))
  }

  test("datasets are those of the same rows in smaller partitions of the source") {
    val (one, several) = (read(Seq(rows)), read(pieces))
    try {
      assert(one.numRows == several.numRows && one.nonzeros == several.nonzeros && one.largestLabel == 1.0)
      for ((a, b) <- Seq(one.totalWeight -> several.totalWeight, one.labelVariance -> several.labelVariance)) {
        assert(math.abs(a - b) <= 1e-12 * b)
      }
      val summaries = Seq(one, several).map(_.scaled(2, form).summary)
      def close(a: Array[Double], b: Array[Double]) = a.zip(b).forall { case (x, y) => math.abs(x - y) <= 1e-9 * y.abs }
      assert(close(summaries.head.scale, summaries.last.scale) && close(summaries.head.mean, summaries.last.mean))
      one.columns(2).partitions.collect().zip(several.columns(2).partitions.collect()).foreach { case (a, b) =>
        assert(
          a.columns.sameElements(b.columns) && a.offsets.sameElements(b.offsets) && Arrays.equals(a.indices, b.indices))
        assert(Arrays.equals(a.values64, b.values64) && a.labels.sameElements(b.labels))
        assert(Arrays.equals(a.weights, b.weights) && close(a.variance, b.variance))
      }
      val deviations = Seq(one, several).map(_.features(0.0, intercept = true).deviation)
      assert(deviations.head.zip(deviations.last).forall { case (a, b) => math.abs(a - b) <= 1e-12 * b })
      val classes = Seq(one, several).map(_.labelFacts(Labels.Signed).classWeights)
      assert(classes.head.zip(classes.last).forall { case (a, b) => math.abs(a - b) <= 1e-9 * b })
    } finally {
      one.unpersist()
      several.unpersist()
    }
  }

  test("documents are those of the same documents in smaller partitions of the source") {
    def dataset(partitions: Seq[Seq[LabeledRow]]): DocumentDataset = {
      val vectors =
        partitions.map(_.map(r => Vectors.dense(r.features.toArray.map(x => if (x == 0.0) x else 0.1 + x.abs)): Vector))
      DocumentDataset.read(rdd(vectors).map(LabeledRow.ofVector), Columns, 2, "test")
    }
    val (one, several) = (dataset(Seq(rows)), dataset(pieces))
    try {
      def entries(data: DocumentDataset) =
        data.partitions.collect().toSeq.map { d =>
          (
            d.offsets.toSeq.flatMap(o => o.toSeq.zip(o.drop(1)).map { case (from, until) => until - from }),
            d.words.flatten.toSeq,
            d.counts64.flatten.toSeq)
        }
      assert(entries(one) == entries(several))
    } finally {
      one.unpersist()
      several.unpersist()
    }
  }

  test("a problem behind the first block names the row of the partition") {
    val bad = rows :+ LabeledRow(1.0, 1.0, Vectors.dense(Array.fill(Columns)(Double.NaN)))
    val message = intercept[IllegalArgumentException](read(Seq(bad))).getMessage
    assert(message.contains(s"row ${rows.size} of partition 0"), message)
  }

  test("rows that changed in any block of a partition are not trained on") {
    for (changed <- Seq(10, rows.size - 10)) {
      reads.set(0)
      val (all, changedRow) = (sc.broadcast(rows), changed)
      val source: RDD[LabeledRow] = sc.parallelize(Seq(0), 1).flatMap { _ =>
        val shift = Reading.reads.getAndIncrement().toDouble
        all.value.iterator.zipWithIndex.map { case (r, j) => if (j == changedRow) r.copy(weight = 1.0 + shift) else r }
      }
      using(read(source, Columns)) { data =>
        TestData.loseCached(sc)
        val error = intercept[InputChangedException](TaskFailure.unwrapped(data.scaled(2, form)))
        assert(error.getMessage.contains("Partition 0"))
      }
    }
  }
}

object BlocksSuite {
  private val Columns = 20

  /** Some more than two blocks of half a million values; a row in a hundred has no weight. */
  private val rows: Seq[LabeledRow] =
    TestData.random(1, 55000, Columns, 2.0, weighted = true, dense = true).zipWithIndex.map { case (r, j) =>
      r.copy(label = if (r.label > 0.0) 1.0 else 0.0, weight = if (j % 100 == 7) 0.0 else 0.5 + r.weight)
    }
}
