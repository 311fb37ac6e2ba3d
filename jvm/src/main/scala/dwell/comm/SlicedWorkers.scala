package dwell.comm

/**
 * Workers that keep vectors in slices, so that none has to come to the leader: worker k has slice k of
 * [[dwell.base.SliceBounds]]. All methods ask every worker once.
 */
trait SlicedWorkers[M, S] {

  /**
   * Every worker gets the vector of the last [[gatherSlices]], or zeros before the first. The workers' vectors are
   * added in the order of the partitions, and each worker keeps its slice of the sum.
   */
  def reduceScatter(message: M, description: String): Replies[S]

  /** Every worker gets its slice of the last sum. Its vector, if it has any, is dropped. */
  def askSlices(message: M, description: String): Replies[S]

  /** As [[askSlices]]. The workers' vectors, each as long as its slice, are the slices of the vector that all get next. */
  def gatherSlices(message: M, description: String): Replies[S]
}
