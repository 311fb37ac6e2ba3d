package dwell.bench.grid

import java.nio.file.Files

import scala.jdk.CollectionConverters._

import com.fasterxml.jackson.databind.{JsonNode, ObjectMapper}
import org.apache.spark.ml.classification.LogisticRegression
import org.apache.spark.ml.linalg.Vectors
import org.apache.spark.ml.regression.LinearRegression

import dwell.SparkSuite
import dwell.bench.{Bench, NamedArguments}

/** The grid of fits: no data and no Param is without a cell, its objective is Spark's, and a cell is stored whole. */
class EveryFitSuite extends SparkSuite {

  private def grid(scale: Double, asked: String*): Seq[JsonNode] = {
    val file = Files.createTempFile("dwell-bench", ".json")
    try {
      EveryFitBench.run(
        new Bench(spark, None, scale, seed = 1L, repetitions = 1, file.toString),
        new NamedArguments(asked))
      new ObjectMapper().readTree(file.toFile).elements().asScala.toSeq
    } finally Files.delete(file)
  }

  test("about a hundred cells: every fit has data, and all data have fits of several estimators") {
    val cells = GridRows.all.flatMap(rows => rows.columns.map(rows.name -> _))
    assert(cells.size > 90 && cells.size < 120, cells.size)
    assert(cells.map(_._2).toSet == GridFit.all.toSet, GridFit.all.toSet -- cells.map(_._2))
    GridRows.all.foreach(rows => assert(rows.columns.map(_.kind).distinct.size >= 3, rows.name))
    GridRows.all.foreach { rows =>
      rows.fits.foreach(name => assert(GridFit.all.exists(_.name.startsWith(name)), s"${rows.name} has no $name"))
    }
  }

  test("the objective is that of Spark's history, with weights, penalties and one class or several") {
    val frame = GridRows
      .withAllColumns(GridRows.all.find(_.name == "small").get.make(new Bench(spark, None, 0.2, 1L, 1, "none")).get)
      .cache()
    def found(name: String) = GridFit.all.find(_.name == name).get
    Seq("logistic-net", "logistic-weights", "logistic-raw", "ten-l1", "ten-weights").foreach { name =>
      val fit = found(name)
      val model = Bench.fit(new LogisticRegression(), frame, fit.params: _*)
      val history = Bench.history(model).last
      assert(math.abs(new GridObjective(frame, fit)(model) - history) <= 1e-9 * history, name)
    }
    // Spark's history of LinearRegression is in units of the label's deviation, and l-bfgs has one.
    val fit = found("linear-default")
    val model = Bench.fit(new LinearRegression(), frame, fit.params: _*)
    val error = model.transform(frame).selectExpr("avg(power(label - prediction, 2)) / 2").first().getDouble(0)
    assert(math.abs(new GridObjective(frame, fit)(model) - error) <= 1e-12 * error)
    // A feature with deviation 1 in the population and a label with deviation 2.
    val rows =
      spark.createDataFrame(Seq((-2.0, Vectors.dense(-1.0)), (2.0, Vectors.dense(1.0)))).toDF("label", "features")
    val ridge = found("linear-l2")
    val exact = Bench.fit(new LinearRegression(), rows, "regParam" -> 0.01)
    // F(a) = (2 - a)^2 / 2 + 0.01 a^2 / (2 2) is least at a = 2 / 1.005.
    val a = 2.0 / 1.005
    assert(math.abs(new GridObjective(rows, ridge)(exact) - ((2 - a) * (2 - a) / 2 + 0.0025 * a * a)) < 1e-9)
  }

  test("a cell has both systems, both objectives and what trained") {
    val cells = grid(0.2, "rows=small,packages", "columns=linear-l2,logistic-default,svc-l2", "memory=1024")
    assert(cells.map(_.get("fit").asText).toSet == Set("linear-l2", "logistic-default", "svc-l2"))
    cells.foreach { cell =>
      assert(cell.get("memory").asInt == 1024 && cell.get("rows").asText == "small")
      assert(cell.get("seconds").size == 1 && cell.get("sparkSeconds").size == 1 && cell.get("failed").isNull)
      assert(cell.get("objective").asDouble > 0.0 && cell.get("excess").asDouble <= 1e-6, cell)
      assert(Seq("native", "spark").contains(cell.get("solver").asText) && cell.get("phases").asText.contains(" s: "))
    }
  }
}
