package dwell.solver.cd.jvm

import java.util.{LinkedHashMap => JLinkedHashMap}

import scala.collection.mutable

import dwell.solver.cd.contract.{PendingStep, RoundRequest, WorkerState}

/**
 * The worker states of a JVM, by fit and partition: a committed version, and at most one pending step.
 *
 * A state never changes in place, so a computation needs no lock. It takes the state, computes, and publishes its step,
 * which is refused if the state has moved on meanwhile. The leader makes all decisions. A store without the state that
 * the leader names answers None, and the caller reports a lost state.
 *
 * @param millis
 *   monotonic clock, for [[expire]]
 */
private[solver] final class WorkerStates(millis: () => Long = () => System.nanoTime() / 1000000L) {
  import WorkerStates._

  private final class Entry(val state: WorkerState, var lastUsed: Long)

  private val entries = mutable.HashMap.empty[(Long, Int), Entry]

  /** The fits that were freed last. A late task must not bring back their states. */
  private val freed = new JLinkedHashMap[Long, Unit] {
    override def removeEldestEntry(eldest: java.util.Map.Entry[Long, Unit]): Boolean = size() > RememberedFits
  }

  /**
   * The committed state that round `r.round` starts from, after the verdict of `r` on a pending step. Round 0 of a fit
   * starts from zero. None if the store does not hold that state, or the fit was freed. Nothing is stored before
   * [[publish]].
   */
  def beginRound(partition: Int, coordinates: Int, r: RoundRequest): Option[Base] = synchronized {
    val stamp = r.stamps(partition)
    val found = lookUp(r.fit, partition)
    val state = found match {
      case _ if freed.containsKey(r.fit) => None
      case None if r.round == 0L && stamp == 0L => Some(WorkerState.zero(coordinates))
      case Some(s) if s.stamp == stamp => s.readyFor(r)
      case _ => None
    }
    state.map(s => Base(found, checked(s, partition, coordinates)))
  }

  /**
   * Stores the step that was computed from `base` as pending, and returns the state with it; None if the fit was freed
   * or the state has moved on meanwhile.
   */
  def publish(fit: Long, partition: Int, base: Base, step: PendingStep): Option[WorkerState] = synchronized {
    val current = entries.get((fit, partition)).map(_.state)
    val unchanged = (current, base.found) match {
      case (Some(now), Some(before)) => now eq before
      case (now, before) => now.isEmpty && before.isEmpty
    }
    // Another attempt of the same round may have been faster. Its step is the same.
    val settled = current.exists(s => s.version == base.state.version && s.stamp == base.state.stamp)
    if (freed.containsKey(fit) || !(unchanged || settled)) None
    else Some(put(fit, partition, base.state.copy(pending = Some(step))))
  }

  /**
   * The state at version `r.round + 1` without a pending step. It is the state that an earlier attempt of the product
   * has left, or else the state from which the round would have started, under the stamp of a kept state. Without such
   * a state it is zero, under the stamp of a restart. None if the fit was freed. Nothing is stored before
   * [[publishProduct]].
   */
  def beginProduct(partition: Int, coordinates: Int, r: RoundRequest): Option[WorkerState] = synchronized {
    val next = r.round + 1
    val found = lookUp(r.fit, partition)
    if (freed.containsKey(r.fit)) None
    else {
      // A rebuild drops the last step on all workers, because a worker that starts again has none, and a line search
      // needs the same direction everywhere.
      def rebuilt(s: WorkerState, restarted: Boolean): WorkerState =
        WorkerState
          .zero(s.alpha.length)
          .copy(
            version = next,
            stamp = WorkerState.Stamp.ofRebuild(next, restarted),
            cursor = s.cursor,
            alpha = s.alpha)
      val kept = found match {
        case Some(s) if s.isOfRebuild(next) => Some(s.copy(pending = None))
        case Some(s) if s.stamp == r.stamps(partition) => s.readyFor(r).map(rebuilt(_, restarted = false))
        case _ => None
      }
      Some(kept.fold(rebuilt(WorkerState.zero(coordinates), restarted = true))(checked(_, partition, coordinates)))
    }
  }

  /**
   * Stores the state that [[beginProduct]] gave, and returns the stored one; None if the fit was freed or has gone
   * beyond that version meanwhile. The state of an earlier attempt stays, with the pending step of the next round if
   * there is one. If that attempt ended differently, one of the two answers names a stamp that is not here, and the
   * next exchange reports a lost state.
   */
  def publishProduct(fit: Long, partition: Int, state: WorkerState): Option[WorkerState] = synchronized {
    entries.get((fit, partition)).map(_.state) match {
      case _ if freed.containsKey(fit) => None
      case Some(now) if now.version > state.version => None
      case Some(now) if now.isOfRebuild(state.version) => Some(now)
      case _ => Some(put(fit, partition, state))
    }
  }

  /** A copy of the state of one partition; None if the store has none. */
  def get(fit: Long, partition: Int): Option[WorkerState] = synchronized {
    entries.get((fit, partition)).map { entry =>
      entry.lastUsed = millis()
      val state = entry.state
      state.copy(
        alpha = state.alpha.clone(),
        previous = state.previous.clone(),
        pending = state.pending.map(step => step.copy(delta = step.delta.clone())))
    }
  }

  /**
   * Replaces the state of one partition by a copy of `state`, without its pending step. Does nothing if the fit was
   * freed.
   */
  def set(fit: Long, partition: Int, state: WorkerState): Unit = synchronized {
    require(
      state.alpha.length == state.previous.length,
      s"alpha has length ${state.alpha.length} but previous has ${state.previous.length}: both have one " +
        "entry per coordinate")
    if (!freed.containsKey(fit)) {
      put(fit, partition, state.copy(alpha = state.alpha.clone(), previous = state.previous.clone(), pending = None))
    }
  }

  /** Removes the states of a fit for good; returns the bytes freed. */
  def free(fit: Long): Long = synchronized {
    freed.put(fit, ())
    remove((key, _) => key._1 == fit)
  }

  /** Removes the states that no call has used for longer than `maxAgeMillis`; returns the bytes freed. */
  def expire(maxAgeMillis: Long): Long = synchronized {
    require(maxAgeMillis >= 0L, s"maxAgeMillis is $maxAgeMillis: it must be at least 0")
    val now = millis()
    remove((_, entry) => now - entry.lastUsed > maxAgeMillis)
  }

  /** Bytes of all states. */
  def totalBytes: Long = synchronized(entries.valuesIterator.map(entry => bytes(entry.state)).sum)

  /** Number of states. */
  def size: Long = synchronized(entries.size.toLong)

  private def lookUp(fit: Long, partition: Int): Option[WorkerState] =
    entries.get((fit, partition)).map { entry =>
      entry.lastUsed = millis()
      entry.state
    }

  private def put(fit: Long, partition: Int, state: WorkerState): WorkerState = {
    entries((fit, partition)) = new Entry(state, millis())
    state
  }

  private def remove(condition: ((Long, Int), Entry) => Boolean): Long = {
    val gone = entries.filter { case (key, entry) => condition(key, entry) }
    entries --= gone.keys
    gone.valuesIterator.map(entry => bytes(entry.state)).sum
  }
}

