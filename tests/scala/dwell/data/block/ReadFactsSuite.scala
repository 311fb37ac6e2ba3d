package dwell.data.block

import scala.util.Random

import org.apache.spark.ml.linalg.Vectors
import org.apache.spark.rdd.RDD

import dwell.{Listened, SparkSuite}
import dwell.data.TestData
import dwell.spark.InputChangedException

/** What the job that reads says of features and classes, against plain sums. */
class ReadFactsSuite extends SparkSuite {

  private def blocks(rows: Seq[Seq[LabeledRow]], features: Int): RDD[RowBlock] =
    sc.parallelize(rows, rows.size).mapPartitionsWithIndex { (partition, rows) =>
      RowBlockBuilder.read(partition, features, rows.flatten.map(_.toInternal), ColumnNames())
    }

  private def facts(rows: Seq[Seq[LabeledRow]], features: Int): ReadFacts =
    ReadFacts.of(blocks(rows, features), features, classified = true)

  private def close(a: Double, b: Double): Boolean = math.abs(a - b) <= 1e-12 * math.max(1.0, b.abs)

  /** Compares with moments from the definition. */
  private def check(all: Seq[LabeledRow], found: ReadFacts): Unit = {
    val rows = all.filter(_.weight > 0.0)
    val total = rows.map(_.weight).sum
    val moments = found.moments
    val (means, variances) = moments.overRows(rows.size, total)
    val occurring = rows.flatMap(_.features.toSparse.indices).distinct.sorted
    assert(moments.columns.toSeq == occurring)
    occurring.zipWithIndex.foreach { case (j, i) =>
      val values = rows.map(row => (row.features(j), row.weight, row.label))
      val mean = values.map { case (x, s, _) => s * x }.sum / total
      assert(close(means(i), mean), s"feature $j")
      assert(close(variances(i), values.map { case (x, s, _) => s * (x - mean) * (x - mean) }.sum / total))
      assert(moments.counts(i) == values.count(_._1 != 0.0))
      assert(close(moments.positive(i), values.map { case (x, s, y) => if (y > 0.0) s * x else 0.0 }.sum))
      assert((variances(i) == 0.0) == (values.map(_._1).distinct.size == 1), s"feature $j")
    }
  }

  test("moments are those of the definition, merged by the driver and by tasks, dense and sparse, weighted and not") {
    for (density <- Seq(1.0, 0.2); weighted <- Seq(false, true)) {
      val some = TestData.random(3, 90, 12, density).zipWithIndex.map { case (row, i) =>
        row.copy(weight = if (weighted) (i % 4) * 0.3 else 1.0, label = (i % 3).toDouble)
      }
      for (size <- Seq(90, 40, 7)) check(some, facts(some.grouped(size).toSeq :+ Nil, 12))
      // The same features, far apart in long vectors.
      val wide = some.map { row =>
        val sparse = row.features.toSparse
        row.copy(features = Vectors.sparse(200000, sparse.indices.map(_ * 16001), sparse.values))
      }
      for (size <- Seq(90, 40, 7)) check(wide, facts(wide.grouped(size).toSeq, 200000))
    }
  }

  test(
    "ones that are counted and other values of a feature have moments together, in one source partition and in several") {
    val random = new Random(11)
    // Partitions of ones alone, of ones with a weight, and of other values.
    val rows = Seq.tabulate(120) { i =>
      val value = if (i % 40 < 30) 1.0 else 0.5 + random.nextInt(3)
      val indices = Seq.fill(4)(random.nextInt(30)).distinct.sorted.toArray
      LabeledRow(i % 2, if (i % 40 < 20) 1.0 else 0.7, Vectors.sparse(30, indices, indices.map(_ => value)))
    }
    for (size <- Seq(120, 40, 10)) check(rows, facts(rows.grouped(size).toSeq, 30))
    val ones = rows.take(20)
    assert(facts(ones.grouped(5).toSeq, 30).moments.values == null)
    check(ones, facts(ones.grouped(5).toSeq, 30))
    val wide = rows.map { row =>
      row.copy(features =
        Vectors.sparse(200000, row.features.toSparse.indices.map(_ * 6007), row.features.toSparse.values))
    }
    for (size <- Seq(120, 10)) check(wide, facts(wide.grouped(size).toSeq, 200000))
    // So many features are not counted.
    val many = 5000000
    val far = ones.map { row =>
      val sparse = row.features.toSparse
      row.copy(features = Vectors.sparse(many, sparse.indices.map(_ * 150001), sparse.values))
    }
    check(far, facts(far.grouped(10).toSeq, many))
  }

  test(
    "a feature that has one value is constant, whatever the value and the weights, and one that differs once is not") {
    val rows = Seq.tabulate(3000) { i =>
      LabeledRow(i % 2, 0.1 + i % 7, Vectors.dense(0.1, 1e9 + 0.1, -3.0, if (i == 2999) 0.1 + 1e-15 else 0.1, 1e300))
    }
    for (size <- Seq(3000, 1000, 37)) {
      val found = facts(rows.grouped(size).toSeq, 5)
      val (means, variances) = found.moments.overRows(3000, rows.map(_.weight).sum)
      assert(variances.map(_ == 0.0).toSeq == Seq(true, true, true, false, true))
      assert(means.take(3).toSeq == Seq(0.1, 1e9 + 0.1, -3.0))
    }
  }

  test("classes have the weights of their rows, in any number of source partitions") {
    val random = new Random(5)
    val rows = Seq.fill(400)(LabeledRow(random.nextInt(6) * 1000.0, random.nextInt(3) * 0.5, Vectors.dense(1.0, 2.0)))
    for (size <- Seq(400, 33)) {
      val classes = new LabelMoments(facts(rows.grouped(size).toSeq, 2).summaries.map(_.labels), ColumnNames())
      val weights = classes.classWeights(5001)
      rows.groupBy(_.label.toInt).foreach { case (c, own) => assert(close(weights(c), own.map(_.weight).sum)) }
      assert(close(weights.sum, rows.map(_.weight).sum) && weights.count(_ != 0.0) <= 6)
    }
  }

  test("moments of rows that were read again and differ are refused") {
    val rows = TestData.random(3, 60, 12, 0.5)
    val (first, again) = (facts(Seq(rows), 12), facts(Seq(rows.reverse), 12))
    def merged(read: ReadFacts) = {
      val piece = new ReadFacts.Piece(0, read.summaries.head.fingerprint, 0, read.moments)
      ReadFacts.of(first.summaries, Seq(ReadFacts.Range.of(0, 12, 1, Iterator(piece))), 1).head
    }
    assert(merged(first).columns.sameElements(first.moments.columns))
    assert(intercept[InputChangedException](merged(again)).getMessage.contains("Partition 0"))
  }

  test("one job reads, however many features there are") {
    val rows = TestData.random(3, 60, 12, 0.5)
    for (features <- Seq(12, 200000)) {
      val long = rows.map(r =>
        r.copy(features = Vectors.sparse(features, r.features.toSparse.indices, r.features.toSparse.values)))
      val read = blocks(long.grouped(20).toSeq, features)
      assert(Listened.jobs(sc)(ReadFacts.of(read, features, classified = false)) == 1, s"$features features")
    }
  }
}
