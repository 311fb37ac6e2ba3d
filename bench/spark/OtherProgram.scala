package dwell.bench

import java.nio.file.{Files, Path}
import java.util.concurrent.TimeUnit

import scala.concurrent.duration._
import scala.jdk.CollectionConverters._

import com.fasterxml.jackson.databind.ObjectMapper

import dwell.record.RoundRecord

/**
 * An implementation that is a program of its own, and reads the files of [[PartitionFiles]].
 *
 * @param command
 *   to which the options `--data`, `--local-work`, `--rounds` and `--output` are added
 */
private[bench] final class OtherProgram(command: Seq[String], data: Path) {
  import OtherProgram._

  /** A fit of so many rounds, and the seconds of a round without work and vector. */
  def run(localWork: Double, rounds: Int): (Seq[RoundRecord], Double) = {
    val output = Files.createTempFile("dwell-bench", ".json")
    try {
      val options = Seq(
        "--data",
        data.toString,
        "--local-work",
        localWork.toString,
        "--rounds",
        rounds.toString,
        "--output",
        output.toString)
      execute(command ++ options)
      read(output, localWork)
    } finally Files.deleteIfExists(output)
  }
}

private[bench] object OtherProgram {

  /**
   * How long a program may take where nothing else is said: several times as long as the slowest one. Some hang now and then, as
   * LdaMulticore of gensim does.
   */
  val Limit: FiniteDuration = 60.minutes

  /** That a program had to be ended. */
  final class DidNotEndException(message: String) extends RuntimeException(message)

  /**
   * Runs it to its end; what it says is in the exception if that is not a good one.
   *
   * @param limit
   *   after which it and all processes that it has started are killed
   * @throws DidNotEndException
   *   if they were
   */
  def execute(command: Seq[String], limit: FiniteDuration = Limit): Unit = {
    val log = Files.createTempFile("dwell-bench", ".log")
    try {
      val process =
        new ProcessBuilder(command.asJava).redirectErrorStream(true).redirectOutput(log.toFile).start()
      def said = s"${command.mkString(" ")} ended with status ${process.exitValue}:\n${Files.readString(log)}"
      if (!process.waitFor(limit.toMillis, TimeUnit.MILLISECONDS)) {
        kill(process)
        throw new DidNotEndException(s"did not end within $limit: $said")
      }
      if (process.exitValue != 0) throw new IllegalStateException(said)
    } finally Files.deleteIfExists(log)
    ()
  }

  private def kill(process: Process): Unit = {
    // They lose their parent with it. It goes first, lest it replaces those that end.
    val descendants = process.descendants().iterator().asScala.toSeq
    process.destroyForcibly().waitFor()
    descendants.foreach { one =>
      one.descendants().forEach(_.destroyForcibly())
      one.destroyForcibly()
    }
  }

  private def read(file: Path, localWork: Double): (Seq[RoundRecord], Double) = {
    val root = new ObjectMapper().readTree(file.toFile)
    val Seq(fit) = root.get("fits").elements().asScala.toSeq
    var before = 0.0
    val records = fit.get("rounds").elements().asScala.toSeq.zipWithIndex.map { case (round, i) =>
      def number(name: String) = round.get(name).asDouble()
      val (elapsed, worker, leader) = (number("elapsed"), number("worker"), number("leader"))
      val seconds = elapsed - before
      before = elapsed
      RoundRecord(
        i + 1,
        number("objective"),
        Double.NaN,
        seconds,
        worker,
        math.max(0.0, seconds - worker - leader),
        leader,
        localWork,
        0L,
        0,
        elapsed,
        Seq.empty)
    }
    (records, root.get("emptyRound").asDouble())
  }
}
