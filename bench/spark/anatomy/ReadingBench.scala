package dwell.bench.anatomy

import scala.collection.mutable

import org.apache.spark.ml.TrainingBridge
import org.apache.spark.ml.clustering.LDABridge
import org.apache.spark.ml.regression.{LinearRegression => SparkLinearRegression}

import dwell.bench.{Bench, NamedArguments}
import dwell.data.{TrainingReader, TrainingRows}
import dwell.data.documents.DocumentDataset
import dwell.data.rows.RowForm
import dwell.problem.Labels

/**
 * Seconds of reading, alone and with the set-up for each kind of solver, beside Spark's own scan of the same columns
 * ([[SparkScan]]), in turn, in warm JVMs. And the bytes that cached blocks and partitions take meanwhile and at the end, in a run
 * of their own, which also warms up ([[StorageWatch]]).
 *
 * Arguments after those of [[Bench]]: those of [[DataTable]].
 */
object ReadingBench {

  /** @param form bytes of the form of the solvers; None if the rows stay as they were read */
  private final case class Ready(form: Option[Long], release: () => Unit)

  private final case class Step(name: String, run: () => Ready)

  /** The form of a problem that is standardised and has an intercept, as by default. */
  private val Standardised = RowForm(scaleFactor = 1.0, intercept = true, labels = Labels.Real)

  def main(args: Array[String]): Unit = {
    val (own, others) = args.splitAt(Bench.Arguments)
    Bench.run("reading bench", own) { bench =>
      DataTable.foreach(bench, new NamedArguments(others.toSeq))(measure(bench, _))
    }
  }

  private[bench] def measure(bench: Bench, stored: StoredFrame): Unit = {
    val columns = if (stored.data.documents) Seq("features") else Seq("features", "label")
    val steps = stepsOf(stored)
    SparkScan.seconds(stored.frame, columns)
    val held = steps.map(step => step -> heldBy(bench, step)).toMap
    val scans = mutable.ArrayBuffer.empty[Double]
    val seconds = steps.map(_ -> mutable.ArrayBuffer.empty[Double]).toMap
    (1 to bench.repetitions).foreach { _ =>
      scans += SparkScan.seconds(stored.frame, columns)
      steps.foreach { step =>
        val timed = Bench.timed(step.run())
        timed.result.release()
        seconds(step) += timed.seconds
      }
    }
    println(f"${"Spark's scan"}%-28s median ${Bench.median(scans.toSeq)}%.3f s")
    steps.foreach(step => report(bench, stored, step, scans.toSeq, seconds(step).toSeq, held(step)))
  }

  /** @param form bytes of the form of the solvers by itself, if there is one */
  private final case class HeldBytes(peak: Held, end: Held, form: Option[Long])

  private def heldBy(bench: Bench, step: Step): HeldBytes = {
    val watch = new StorageWatch(bench.spark.sparkContext)
    val (ready, peak) = watch.peak(step.run())
    try HeldBytes(peak, watch.now, ready.form)
    finally ready.release()
  }

  private def report(
      bench: Bench,
      stored: StoredFrame,
      step: Step,
      scans: Seq[Double],
      seconds: Seq[Double],
      held: HeldBytes): Unit = {
    // Rows as they were read are all that there is to hold.
    val bytes = held.form.getOrElse(held.end.memory + held.end.disk)
    val ratios = seconds.zip(scans).map { case (ours, scan) => ours / scan }
    println(
      f"${step.name}%-28s median ${Bench.median(seconds)}%.3f s of ${seconds.map(s => f"$s%.3f").mkString(" ")}, " +
        f"${Bench.median(ratios)}%.1f scans; ${bytes.toDouble / stored.entries}%.1f bytes an entry, at the peak " +
        f"${held.peak.memory.toDouble / bytes}%.2f times that in memory, at the end ${held.end.memory.toDouble / bytes}%.2f and " +
        f"${held.end.disk.toDouble / bytes}%.2f on disk")
    bench.add(
      stored.about ++ Seq(
        "step" -> step.name,
        "scanSeconds" -> scans,
        "seconds" -> seconds,
        "heldBytes" -> bytes,
        "peakMemoryBytes" -> held.peak.memory,
        "peakDiskBytes" -> held.peak.disk,
        "memoryBytes" -> held.end.memory,
        "diskBytes" -> held.end.disk): _*)
  }

  private def stepsOf(stored: StoredFrame): Seq[Step] =
    if (stored.data.documents) Seq(Step("reading, documents", () => documents(stored)))
    else {
      Seq(
        Step("reading", () => read(stored)(_ => None)),
        Step("reading, rows for descent", () => read(stored)(scaled(_, Standardised))),
        Step("reading, rows for averages", () => read(stored)(scaled(_, Standardised.copy(mixed = true)))),
        Step("reading, columns by shuffle", () => read(stored)(rows => Some(rows.columns(0).held.data))))
    }

  private def scaled(rows: TrainingRows, form: RowForm): Option[Long] = {
    val blocks = rows.scaled(0, form).blocks
    Option.when(blocks.isMoved)(blocks.held.data)
  }

  private def read(stored: StoredFrame)(form: TrainingRows => Option[Long]): Ready = {
    val rows =
      TrainingReader.read(
        TrainingBridge.rows(new SparkLinearRegression(), stored.frame),
        stored.features,
        stored.data.name)
    Ready(form(rows), () => rows.unpersist())
  }

  private def documents(stored: StoredFrame): Ready = {
    val counts = LDABridge.documents(stored.frame, "features")
    val data = DocumentDataset.read(counts, stored.features, numWorkers = 0, stored.data.name)
    Ready(Some(data.held.data), () => data.unpersist())
  }
}
