package dwell.bench.sgd

import java.nio.{ByteBuffer, ByteOrder}
import java.nio.file.{Files, Path}

import scala.concurrent.duration.FiniteDuration
import scala.jdk.CollectionConverters._

import com.fasterxml.jackson.databind.ObjectMapper

import dwell.bench.OtherProgram

/**
 * A system that is a program of its own: it reads the files of [[RowFiles]], and writes `history.json` and a file of
 * doubles for each model on the way.
 *
 * @param command
 *   to which the options `--data`, `--output`, `--steps` and, if it takes one, `--step` are added
 * @param limit
 *   see [[OtherProgram.execute]]
 */
private[bench] final class SgdProgram(
    override val name: String,
    override val unit: String,
    command: Seq[String],
    data: Path,
    override val tuning: Option[Tuning],
    override val checkpoints: Seq[Double],
    limit: FiniteDuration)
    extends SgdSystem {

  override def run(step: Double, at: Seq[Double]): Seq[Checkpoint] = {
    val output = Files.createTempDirectory("dwell-sgd")
    try {
      val options = Seq("--data", data.toString, "--output", output.toString, "--steps", at.mkString(",")) ++
        (if (tuning.isEmpty) Seq.empty else Seq("--step", step.toString))
      OtherProgram.execute(command ++ options, limit)
      val root = new ObjectMapper().readTree(output.resolve("history.json").toFile)
      root.get("checkpoints").elements().asScala.toSeq.map { one =>
        val model = doubles(output.resolve(one.get("model").asText))
        Checkpoint(one.get("steps").asDouble, one.get("seconds").asDouble, model)
      }
    } finally SgdProgram.delete(output)
  }

  private def doubles(file: Path): Array[Double] = {
    val numbers = ByteBuffer.wrap(Files.readAllBytes(file)).order(ByteOrder.LITTLE_ENDIAN).asDoubleBuffer()
    val array = new Array[Double](numbers.remaining)
    numbers.get(array)
    array
  }
}

private[bench] object SgdProgram {

  private val TuningRounds = 2.0

  /** The program of bench/mpi, where there is a command for it, with a rank for each partition. */
  def mpi(problem: SgdProblem, asked: SgdArguments, files: Path): Option[SgdSystem] =
    asked.program("mpi").map { command =>
      val tuning = Tuning(0.25 / problem.data.squareNorm, TuningRounds, _.objective, 1.0 / problem.l2)
      val ranks = asked.ranks(command, problem.data.workers)
      new SgdProgram(
        "MPI, the same kernels",
        "rounds",
        ranks,
        files,
        Some(tuning),
        EstimatorSystem.DwellRounds,
        asked.limit)
    }

  /** A directory without directories in it. */
  def delete(directory: Path): Unit = {
    val files = Files.list(directory)
    try files.forEach(Files.delete(_))
    finally files.close()
    Files.delete(directory)
  }
}
