package dwell.bench.grid

import java.nio.file.{Files, Path}

import scala.jdk.CollectionConverters._
import scala.util.control.NonFatal

import com.fasterxml.jackson.databind.ObjectMapper
import org.apache.spark.ml.{Estimator, Model}
import org.apache.spark.ml.functions.vector_to_array
import org.apache.spark.sql.{DataFrame, SaveMode}
import org.apache.spark.sql.functions.col

import dwell.bench.{Bench, BenchData, NamedArguments, OtherProgram}

/**
 * Fits with few features beside programs on one node, with reading in all of them: each reads a Parquet file and fits, twice, and the
 * second time counts. Spark and Dwell read a column of vectors, the others a column for each feature. One function takes
 * the objective of all models, from the data.
 *
 * Arguments after those of [[Bench]]: `rows=dense-28,dense-10`, `systems=dwell,spark,h2o,scikit-learn,glum`, and `python=PROGRAM`.
 */
object TallPeersBench {

  private val InSpark = Seq("dwell", "spark")
  private val Systems = InSpark ++ Seq("h2o", "scikit-learn", "glum")
  private val Rows = Seq("dense-28", "dense-10")
  private val Fits = Seq("logistic-default", "logistic-l2", "logistic-net", "linear-net")

  def main(args: Array[String]): Unit = {
    val (own, others) = args.splitAt(Bench.Arguments)
    val asked = new NamedArguments(others.toSeq)
    Bench.run("tall peers bench", own)(run(_, asked))
  }

  private[bench] def run(bench: Bench, asked: NamedArguments): Unit = {
    val systems = asked.chosen("systems", Systems)(identity)
    val fits = GridFit.all.filter(fit => Fits.contains(fit.name))
    val folder = Files.createTempDirectory("dwell-peers")
    asked.chosen("rows", GridRows.all.filter(rows => Rows.contains(rows.name)))(_.name).foreach { rows =>
      val made = rows.make(bench).get
      val stored = folder.resolve(rows.name)
      write(made, stored)
      val frame = BenchData.cached(made)
      try {
        println(s"\n== ${rows.name}: ${Bench.shape(frame)}")
        val objectives = fits.map(fit => fit -> new GridObjective(frame, fit)).toMap
        systems.foreach { system =>
          val found =
            if (InSpark.contains(system)) fits.map(fit => bySpark(frame, system, fit, stored))
            else byOther(asked.command("python").get :+ system, fits.map(fit => fit -> objectives(fit)), stored)
          found.foreach { one =>
            val objective = objectives(one.fit).of(one.coefficients, Array(one.intercept))
            println(f"${rows.name} ${one.fit.name} $system: ${one.seconds}%.2f s, objective $objective%.12g")
            bench.add(
              "rows" -> rows.name,
              "fit" -> one.fit.name,
              "system" -> system,
              "scale" -> bench.scale,
              "seconds" -> one.seconds,
              "objective" -> objective)
          }
        }
      } finally frame.unpersist(blocking = true)
    }
  }

  private final case class Fitted(fit: GridFit, seconds: Double, coefficients: Array[Double], intercept: Double)

  /** Vectors for Spark, and a column for each feature, in one file, for others. */
  private def write(made: DataFrame, stored: Path): Unit = {
    made.select("features", "label", "class").write.mode(SaveMode.Overwrite).parquet(stored.resolve("vectors").toString)
    val size = GridObjective.features(made)
    val array = made.select(vector_to_array(col("features")).as("x"), col("label"), col("class"))
    val columns = (0 until size).map(j => col("x")(j).as(s"x$j")) ++ Seq(col("label"), col("class"))
    array.select(columns: _*).coalesce(1).write.mode(SaveMode.Overwrite).parquet(stored.resolve("columns").toString)
  }

  private def bySpark(frame: DataFrame, system: String, fit: GridFit, stored: Path): Fitted = {
    val estimator: Estimator[_] = if (system == "dwell") fit.kind.ours else fit.kind.theirs
    val timed = Seq
      .fill(2)(Bench.timed[Model[_]] {
        val read = frame.sparkSession.read.parquet(stored.resolve("vectors").toString)
        Bench.fit(estimator, read, fit.params: _*)
      })
      .last
    val (coefficients, intercepts) = GridObjective.parts(timed.result)
    Fitted(fit, timed.seconds, coefficients, intercepts.head)
  }

  private def byOther(command: Seq[String], fits: Seq[(GridFit, GridObjective)], stored: Path): Seq[Fitted] = {
    val (asked, output) = (Files.createTempFile("fits", ".json"), Files.createTempFile("fitted", ".json"))
    val json = new ObjectMapper()
    try {
      val described = fits.map { case (fit, objective) =>
        Map[String, Any](
          "name" -> fit.name,
          "loss" -> (if (fit.kind == GridFit.Linear) "squared" else "logistic"),
          "label" -> fit.kind.label,
          "l1" -> objective.l1,
          "l2" -> objective.l2).asJava
      }
      Files.writeString(asked, json.writeValueAsString(described.asJava))
      val columns = stored.resolve("columns").toFile.listFiles.find(_.getName.endsWith(".parquet")).get
      OtherProgram.execute(
        command ++
          Seq("--data", columns.toString, "--fits", asked.toString, "--output", output.toString))
      json.readTree(output.toFile).elements().asScala.toSeq.map { one =>
        Fitted(
          fits.map(_._1).find(_.name == one.get("name").asText()).get,
          one.get("seconds").asDouble(),
          one.get("coefficients").elements().asScala.map(_.asDouble()).toArray,
          one.get("intercept").asDouble())
      }
    } catch {
      case NonFatal(e) =>
        println(s"${command.last} failed: ${e.getMessage}")
        Nil
    } finally Seq(asked, output).foreach(Files.deleteIfExists)
  }
}
