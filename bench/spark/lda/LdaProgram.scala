package dwell.bench.lda

import java.nio.{ByteOrder, FloatBuffer}
import java.nio.channels.FileChannel
import java.nio.file.{Files, Path}

import scala.concurrent.duration.FiniteDuration
import scala.jdk.CollectionConverters._
import scala.util.Using

import com.fasterxml.jackson.databind.ObjectMapper

import dwell.bench.{OtherProgram, Spent}
import dwell.bench.sgd.{RowFiles, SgdProgram}

/**
 * A system of bench/python/one_node_lda.py: it reads the files of [[LdaProgram.write]], and writes `history.json` and a file of
 * floats for the topics on the way.
 *
 * @param command
 *   with the name by which the program knows the system; the options are added
 * @param checkpoints
 *   documents visited, in order
 * @param limit
 *   see [[OtherProgram.execute]]
 */
private[bench] final class LdaProgram(
    override val name: String,
    corpus: LdaCorpus,
    topics: Int,
    command: Seq[String],
    data: Path,
    checkpoints: Seq[Long],
    limit: FiniteDuration)
    extends LdaSystem {

  override def run(seed: Long): Seq[LdaCheckpoint] = {
    val output = Files.createTempDirectory("dwell-lda")
    try {
      OtherProgram.execute(
        command ++ Seq("--data", data.toString, "--output", output.toString, "--topics", topics.toString) ++
          Seq("--documents", checkpoints.mkString(","), "--seed", seed.toString),
        limit)
      val root = new ObjectMapper().readTree(output.resolve("history.json").toFile)
      root.get("checkpoints").elements().asScala.toSeq.map { one =>
        val lambda = floats(output.resolve(one.get("topics").asText))
        LdaCheckpoint(
          one.get("documents").asDouble,
          None,
          Spent(one.get("cpu").asDouble, one.get("seconds").asDouble),
          corpus.completion.judged(corpus.vocabulary, topics)((w, k) => lambda.get(w * topics + k).toDouble))
      }
    } finally SgdProgram.delete(output)
  }

  private def floats(file: Path): FloatBuffer =
    Using.resource(FileChannel.open(file)) { channel =>
      val bytes = channel.map(FileChannel.MapMode.READ_ONLY, 0L, channel.size())
      bytes.order(ByteOrder.LITTLE_ENDIAN).asFloatBuffer()
    }
}

private[bench] object LdaProgram {

  /** The documents as files: counts in rows, as [[RowFiles]] writes them. */
  def write(corpus: LdaCorpus, directory: Path): Unit = {
    val parts = RowFiles.write(corpus.rows, directory)
    Files.writeString(
      directory.resolve("problem.json"),
      s"""{"rows": ${corpus.size}, "features": ${corpus.vocabulary}, "parts": $parts}
         |""".stripMargin)
    ()
  }
}
