package dwell.ml

import java.nio.file.Files

import scala.util.{Random, Try}

import org.apache.spark.ml.Estimator
import org.apache.spark.ml.classification.{LinearSVC => SparkLinearSVC, LogisticRegression => SparkLogisticRegression, LogisticRegressionModel}
import org.apache.spark.ml.clustering.{LDA => SparkLDA}
import org.apache.spark.ml.linalg.{SQLDataTypes, Vectors}
import org.apache.spark.ml.regression.{LinearRegression => SparkLinearRegression, LinearRegressionModel}
import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.functions.{col, udf}
import org.apache.spark.sql.types.{DoubleType, StructType}

import dwell.{CheckLong, SparkSuite}
import dwell.ml.classification.{LinearSVC, LogisticRegression}
import dwell.ml.clustering.LDA
import dwell.ml.regression.LinearRegression

/** Structs that are no vectors, in files that are read with a schema that says they are: refused where Spark refuses them. */
class BrokenVectorsSuite extends SparkSuite {
  import BrokenVectorsSuite._

  private val vectors = new StructType().add("label", DoubleType).add("features", SQLDataTypes.VectorType)

  private val structs = StructType.fromDDL(
    "label double, features struct<type: tinyint, size: int, indices: array<int>, values: array<double>>")

  private val good: Seq[String] =
    Seq.tabulate(8) { j =>
      row(
        j,
        if (j % 3 == 0) s"""{"type":0,"size":3,"indices":[0,2],"values":[${j + 1},2]}""" else dense(s"[1,$j,${j * j}]"))
    }

  private def dense(values: String): String = s"""{"type":1,"values":$values}"""

  private def row(j: Int, vector: String): String = s"""{"label":${j % 2},"features":$vector}"""

  private def lines(rows: Seq[String]) =
    spark.createDataset(rows)(org.apache.spark.sql.Encoders.STRING).coalesce(1)

  private def json(rows: Seq[String]): DataFrame = spark.read.schema(vectors).json(lines(rows))

  private def parquet(rows: Seq[String]): DataFrame = {
    val at = s"${Files.createTempDirectory("dwell-vectors")}/rows"
    spark.read.schema(structs).json(lines(rows)).write.parquet(at)
    spark.read.schema(vectors).parquet(at)
  }

  /** By their class. */
  private def estimators: Map[String, Both] = Map(
    "LinearRegression" -> Both(
      new SparkLinearRegression().setRegParam(0.1),
      new LinearRegression().setRegParam(0.1).setTol(Tight)),
    "LogisticRegression" -> Both(
      new SparkLogisticRegression().setRegParam(0.1).setTol(Tight),
      new LogisticRegression().setRegParam(0.1).setTol(Tight)),
    "LinearSVC" -> Both(new SparkLinearSVC().setRegParam(0.1).setMaxIter(3), new LinearSVC().setRegParam(0.1)),
    "LDA" -> Both(new SparkLDA().setK(2).setMaxIter(1), new LDA().setK(2).setMaxIter(1)))

  for (source <- Seq("JSON", "Parquet"); name <- names)
    test(s"$name refuses what $source holds and is no vector, with column, row and fix") {
      val both = estimators(name)
      // Only the arrays differ between the readers of the two.
      val (read, cases) = if (source == "JSON") (json _, broken) else (parquet _, broken.take(6))
      cases.foreach { case (vector, words) =>
        val data = read(good :+ row(0, vector))
        assert(Try(both.stock.fit(data)).isFailure, vector)
        val said = intercept[IllegalArgumentException](both.ours.fit(data)).getMessage
        val expected = Seq("Column 'features', row 8 of partition 0", words, "Vectors.sparse")
        expected.foreach(part => assert(said.contains(part), said))
      }
      // The first row tells the number of features.
      val first = intercept[IllegalArgumentException](both.ours.fit(read(row(0, broken.head._1) +: good))).getMessage
      Seq("Column 'features', the first row", broken.head._2).foreach(part => assert(first.contains(part), first))
    }

  for (name <- names)
    test(s"$name of random structs: Dwell throws where Spark throws, and where both train they agree") {
      val random = new Random(9)
      val both = estimators(name)
      val outcomes = Seq.fill(if (CheckLong.everything) 40 else 12) {
        val drawn = Seq.fill(1 + random.nextInt(2))(row(random.nextInt(2), draw(random, counts = name == "LDA")))
        val data = json(if (random.nextInt(8) == 0) drawn ++ good else good ++ drawn)
        val (bySpark, byDwell) = (Try(both.stock.fit(data)), Try(both.ours.fit(data)))
        val shown = s"${drawn.map(_.take(300))}: $bySpark, $byDwell"
        assert(bySpark.isSuccess || byDwell.isFailure, shown)
        byDwell.failed.foreach(e => assert(messages(e).contains("features"), shown))
        for (expected <- bySpark; found <- byDwell; (a, b) <- numbers(expected).zip(numbers(found)))
          assert(Vectors.sqdist(Vectors.dense(a), Vectors.dense(b)) < Near, shown)
        (bySpark.isSuccess, byDwell.isSuccess)
      }
      // Neither kind of outcome is rare.
      for (train <- Seq(true, false)) assert(outcomes.count(_ == ((train, train))) >= 2, outcomes)
    }

