package dwell.bench.cd

import scala.util.Random

import org.apache.spark.ml.linalg.{Vector, Vectors}

import dwell.SparkSuite
import dwell.fit.Aggregation

/** The plain program beside the native solver: both make the same rounds. */
class PlainCoCoASuite extends SparkSuite {

  /** Columns in buckets of two, some of which are in every row. */
  private def rows(dense: Boolean): Seq[(Double, Vector)] = {
    val random = new Random(3)
    Seq.fill(80) {
      val x = Array.fill(1100)(if (dense || random.nextInt(10) == 0) random.nextGaussian() else 0.0)
      (x.take(40).sum + random.nextGaussian(), if (dense) Vectors.dense(x) else Vectors.dense(x).toSparse)
    }
  }

  for (dense <- Seq(false, true)) test(s"the objective of each round is the native solver's: dense = $dense") {
    val data = spark.createDataFrame(sc.parallelize(rows(dense), 2)).toDF("label", "features").cache()
    val problem = new RidgeProblem("plain", data, workers = 2)
    val plain = new PlainCoCoA(problem)
    try {
      val native = Variant(adding = true, Aggregation.Driver)
      for (localWork <- Seq(0.3, 2.5)) {
        val expected = problem.rounds(native, localWork, rounds = 5, tolerance = 0.0).map(_.objective)
        val found = plain.rounds(localWork, 5).map(_.objective)
        assert(found.size == 6 && expected.size == 6 && found.last < 0.9 * found.head)
        found.zip(expected).foreach { case (a, b) => assert(math.abs(a - b) <= 1e-12 * b, s"$found, $expected") }
      }
    } finally {
      plain.close()
      problem.columns.partitions.unpersist()
      data.unpersist()
    }
  }

  test("mini-batches lower the objective in every round, towards the same optimum") {
    val data = spark.createDataFrame(sc.parallelize(rows(dense = false), 2)).toDF("label", "features").cache()
    val problem = new RidgeProblem("batches", data, workers = 2)
    val batches = new PlainCoCoA(problem, batch = true)
    try {
      for (localWork <- Seq(0.2, 1.0)) {
        val found = batches.rounds(localWork, 400).map(_.objective)
        assert(found.zip(found.tail).forall { case (a, b) => b <= a * (1.0 + 1e-12) })
        assert(found.last >= problem.optimum * (1.0 - 1e-9) && found.last <= 1.05 * problem.optimum, s"${found.last}")
      }
    } finally {
      batches.close()
      problem.columns.partitions.unpersist()
      data.unpersist()
    }
  }
}
