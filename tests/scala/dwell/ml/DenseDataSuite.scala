package dwell.ml

import scala.util.Random

import org.apache.spark.ml.classification.{LogisticRegression => SparkLogisticRegression, LogisticRegressionModel}
import org.apache.spark.ml.linalg.{Vector, Vectors}
import org.apache.spark.ml.regression.{LinearRegression => SparkLinearRegression}
import org.apache.spark.sql.DataFrame

import dwell.{CheckLong, SparkSuite}
import dwell.ml.classification.LogisticRegression
import dwell.ml.regression.LinearRegression
import dwell.report.FitReport

/** Fits whose partitions are dense, though some values are 0: beside Spark, and beside fits with sparse partitions. */
class DenseDataSuite extends SparkSuite {
  private val numRows = 400
  private val numFeatures = 21

  /** Relative, of the vector of coefficients. Spark's l-bfgs at tol 1e-14 is about 1e-8 from the optimum. */
  private val BesideSpark = 1e-6

  /** Relative, of the vector of coefficients: sums of dozens of products in another order, over many steps. */
  private val Rounding = 1e-10

  /** Independent features, a tenth of them 0. Eighths fit single precision, normal numbers do not. */
  private def rows(eighths: Boolean): Seq[(Double, Double, Vector)] = {
    val random = new Random(if (eighths) 3 else 4)
    Seq.fill(numRows) {
      val x = Array.fill(numFeatures) {
        if (random.nextInt(10) == 0) 0.0
        else if (eighths) (random.nextInt(64) - 32) / 8.0
        else random.nextGaussian()
      }
      val score = x(0) - 0.5 * x(1) + 0.25 * x(2) + random.nextGaussian()
      (if (score > 0.0) 1.0 else 0.0, score + 3.0, Vectors.dense(x))
    }
  }

  /** Rows stay in their order, which decides about the steps. */
  private def frame(rows: Seq[(Double, Double, Vector)]): DataFrame =
    spark.createDataFrame(sc.parallelize(rows, 3)).toDF("class", "y", "features").cache()

  private lazy val frames: Map[Boolean, DataFrame] =
    Seq(false, true).map(eighths => eighths -> frame(rows(eighths))).toMap

  /** The same rows in three times as many features, which takes more memory in the dense form than in the sparse one. */
  private lazy val padded: Map[Boolean, DataFrame] = Seq(false, true).map { eighths =>
    eighths -> frame(rows(eighths).map { case (label, y, x) =>
      (label, y, Vectors.dense(x.toArray ++ new Array[Double](2 * numFeatures)))
    })
  }.toMap

  private def isDense(report: FitReport): Boolean = {
    val stored = report.nonzerosPerPartition.sum
    assert(report.nonzeros < numRows.toLong * numFeatures)
    assert(stored == report.nonzeros || stored == numRows.toLong * numFeatures)
    stored != report.nonzeros
  }

  private def distance(a: Vector, b: Vector): Double = math.sqrt(Vectors.sqdist(a, b)) / Vectors.norm(b, 2.0)

  private def logistic[E <: SparkLogisticRegression](estimator: E): E = {
    estimator.setLabelCol("class").setRegParam(0.1).setTol(1e-14).setMaxIter(2000)
    estimator
  }

  private def linear[E <: SparkLinearRegression](estimator: E): E = {
    estimator.setLabelCol("y").setRegParam(0.1).setTol(1e-14).setMaxIter(500)
    estimator
  }

  /** Spark's own models, beside which several of ours are. */
  private lazy val sparkClasses =
    Seq(false, true)
      .map(eighths => eighths -> logistic(new SparkLogisticRegression()).fit(frames(eighths).coalesce(1)))
      .toMap
  private lazy val sparkLines =
    Seq(false, true)
      .map(eighths => eighths -> linear(new SparkLinearRegression()).fit(frames(eighths).coalesce(1)))
      .toMap

  private val data = for (eighths <- Seq(false, true); numWorkers <- 1 to 3) yield (eighths, numWorkers)

  for ((eighths, numWorkers) <- data)
    test(s"the same linear regression as Spark's: eighths = $eighths, K = $numWorkers") {
      val mine = linear(new LinearRegression())
        .setAlgorithm("cocoa")
        .setNumWorkers(numWorkers)
        .setTol(1e-13)
        .fit(frames(eighths))
      val stock = sparkLines(eighths)
      val report = FitReport.of(mine)
      assert(report.solver == "native" && report.numPartitions == numWorkers && isDense(report))
      assert(distance(mine.coefficients, stock.coefficients) <= BesideSpark)
      assert(math.abs(mine.intercept - stock.intercept) <= BesideSpark)
    }

  private val classes =
    for ((eighths, numWorkers) <- data; solver <- Seq(("cocoa", "primal"), ("cocoa", "dual"), ("l-bfgs", "dual")))
      yield (eighths, numWorkers, solver)

  for ((eighths, numWorkers, (algorithm, orientation)) <- CheckLong.pairsOf(classes))
    test(s"the same classes as Spark's: $algorithm, $orientation, eighths = $eighths, K = $numWorkers") {
      val mine = logistic(new LogisticRegression())
        .setAlgorithm(algorithm)
        .setOrientation(orientation)
        .setNumWorkers(numWorkers)
        .setTol(1e-13)
        .fit(frames(eighths))
      val stock = sparkClasses(eighths)
      val report = FitReport.of(mine)
      assert(report.solver == "native" && report.numPartitions == numWorkers)
      // All but the columns are rows in the form that they were read in.
      assert(orientation == "dual" || isDense(report))
      assert(distance(mine.coefficients, stock.coefficients) <= BesideSpark)
      assert(math.abs(mine.intercept - stock.intercept) <= BesideSpark)
    }

  private val forms =
    for {
      (eighths, numWorkers) <- data
      algorithm <- Seq("cocoa", "ma-sgd", "l-bfgs")
    } yield (eighths, numWorkers, algorithm)

  for ((eighths, numWorkers, algorithm) <- CheckLong.pairsOf(forms))
    test(s"rows in either form, to rounding: $algorithm, eighths = $eighths, K = $numWorkers") {
      def fit(data: DataFrame): LogisticRegressionModel =
        new LogisticRegression()
          .setLabelCol("class")
          .setRegParam(0.1)
          .setAlgorithm(algorithm)
          .setOrientation("dual")
          .setNumWorkers(numWorkers)
          .setLocalWork(1.0)
          .setMaxIter(12)
          .setTol(0.0)
          // In the dual form the weight of an intercept depends on the number of features.
          .setFitIntercept(false)
          .fit(data)
      val (dense, sparse) = (fit(frames(eighths)), fit(padded(eighths)))
      val own = Vectors.dense(sparse.coefficients.toArray.take(numFeatures))
      assert(distance(dense.coefficients, own) <= Rounding)
    }
}
