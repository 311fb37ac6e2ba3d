package dwell.fit

import dwell.jni.ResultHeader

/** The headers of the workers' results, in the order of the partitions. [[ResultHeader]] lists the slots. */
private[dwell] final class ResultHeaders(headers: Array[Array[Byte]]) {

  /** Slot i of each worker. */
  def slot(i: Int): Array[Double] = headers.map(ResultHeader.get(_, i))

  /** Sum of slot i over the workers. */
  def sum(i: Int): Double = slot(i).sum

  /** Largest slot i of a worker; 0 without workers. */
  def largest(i: Int): Double = slot(i).reduceOption(math.max(_, _)).getOrElse(0.0)
}
