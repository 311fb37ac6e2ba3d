package dwell.bench.grid

import java.nio.file.{Files, Path}

import scala.jdk.CollectionConverters._
import scala.util.control.NonFatal

import com.fasterxml.jackson.databind.{JsonNode, ObjectMapper}
import org.apache.commons.io.FileUtils
import org.apache.spark.ml.{Estimator, Model}
import org.apache.spark.ml.functions.vector_to_array
import org.apache.spark.ml.linalg.Vector
import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.functions.{col, udf}

import dwell.bench.{Bench, BenchData, NamedArguments, OtherProgram}

/**
 * Whole fits beside programs on one node, with reading in all of them: each reads Parquet files and fits, once before the clock
 * runs and then as often as asked. Spark and Dwell read a column of vectors, the others a column for each feature or, of sparse rows,
 * lists of indices and values. One function takes the objective of all models, from the data.
 *
 * Arguments after those of [[Bench]]: `rows=dense-28,dense-10,hashed,sparse`, `systems=dwell,spark,h2o,scikit-learn,glum`, and for sparse rows
 * `systems=liblinear,skglm` as well, and `python=PROGRAM`.
 */
object PeersBench {

  private val InSpark = Seq("dwell", "spark")
  private val OfDense = Seq("h2o", "scikit-learn", "glum")
  private val OfSparse = Seq("liblinear", "skglm", "glum")
  private val Dense = Seq("dense-28", "dense-10")
  private val Sparse = Seq("hashed", "sparse")
  private val DenseFits = Seq("logistic-default", "logistic-l2", "logistic-net", "linear-net")
  private val SparseFits = Seq("logistic-l2", "logistic-l1", "linear-l2")

  def main(args: Array[String]): Unit = {
    val (own, others) = args.splitAt(Bench.Arguments)
    val asked = new NamedArguments(others.toSeq)
    Bench.run("peers bench", own)(run(_, asked))
  }

  private[bench] def run(bench: Bench, asked: NamedArguments): Unit = {
    val chosen = asked.chosen("systems", InSpark ++ (OfDense ++ OfSparse).distinct)(identity)
    asked.chosen("rows", GridRows.all.filter(rows => (Dense ++ Sparse).contains(rows.name)))(_.name).foreach { rows =>
      val isSparse = Sparse.contains(rows.name)
      val fits = GridFit.all.filter(fit => (if (isSparse) SparseFits else DenseFits).contains(fit.name))
      val systems = (InSpark ++ (if (isSparse) OfSparse else OfDense)).filter(chosen.contains)
      val folder = Files.createTempDirectory("dwell-peers")
      try {
        write(rows.make(bench).get, isSparse, folder)
        val frame = BenchData.cached(bench.spark.read.parquet(vectors(folder)))
        try {
          println(s"\n== ${rows.name}: ${Bench.shape(frame)}")
          val objectives = fits.map(fit => fit -> new GridObjective(frame, fit))
          systems.foreach { system =>
            val found =
              if (InSpark.contains(system)) fits.map(bySpark(bench, system, _, folder))
              else byOther(bench, asked.command("python").get :+ system, objectives, folder)
            found.foreach(store(bench, rows, system, objectives.toMap, _))
          }
        } finally frame.unpersist(blocking = true)
      } finally FileUtils.deleteDirectory(folder.toFile)
    }
  }

  private final case class Fitted(fit: GridFit, seconds: Seq[Double], coefficients: Array[Double], intercept: Double)

  /** A fit, or why there is none. */
  private type Outcome = (GridFit, Either[String, Fitted])

  private def store(
      bench: Bench,
      rows: GridRows,
      system: String,
      objectives: Map[GridFit, GridObjective],
      outcome: Outcome): Unit = {
    val (fit, fitted) = outcome
    val objective = fitted.toOption.map(one => objectives(fit).of(one.coefficients, Array(one.intercept)))
    val said =
      fitted.fold(identity, one => f"${Bench.median(one.seconds)}%.2f s, objective ${objective.get}%.12g")
    println(s"${rows.name} ${fit.name} $system: $said")
    bench.add(
      "rows" -> rows.name,
      "fit" -> fit.name,
      "system" -> system,
      "scale" -> bench.scale,
      "seconds" -> fitted.fold(_ => Nil, _.seconds),
      "failed" -> fitted.left.toOption,
      "objective" -> objective)
  }

