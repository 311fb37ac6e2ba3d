package dwell.bench.grid

import scala.collection.mutable
import scala.util.control.NonFatal

import org.apache.spark.ml.{Estimator, Model}
import org.apache.spark.sql.DataFrame

import dwell.bench.{Bench, BenchData, NamedArguments}
import dwell.report.FitReport

/**
 * Whole fits with one import changed, beside Spark's own, on every kind of data and with every kind of Params: the grid that says
 * where changing the import is right. Warm: before the fits of an estimator on some data, with and without weights, both fit the same data with
 * few iterations. Then they fit in turn, once or, in short fits, up to the repetitions asked for.
 *
 * Arguments after those of [[Bench]]: `rows=dense-28,hashed`, `columns=linear-l2,svc-l2`, and `memory=4096`, of an executor, for
 * the file of results.
 */
object EveryFitBench {

  /** A cell whose fits have taken so many seconds is not repeated. */
  private val LongEnough = 10.0

  /** Iterations of the fits before the clock runs. */
  private val WarmIterations = 5

  def main(args: Array[String]): Unit = {
    val (own, others) = args.splitAt(Bench.Arguments)
    val asked = new NamedArguments(others.toSeq)
    Bench.run("every fit bench", own)(run(_, asked))
  }

  private[bench] def run(bench: Bench, asked: NamedArguments): Unit = {
    val wanted = asked.chosen("columns", GridFit.all)(_.name)
    asked.chosen("rows", GridRows.all, GridRows.shapes ++ GridRows.wide)(_.name).foreach { rows =>
      rows.make(bench) match {
        case None => println(s"\n== ${rows.name}: left out, without package descriptions")
        case Some(made) =>
          val frame = BenchData.cached(GridRows.withAllColumns(made))
          try {
            println(s"\n== ${rows.name}: ${Bench.shape(frame)}")
            rows.columns
              .filter(fit => wanted.exists(_.name == fit.name))
              .groupBy(_.kind)
              .toSeq
              .sortBy(_._1.name)
              .foreach { case (_, fits) =>
                // With weights Spark's query is another one, and so is its compilation.
                fits.distinctBy(_.params.exists(_._1 == "weightCol")).foreach(warm(frame, _))
                fits.foreach(cell(bench, rows, frame, _, asked.number("memory", 0)))
              }
          } finally frame.unpersist(blocking = true)
      }
    }
  }

  private def warm(frame: DataFrame, fit: GridFit): Unit =
    Seq(fit.kind.ours, fit.kind.theirs).foreach { estimator =>
      try Bench.fit(estimator, frame, fit.params ++ Seq("maxIter" -> WarmIterations): _*)
      catch { case NonFatal(e) => println(s"before the clock runs: ${e.getMessage}") }
    }

  private def cell(bench: Bench, rows: GridRows, frame: DataFrame, fit: GridFit, memory: Int): Unit = {
    val (ours, theirs) = (new System(frame, fit, fit.kind.ours), new System(frame, fit, fit.kind.theirs))
    var round = 0
    while (round < bench.repetitions && (round == 0 || ours.spent + theirs.spent < LongEnough)) {
      val turn = Seq(ours, theirs)
      (if (round % 2 == 0) turn else turn.reverse).foreach(_.run())
      round += 1
    }
    val objective = new GridObjective(frame, fit)
    val (mine, stock) = (ours.model.map(objective(_)), theirs.model.map(objective(_)))
    val excess = for (a <- mine; b <- stock) yield (a - b) / b.abs
    val report = ours.model.flatMap(model => FitReport.find(model))
    val ratio = for (a <- ours.median; b <- theirs.median) yield b / a
    def text[T](value: Option[T], format: T => String): String = value.fold("failed")(format)
    println(s"${fit.name}: ${text[Double](ours.median, s => f"$s%.2f s")}, Spark ${text[Double](theirs.median, s => f"$s%.2f s")}, " +
      s"${text[Double](ratio, r => f"$r%.2f times")}, objective above Spark's by ${text[Double](excess, e => f"$e%.1e")}")
    report.foreach(r => println(s"  ${r.phases.toLine}; ${r.reason.getOrElse(s"${r.algorithm} ${r.orientation}")}"))
    bench.add(
      "rows" -> rows.name,
      "fit" -> fit.name,
      "memory" -> memory,
      "scale" -> bench.scale,
      "seconds" -> ours.seconds,
      "sparkSeconds" -> theirs.seconds,
      "failed" -> ours.failed,
      "sparkFailed" -> theirs.failed,
      "objective" -> mine,
      "sparkObjective" -> stock,
      "excess" -> excess,
      "solver" -> report.map(_.solver),
      "reason" -> report.flatMap(_.reason),
      "algorithm" -> report.map(_.algorithm),
      "orientation" -> report.map(_.orientation),
      "rounds" -> report.map(_.rounds.size - 1),
      "relativeGap" -> report.map(_.relativeGap),
      "converged" -> report.map(_.converged),
      "reading" -> report.map(_.phases.reading),
      "setUp" -> report.map(_.phases.setUp),
      "workers" -> report.map(_.phases.workers),
      "leader" -> report.map(_.phases.leader),
      "transport" -> report.map(_.phases.transport),
      "modelSeconds" -> report.map(_.phases.model),
      "phases" -> report.map(_.phases.toLine))
  }

  /** An estimator on the data of a cell: its fits, their seconds, and the model of the last one. */
  private final class System(frame: DataFrame, fit: GridFit, estimator: Estimator[_]) {
    private val times = mutable.ArrayBuffer.empty[Double]
    var model: Option[Model[_]] = None
    var failed: Option[String] = None

    def run(): Unit = if (failed.isEmpty) {
      try {
        val timed = Bench.timed[Model[_]](Bench.fit(estimator, frame, fit.params: _*))
        times += timed.seconds
        model = Some(timed.result)
      } catch {
        case NonFatal(e) =>
          failed = Some(s"${e.getClass.getSimpleName}: ${e.getMessage}".linesIterator.next())
          model = None
      }
    }

    def spent: Double = times.sum
    def seconds: Seq[Double] = times.toSeq
    def median: Option[Double] = Option.when(failed.isEmpty && times.nonEmpty)(Bench.median(seconds))
  }
}
