package dwell.solver.cd.worker

import dwell.base.{LittleEndian, SliceBounds}
import dwell.comm.wire.Contribution
import dwell.data.{ColumnData, LocalData}
import dwell.jni.{MarginLayout, ResultHeader}

/** The worker's part of an exchange about its slice of the rows. */
private[worker] object RowsStep {

  /**
   * Answers a request.
   *
   * @param shared
   *   the worker's slice of the shared vector, little endian; read by `Start` and by a `Run` that takes it
   */
  def apply(data: LocalData, message: RowsMessage, shared: Array[Byte]): Contribution[CdReply] = {
    val (fit, partition) = (message.fit, data.index)
    val reply = CdReply(lost = false, None, None)
    def nothing = Contribution(Array.emptyByteArray, reply)
    message.asked match {
      case RowsRequest.Read =>
        val (labels, weights) = own(data, message)
        Contribution(Array.emptyByteArray, reply.copy(rows = Some(RowsRead(labels, weights))))
      case RowsRequest.Start(number, loss, origin) =>
        val (labels, weights) = own(data, message)
        val slice = MarginSlice.of(labels, weights, loss, origin)
        LittleEndian.copy(shared, slice.margins, 0)
        MarginSlices.put(fit, partition, number, slice)
        nothing
      case RowsRequest.Run(number, loss, intercept, operation, takes) =>
        val start = System.nanoTime()
        val answer = MarginSlices.run(fit, partition, number) { slice =>
          if (takes) LittleEndian.copy(shared, slice.update, 0)
          val sums = NativeCd.margins(loss, intercept, operation, slice, message.threads)
          val vector = if (operation.code == MarginLayout.RESIDUALS) residuals(slice) else Array.emptyByteArray
          Contribution(vector, reply.copy(sums = sums, seconds = (System.nanoTime() - start) * 1e-9))
        }
        answer.getOrElse(Contribution(Array.emptyByteArray, reply.copy(lost = true)))
    }
  }

  private def residuals(slice: MarginSlice): Array[Byte] = {
    val result = ResultHeader.allocate(slice.rows)
    LittleEndian.buffer(result).position(ResultHeader.BYTES).asDoubleBuffer().put(slice.residuals)
    result
  }

  /** Labels and weights of the rows that the partition owns. */
  private def own(data: LocalData, message: RowsMessage): (Array[Double], Array[Double]) = data match {
    case ColumnData(partition, weights) =>
      val slices = SliceBounds(partition.rows, message.workers)
      val (from, until) = (slices.start(data.index), slices.start(data.index + 1))
      (partition.labels, if (weights == null) null else java.util.Arrays.copyOfRange(weights, from, until))
    case other => throw new IllegalArgumentException(s"partition ${other.index} does not hold columns")
  }
}