  private def vectors(folder: Path) = folder.resolve("vectors").toString
  private def columns(folder: Path) = folder.resolve("columns").toString

  /** Vectors for Spark, and a column for each feature or two lists for others; as many files of each. */
  private def write(made: DataFrame, isSparse: Boolean, folder: Path): Unit = {
    made.select("features", "label", "class").write.parquet(vectors(folder))
    val stored = made.sparkSession.read.parquet(vectors(folder))
    if (isSparse) {
      val indices = udf((v: Vector) => v.toSparse.indices).apply(col("features")).as("indices")
      val values = udf((v: Vector) => v.toSparse.values).apply(col("features")).as("values")
      stored.select(indices, values, col("label"), col("class")).write.parquet(columns(folder))
    } else writeColumns(stored, folder)
  }

  private def writeColumns(stored: DataFrame, folder: Path): Unit = {
    val array = stored.select(vector_to_array(col("features")).as("x"), col("label"), col("class"))
    val features = (0 until GridObjective.features(stored)).map(j => col("x")(j).as(s"x$j"))
    array.select(features ++ Seq(col("label"), col("class")): _*).write.parquet(columns(folder))
  }

  private def bySpark(bench: Bench, system: String, fit: GridFit, folder: Path): Outcome =
    fit -> attempt {
      val estimator: Estimator[_] = if (system == "dwell") fit.kind.ours else fit.kind.theirs
      val timed = Seq.fill(1 + bench.repetitions)(Bench.timed[Model[_]] {
        Bench.fit(estimator, bench.spark.read.parquet(vectors(folder)), fit.params: _*)
      })
      val (coefficients, intercepts) = GridObjective.parts(timed.last.result)
      Fitted(fit, timed.tail.map(_.seconds), coefficients, intercepts.head)
    }

  private def attempt[T](body: => T): Either[String, T] =
    try Right(body)
    catch { case NonFatal(e) => Left(s"failed: $e") }

  private def byOther(
      bench: Bench,
      command: Seq[String],
      fits: Seq[(GridFit, GridObjective)],
      folder: Path): Seq[Outcome] = {
    val (asked, output) = (folder.resolve("fits.json"), folder.resolve("fitted.json"))
    val json = new ObjectMapper()
    val described = fits.map { case (fit, objective) =>
      Map[String, Any](
        "name" -> fit.name,
        "loss" -> (if (fit.kind == GridFit.Linear) "squared" else "logistic"),
        "label" -> fit.kind.label,
        "features" -> objective.size,
        "l1" -> objective.l1,
        "l2" -> objective.l2).asJava
    }
    Files.writeString(asked, json.writeValueAsString(described.asJava))
    val arguments = Seq("--data", columns(folder), "--fits", asked.toString, "--output", output.toString) ++
      Seq("--repetitions", bench.repetitions.toString)
    attempt {
      OtherProgram.execute(command ++ arguments)
      json.readTree(output.toFile).elements().asScala.toSeq.map(one => parsed(fits.map(_._1), one))
    }.fold(failure => fits.map { case (fit, _) => fit -> Left(failure) }, identity)
  }

  private def parsed(fits: Seq[GridFit], one: JsonNode): Outcome = {
    val fit = fits.find(_.name == one.get("name").asText()).get
    def numbers(name: String) = one.get(name).elements().asScala.map(_.asDouble()).toSeq
    fit -> Option(one.get("failed")).map(_.asText()).toLeft {
      Fitted(fit, numbers("seconds"), numbers("coefficients").toArray, one.get("intercept").asDouble())
    }
  }
}
