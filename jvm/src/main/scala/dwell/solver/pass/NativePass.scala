package dwell.solver.pass

/** The message of a pass over the rows of a worker, with all that it takes but the model. */
private[solver] trait NativePass extends Serializable {

  /** Threads that one task may use. */
  def threads: Int

  /** The length of a result in bytes. */
  private[pass] def length: Int

  /** What the results of all lanes may take: sums are held outside of the heap. */
  private[pass] def room: Long

  /**
   * Begins the pass, and returns its handle.
   *
   * @param model
   *   little endian
   */
  private[pass] def begin(model: Array[Byte]): Long
}

private[pass] object NativePass {

  /** The room of sums that rows visit in their order. */
  val InOrder: Long = 64L << 20

  /** The room of gradients, whose entries rows visit in any order: more of them leave the cache. */
  val InAnyOrder: Long = 16L << 20
}
