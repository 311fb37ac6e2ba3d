package dwell.solver.cd.jvm

import scala.collection.mutable.ArrayBuffer

import dwell.base.{BucketOrder, LittleEndian, Patience}
import dwell.base.kernel.Kernel
import dwell.data.LocalData
import dwell.jni.ResultHeader
import dwell.solver.cd.contract.{PendingStep, RoundRequest, WorkerState}

/**
 * One round on one partition: certificate and values at the start, coordinate descent, values at the end, and the
 * update vector. The orientation defines the coordinates and minimises along them.
 *
 * With more than one thread, descent runs CoCoA again inside the partition (Ioannou, Mendler-Duenner, Parnell: SySCD,
 * NeurIPS 2019), as in the native solver. Every thread steps on its own copy of the vector and multiplies its steps by
 * the number of copies. After an epoch the copies are averaged. Here one thread does the work of all, with the same
 * result.
 *
 * @param separable
 *   the part of the objective that is a sum over coordinates
 * @param start
 *   the committed state, which the round does not change
 */
private[solver] abstract class LocalRound(
    data: LocalData,
    r: RoundRequest,
    shared: Array[Byte],
    start: WorkerState,
    protected final val kernel: Kernel,
    separable: Separable,
    patience: Patience) {

  /** Coordinates after the steps made so far. */
  protected final val a: Array[Double] = start.alpha.clone()

  /** The vector that descent keeps up to date, which starts as the shared one, with its running sums. */
  private val reached = new LocalVector(new Array[Double](data.vectorLength), new RunningSums)
  protected final def w: Array[Double] = reached.w
  protected final def sums: RunningSums = reached.sums

  private val sharedVector = LittleEndian.view(shared)
  private val order = new BucketOrder(a.length, r.seed, data.index)
  private var coordinates = 0L
  private var nonzeros = 0L
  private var cursor = start.cursor

  /** Entry j of the vector `w` at the start, from entry j of the shared vector. */
  protected def loaded(j: Int, entry: Double): Double

  /** Prepares descent. It is called once, after `w` has been loaded. */
  protected def begin(): Unit

  /** The partition's share of the duality gap at the start of the round. */
  protected def certify(): Certificate

  /**
   * Minimises along coordinate i at `seen`, and adds the step to `moved`.
   *
   * @param copies
   *   number of copies of the vector, by which the step is multiplied
   */
  protected def visit(i: Int, seen: LocalVector, moved: LocalVector, copies: Double): Unit

  /** Entry j of the update vector, from the entry of `w` at the start. */
  protected def update(j: Int, before: Double): Double

  /** The number for [[CdLayout.KAPPA]]. */
  protected def kappa: Double

  /** Runs the round, writes the update into the vector of `result` and gives the step. */
  final def run(result: Array[Byte]): (Measured, PendingStep) = {
    load()
    val before = separable.total(start.alpha, patience)
    val certificate = if (r.certificate) certify() else Certificate.None
    if (a.length > 0) descend()
    val along = separable.along(start.alpha, a, start.previous, r.points, patience)
    writeUpdate(result)
    val delta = Array.tabulate(a.length)(i => a(i) - start.alpha(i))
    (Measured(before, certificate, coordinates, nonzeros, kappa, along), PendingStep(r.round, cursor, delta))
  }

  private def load(): Unit = {
    var j = 0
    while (j < w.length) {
      val entry = sharedVector.get(j)
      w(j) = loaded(j, entry)
      require(
        !w(j).isNaN && !w(j).isInfinite,
        s"${data.sharedName} of ${data.entryName} $j is $entry, ${w(j)} times its weight: both must be finite")
      j += 1
    }
    begin()
  }

  private def descend(): Unit = {
    val budget = r.coordinates(a.length)
    // In a batch no step sees another one.
    val seen = if (r.batch) reached.copied else reached
    var ended = false
    while (coordinates < budget && !ended) {
      if (r.threads == 1) visitBucket(nextBucket(), seen, reached, copies = 1.0)
      else descendOnCopies(budget)
      ended = r.batch && cursor % order.buckets == 0L
    }
  }

  /** First coordinate of the next bucket. */
  private def nextBucket(): Int = {
    val bucket = order.start(cursor)
    coordinates += order.end(bucket) - bucket
    cursor += 1
    bucket
  }

  private def visitBucket(start: Int, seen: LocalVector, moved: LocalVector, copies: Double): Unit = {
    val end = order.end(start)
    var i = start
    while (i < end) {
      visit(i, seen, moved, copies)
      nonzeros += kernel.length(i)
      patience.spend(kernel.length(i))
      i += 1
    }
  }

  /** Visits buckets until the epoch or the budget ends. Each thread visits its share of them. */
  private def descendOnCopies(budget: Long): Unit = {
    val buckets = ArrayBuffer(nextBucket())
    while (cursor % order.buckets != 0L && coordinates < budget) buckets += nextBucket()
    val copies = math.min(r.threads, buckets.length)
    val changed = Array.tabulate(copies) { k =>
      val copy = reached.copied
      val share = (k.toLong * buckets.length / copies).toInt until ((k + 1L) * buckets.length / copies).toInt
      share.foreach(at => visitBucket(buckets(at), copy, copy, copies.toDouble))
      copy
    }
    var j = 0
    while (j < w.length) {
      var change = 0.0
      var k = 0
      while (k < copies) {
        change += changed(k).w(j) - w(j)
        k += 1
      }
      w(j) += change / copies
      j += 1
    }
    sums.addAverage(changed.map(_.sums))
  }

  private def writeUpdate(result: Array[Byte]): Unit = {
    val vector = ResultHeader.vector(result)
    var j = 0
    while (j < w.length) {
      vector.put(j, data.finite(update(j, loaded(j, sharedVector.get(j))), "update", j))
      j += 1
    }
  }
}

/** A vector that steps read or change, with its running sums. */
private[solver] final class LocalVector(val w: Array[Double], val sums: RunningSums) {

  /** A copy that can change on its own. */
  def copied: LocalVector = new LocalVector(w.clone(), sums.copied)
}
