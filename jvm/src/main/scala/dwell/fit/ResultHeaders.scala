package dwell.fit

import dwell.jni.ResultHeader

/** What the workers report beside their vectors, by partition. */
private[dwell] final class ResultHeaders(headers: Array[Array[Byte]]) {
  def slot(i: Int): Array[Double] = headers.map(ResultHeader.get(_, i))
  def sum(i: Int): Double = slot(i).sum
  def largest(i: Int): Double = slot(i).maxOption.getOrElse(0.0)
}
