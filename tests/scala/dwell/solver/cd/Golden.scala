package dwell.solver.cd

import java.io.File

import scala.jdk.CollectionConverters._

import com.fasterxml.jackson.databind.{JsonNode, ObjectMapper}

/** The files of `tests/golden`; the scripts that write them share no code with any solver. */
private[solver] object Golden {

  /** Tests run in the root of the project. */
  def golden(name: String): JsonNode = new ObjectMapper().readTree(new File(s"tests/golden/$name.json"))

  def items(node: JsonNode): Seq[JsonNode] = node.elements().asScala.toSeq
  def integers(node: JsonNode): Array[Int] = items(node).map(_.asInt).toArray
  def doubles(node: JsonNode): Array[Double] = items(node).map(_.asDouble).toArray
}
