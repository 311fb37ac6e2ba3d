package dwell.solver

import java.util.concurrent.atomic.AtomicLong

import dwell.comm.{Contribution, ModelStore}
import dwell.jni.Cancellation

/** What the driver asks of every worker in one exchange. */
sealed abstract class Phase(val name: String) extends Serializable {

  /** Whether the coordinates of this exchange are those that the driver has reckoned with. */
  def continues: Boolean = true
}

object Phase {

  /** Local coordinate steps; the update is the data's product with them. */
  case object Round extends Phase("round")

  /** The committed coordinates as they are; the update is the data's product with them, to build the shared vector anew. */
  case object Rebuild extends Phase("rebuild")

  /** As `Rebuild`, from coordinates that an earlier model gives: the first exchange of a fit that does not start at zero. */
  final case class Start(from: StartingPoint) extends Phase("start") {
    override def continues: Boolean = false
  }

  /** As `Rebuild`, and the coefficients come along. */
  case object Collect extends Phase("collect")
}

/** Coordinates to start from. */
sealed trait StartingPoint extends Serializable {
  def coordinates(data: LocalData, solver: LocalSolver): Option[Array[Double]]
}

/** Coefficients of all features, for columns. */
final case class FromCoefficients(coefficients: Array[Double]) extends StartingPoint {
  override def coordinates(data: LocalData, solver: LocalSolver): Option[Array[Double]] = data match {
    case ColumnData(partition, _) => Some(partition.columns.map(coefficients(_)))
    case _ => None
  }
}

/**
 * The coordinates that another fit on the same partitions has left with its workers, times `factor`; a worker takes the
 * first of the fits that it has coordinates of, and starts from zero if it has none.
 */
final case class FromFits(fits: Seq[Long], factor: Double) extends StartingPoint {
  override def coordinates(data: LocalData, solver: LocalSolver): Option[Array[Double]] =
    fits.iterator
      .flatMap(solver.exportState(_, data.index))
      .map(_.alpha)
      .find(_.length == data.coordinates)
      .map(_.map(_ * factor))
}

/**
 * The message of one exchange. The shared vector goes with it, little endian; it is empty where the phase does not read it.
 *
 * @param states
 *   null where workers keep their state between rounds; else the state of every partition, which then travels
 */
final case class RoundMessage(
    phase: Phase,
    request: RoundRequest,
    states: Array[WorkerState],
    selection: SolverSelection)

/**
 * What a worker says beside its vector.
 *
 * @param lost
 *   the worker does not hold the state that the message refers to
 * @param state
 *   where state travels: the state after the exchange, with the pending step
 * @param coefficients
 *   in the phase `Collect`: global feature ids and values of the nonzero coefficients
 */
final case class WorkerReply(
    lost: Boolean,
    solver: String,
    state: Option[WorkerState],
    coefficients: Option[(Array[Int], Array[Double])])

/** The worker's half of an exchange, as it runs in a task. */
object WorkerStep {

  def apply(data: LocalData, message: RoundMessage, shared: Array[Byte]): Contribution[WorkerReply] = {
    val solver = message.selection.solver()
    solver.expire(ModelStore.AbandonedMillis)
    TaskCancellation { cancellation =>
      val (update, state, coefficients) =
        if (message.states == null) exchange(solver, data, message, message.request, shared, cancellation)
        else travelling(solver, data, message, shared, cancellation)
      val reply = WorkerReply(update.isEmpty, solver.name, state, coefficients)
      Contribution(update.getOrElse(Array.emptyByteArray), reply)
    }
  }

  /** Exchanges of travelling states that this process has begun. */
  private val exchanges = new AtomicLong()

  private type Outcome = (Option[Array[Byte]], Option[WorkerState], Option[(Array[Int], Array[Double])])

  private def exchange(
      solver: LocalSolver,
      data: LocalData,
      message: RoundMessage,
      request: RoundRequest,
      shared: Array[Byte],
      cancellation: Cancellation): Outcome = {
    val result = ResultLayout.allocate(data.vectorLength)
    val started = ResultLayout.now()
    val held = message.phase match {
      case Phase.Round => solver.round(data, request, shared, result, cancellation)
      case Phase.Start(from) =>
        start(solver, data, request, from)
        solver.product(data, request, result, cancellation)
      case Phase.Rebuild | Phase.Collect => solver.product(data, request, result, cancellation)
    }
    ResultLayout.put(result, ResultLayout.Started, started)
    val collected =
      if (held && message.phase == Phase.Collect) {
        // The coefficients must be those of the product: a concurrent attempt may have left another state behind.
        val stamp = ResultLayout.get(result, ResultLayout.Stamp).toLong
        solver
          .exportState(request.fit, data.index)
          .filter(state => state.version == request.round + 1 && state.stamp == stamp)
          .map(state => coefficients(data, state.alpha))
      } else None
    // A Collect whose state is gone has no coefficients to show, and is a loss as well.
    val complete = held && (message.phase != Phase.Collect || collected.nonEmpty)
    (if (complete) Some(result) else None, None, collected)
  }

  /** Puts the first state of the fit in place; an attempt that finds one was not the first. */
  private def start(solver: LocalSolver, data: LocalData, request: RoundRequest, from: StartingPoint): Unit =
    if (solver.exportState(request.fit, data.index).forall(_.version == 0L)) {
      from.coordinates(data, solver).foreach { alpha =>
        solver.importState(request.fit, data.index, WorkerState.zero(alpha.length).copy(alpha = alpha))
      }
    }

  /**
   * The same exchange without state between rounds: the state is put under a key of this exchange alone, used once and
   * taken away again. It is the oracle that the persistent mode is tested against.
   */
  private def travelling(
      solver: LocalSolver,
      data: LocalData,
      message: RoundMessage,
      shared: Array[Byte],
      cancellation: Cancellation): Outcome = {
    val key = SplitMix.mix(message.request.fit ^ SplitMix.mix(exchanges.incrementAndGet()))
    solver.importState(key, data.index, message.states(data.index))
    try {
      val (update, _, collected) =
        exchange(solver, data, message, message.request.copy(fit = key), shared, cancellation)
      (update, solver.exportState(key, data.index), collected)
    } finally solver.free(key)
  }

  /** Coefficients that are not zero; in the dual orientation the driver has them. */
  private def coefficients(data: LocalData, alpha: Array[Double]): (Array[Int], Array[Double]) = data match {
    case RowData(_, _) => (Array.emptyIntArray, Array.emptyDoubleArray)
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