  test("rows that change before the summary of LinearRegression: the exception of the rows") {
    val read = udf((label: Double) => if (label == 5.0 && visits.incrementAndGet() > 1) sys.error("twice") else label)
    val data = spark
      .range(0, 10, 1, 1)
      .select(
        read(col("id").cast("double")).as("label"),
        udf((i: Long) => Vectors.dense(i.toDouble, 1.0)).apply(col("id")).as("features"))
    visits.set(0)
    val model = new LinearRegression().fit(data)
    val e = intercept[Exception](model.summary.rootMeanSquaredError)
    assert(!e.isInstanceOf[java.lang.reflect.InvocationTargetException] && messages(e).contains("twice"), e)
  }

  /** Coefficients and intercepts of models that a tolerance bounds. */
  private def numbers(model: Any): Option[Array[Double]] = model match {
    case linear: LinearRegressionModel => Some(linear.coefficients.toArray :+ linear.intercept)
    case logistic: LogisticRegressionModel => Some(logistic.coefficients.toArray :+ logistic.intercept)
    case _ => None
  }
}

private object BrokenVectorsSuite {

  /** Spark's estimator and Dwell's. */
  private final case class Both(stock: Estimator[_], ours: Estimator[_])

  private val names = Seq("LinearRegression", "LogisticRegression", "LinearSVC", "LDA")

  private val Tight = 1e-12

  /** Squared distance of models of this tolerance, whose objectives are strongly convex. */
  private val Near = 1e-8

  private val visits = new java.util.concurrent.atomic.AtomicInteger

  private val many = Seq.fill(200000)("1.5").mkString("[", ",", "]")

  private def sparse(indices: String, values: String, size: Int = 3, kind: Int = 0): String =
    s"""{"type":$kind,"size":$size,"indices":$indices,"values":$values}"""

  /** Structs that are no vectors, and words of the message. */
  private val broken: Seq[(String, String)] = Seq(
    sparse("[0]", many) -> "1 indices and 200000 values",
    sparse("[0,1,2]", "[1.5]") -> "3 indices and 1 values",
    sparse("[0,1]", "[1.5,2.5]", kind = 7) -> "type 7",
    sparse("[0]", "[1.5]", kind = -1) -> "type -1",
    sparse("null", "[1.5]") -> "array of indices is null",
    sparse("[0]", "null") -> "array of values is null",
    sparse("null", "null", kind = 1) -> "array of values is null",
    sparse("[0]", "[1.5]", size = -3) -> "must be no less than 0",
    sparse("[2,1]", "[1.5,2.5]") -> "index 1 after index 2",
    sparse("[1,1]", "[1.5,2.5]") -> "index 1 after index 1",
    sparse("[3]", "[1.5]") -> "index 3",
    sparse("[-1]", "[1.5]") -> "index -1")

  /** A struct of random type, size and arrays, many of which are a vector of length 3. */
  private def draw(random: Random, counts: Boolean): String = {
    def one[T](of: T*): T = of(random.nextInt(of.size))
    def rarely(value: String)(or: => String): String = if (random.nextInt(12) == 0) value else or
    def array(length: Int)(element: => String): String = Seq.fill(length)(element).mkString("[", ",", "]")
    def value: String =
      // Spark's inference of topics may not end for what is no count.
      if (counts) one("0", "1", "3") else rarely(one("\"NaN\"", "\"Infinity\"", "null"))(one("0", "1.5", "-2", "1e3"))
    val isSparse = random.nextBoolean()
    val kind = rarely(one("7", "-1", "null", "300", "\"x\""))(if (isSparse) "0" else "1")
    val size = rarely(one("-1", "0", "4", "2147483647", "null"))("3")
    val length = if (isSparse) random.nextInt(4) else 3
    val indices = rarely("null") {
      if (random.nextInt(6) == 0) array(random.nextInt(6))(one("-1", "0", "1", "2", "3", "null"))
      else random.shuffle(Seq(0, 1, 2)).take(length).sorted.mkString("[", ",", "]")
    }
    val values = rarely("null") {
      array(if (random.nextInt(6) == 0) one(0, 1, 2, 5, 50000) else length)(value)
    }
    val fields = Seq("type" -> kind, "size" -> size, "indices" -> indices, "values" -> values)
    fields
      .filter(_ => random.nextInt(40) > 0)
      .map { case (name, value) => s""""$name":$value""" }
      .mkString("{", ",", "}")
  }
}