private[solver] object WorkerStates {

  /** The state that a round starts from, and the stored state that it was made from, if there was one. */
  final case class Base(found: Option[WorkerState], state: WorkerState)

  private implicit class Protocol(private val state: WorkerState) extends AnyVal {

    /** The state at version `r.round`, if it is at that version or one verdict before it. */
    def readyFor(r: RoundRequest): Option[WorkerState] =
      if (state.version == r.round) Some(state)
      else if (state.version == r.round - 1 && state.pending.exists(_.round == r.round - 1)) {
        Some(state.commit(r.theta1, r.theta2))
      } else None

    /** Whether a product has left this state as `version`. A step may be pending on it since then. */
    def isOfRebuild(version: Long): Boolean =
      state.version == version &&
        Seq(false, true).exists(restarted => state.stamp == WorkerState.Stamp.ofRebuild(version, restarted))
  }

  /** Freed fits that are remembered. A task that outlives this many later fits can do no harm: it finds no state. */
  private val RememberedFits = 4096

  /** Bytes of the numbers a state holds. */
  def bytes(state: WorkerState): Long =
    8L * (state.alpha.length + state.previous.length + state.pending.map(_.delta.length).getOrElse(0))

  private def checked(state: WorkerState, partition: Int, coordinates: Int): WorkerState = {
    require(
      state.alpha.length == coordinates,
      s"the state of partition $partition has ${state.alpha.length} coordinates, but the partition has $coordinates: " +
        "pass the data that the fit began with")
    state
  }
}
