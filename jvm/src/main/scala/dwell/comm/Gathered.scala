package dwell.comm

import scala.reflect.ClassTag

import dwell.comm.wire.{Contribution, VectorFormat}

/**
 * A worker's answer without its vector.
 *
 * @param header
 *   null if the worker sent no bytes
 */
private[comm] final case class Answer[S](header: Array[Byte], scalars: S)

private[comm] object Answer {
  def of[S](c: Contribution[S], format: VectorFormat): Answer[S] =
    Answer(Contribution.header(c, format.headerBytes), c.scalars)
}

/** The workers' answers as they come in. */
private[comm] final class ArrivingAnswers[S: ClassTag](workers: Int) {
  val headers = new Array[Array[Byte]](workers)
  val scalars = new Array[S](workers)

  /** @param content the [[Answer]] of worker k */
  def put(k: Int, content: Any): Unit = {
    val answer = content.asInstanceOf[Answer[S]]
    headers(k) = answer.header
    scalars(k) = answer.scalars
  }

  def replies(addSeconds: Double = 0.0): Replies[S] = Replies(headers, scalars, addSeconds)
}

/** The workers' answers without their vectors; fields as in [[Gathered]]. */
final case class Replies[S](headers: Array[Array[Byte]], scalars: Array[S], addSeconds: Double)

/**
 * The sum of the workers' vectors, and their other answers by partition.
 *
 * @param headers
 *   null for a worker that sent no bytes
 * @param addSeconds
 *   time spent on adding, which no worker's time includes
 */
final case class Gathered[S](sum: Array[Double], headers: Array[Array[Byte]], scalars: Array[S], addSeconds: Double)
