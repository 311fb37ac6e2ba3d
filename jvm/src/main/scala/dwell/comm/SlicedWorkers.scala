package dwell.comm

/**
 * Workers that keep vectors in slices, so that none has to come to the leader: worker k has slice k of
 * [[dwell.base.SliceBounds]]. All methods ask every worker once. They throw [[ModelLostException]] if a
 * slice has been lost with an executor.
 */
trait SlicedWorkers[M, S] {

  /**
   * The workers' vectors are added in the order of the partitions, and each worker keeps its slice of the sum.
   *
   * @param reads
   *   whether every worker gets the vector of the last [[gatherSlices]]; it gets zeros otherwise, and before the first
   */
  def reduceScatter(message: M, reads: Boolean, description: String): Replies[S]

  /** Every worker gets its slice of the last sum, or zeros before the first. Its vector, if it has any, is dropped. */
  def askSlices(message: M, description: String): Replies[S]

  /** As [[askSlices]]. The workers' vectors, each as long as its slice, are the slices of the vector that all get next. */
  def gatherSlices(message: M, description: String): Replies[S]
}
