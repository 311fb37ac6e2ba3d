package dwell.solver.cd.worker

import dwell.base.SliceBounds
import dwell.comm.ModelStore
import dwell.comm.wire.Contribution
import dwell.data.{ColumnData, LocalData, RowData}
import dwell.jni.{Cancellation, CdLayout, ResultHeader}
import dwell.spark.{NativeLibrary, TaskCancellation}

/** The worker's part of an exchange. It runs in a task. */
object CdStep {

  /**
   * Runs the phase of `message` on a partition. The contribution is empty if the worker has lost its state.
   *
   * @param shared
   *   the leader's shared vector, little endian
   * @throws dwell.jni.NativeUnavailableException
   *   if the library cannot load
   */
  def apply(data: LocalData, message: CdMessage, shared: Array[Byte]): Contribution[CdReply] = {
    NativeLibrary.require()
    NativeLibrary.expire(ModelStore.AbandonedMillis)
    message match {
      case RowsMessage(workers) =>
        Contribution(Array.emptyByteArray, CdReply(lost = false, None, Some(rows(data, workers))))
      case coordinates: CoordinateMessage => onCoordinates(data, coordinates, shared)
    }
  }

  /** Labels and weights of the worker's slice of the rows. */
  private def rows(data: LocalData, workers: Int): RowsRead = data match {
    case ColumnData(partition, weights) =>
      val slices = SliceBounds(partition.rows, workers)
      val (from, until) = (slices.start(data.index), slices.start(data.index + 1))
      RowsRead(partition.labels, if (weights == null) null else java.util.Arrays.copyOfRange(weights, from, until))
    case other => throw new IllegalArgumentException(s"partition ${other.index} does not hold columns")
  }

  private def onCoordinates(data: LocalData, message: CoordinateMessage, shared: Array[Byte]): Contribution[CdReply] =
    TaskCancellation { cancellation =>
      val (update, coefficients) = exchange(data, message, shared, cancellation)
      Contribution(update.getOrElse(Array.emptyByteArray), CdReply(update.isEmpty, coefficients))
    }

  private def exchange(
      data: LocalData,
      message: CoordinateMessage,
      shared: Array[Byte],
      cancellation: Cancellation): (Option[Array[Byte]], Option[(Array[Int], Array[Double])]) = {
    val request = message.request
    val result = ResultHeader.allocate(data.vectorLength)
    val started = ResultHeader.now()
    val held = message.phase match {
      case Phase.Round => NativeCd.round(data, request, shared, result, cancellation)
      case Phase.Start(from) =>
        start(data, request, from)
        NativeCd.product(data, request, result, cancellation)
      case Phase.Rebuild | Phase.Collect => NativeCd.product(data, request, result, cancellation)
    }
    ResultHeader.put(result, ResultHeader.STARTED, started)
    val collected =
      if (held && message.phase == Phase.Collect) {
        // The coefficients must be those of the product: a concurrent attempt may have left another state behind.
        val stamp = ResultHeader.get(result, CdLayout.STAMP).toLong
        NativeCd
          .exportState(request.fit, data.index)
          .filter(state => state.version == request.round + 1 && state.stamp == stamp)
          .map(state => coefficients(data, state.alpha))
      } else None
    // A Collect whose state is gone has no coefficients, and counts as a loss too.
    val complete = held && (message.phase != Phase.Collect || collected.nonEmpty)
    (if (complete) Some(result) else None, collected)
  }

  /** Imports the first state of the fit, unless an earlier attempt of this exchange has done so. */
  private def start(data: LocalData, request: RoundRequest, from: StartingPoint): Unit =
    if (NativeCd.exportState(request.fit, data.index).forall(_.version == 0L)) {
      from.coordinates(data, NativeCd.exportState(_, data.index)).foreach { alpha =>
        NativeCd.importState(request.fit, data.index, WorkerState.zero(alpha.length).copy(alpha = alpha))
      }
    }

  /** Feature ids and values of the nonzero coefficients. In the dual orientation the leader holds them already. */
  private def coefficients(data: LocalData, alpha: Array[Double]): (Array[Int], Array[Double]) = data match {
    case _: RowData => (Array.emptyIntArray, Array.emptyDoubleArray)
    case ColumnData(partition, _) =>
      val features = new Array[Int](alpha.count(_ != 0.0))
      val values = new Array[Double](features.length)
      var next = 0
      var i = 0
      while (i < alpha.length) {
        if (alpha(i) != 0.0) {
          features(next) = partition.columns(i)
          values(next) = alpha(i)
          next += 1
        }
        i += 1
      }
      (features, values)
  }
}
