package dwell.bench.cd

import scala.collection.mutable

import org.apache.spark.rdd.RDD

import dwell.base.SplitMix
import dwell.data.columns.ColumnPartition
import dwell.record.RoundRecord

/**
 * CoCoA on plain Spark, for ridge regression: implementation (A) of Duenner et al., Understanding and Optimizing the Performance of
 * Distributed Machine Learning Applications on Apache Spark (2017), written to be read. The algorithm is CoCoA+ as in Smith et al.,
 * CoCoA: A General Framework for Communication-Efficient Distributed Optimization (JMLR 18, 2018), with gamma = 1 and sigma' = K:
 *
 * {{{
 *   minimise  F(a) = |y - A a|^2 / (2 m) + l2 |a|^2 / 2
 *
 *   worker k owns some columns of A, and in each round makes H epochs of coordinate steps on its local model:
 *     a_i <- (q_i a_i + A_i^T w / m) / (q_i + l2),   q_i = K |A_i|^2 / m
 *     w   <- w - K (change of a_i) A_i,              w = y - A a at the start of the round
 *   leader: y - A a <- y - A a - sum_k (the worker's changes times its columns)
 * }}}
 *
 * A round is one Spark job. As in the paper workers keep no state: the coefficients of every worker go out with the residual in a
 * broadcast, and come back with the updates.
 *
 * A mini-batch of coordinate steps (Richtarik and Takac, Parallel Coordinate Descent Methods for Big Data Optimization, 2016) is a
 * round without local progress: each step reads w as it is at the start of the round, with sigma' = 1. The leader makes up for this: it
 * multiplies the sum of all steps by the factor with which the objective is least.
 *
 * @param problem
 *   whose columns are held in Spark's cache
 * @param batch
 *   whether rounds are mini-batches, each of at most an epoch
 */
private[bench] final class PlainCoCoA(problem: RidgeProblem, batch: Boolean = false) extends AutoCloseable {
  import PlainCoCoA._

  private val workers = {
    // Closures are sent without this object.
    val (m, l2, batch) = (problem.totalWeight, problem.l2, this.batch)
    val sigma = if (batch) 1.0 else problem.columns.partitions.getNumPartitions.toDouble
    val workers = problem.columns.partitions.map(new Worker(_, m, l2, sigma, batch)).cache()
    workers.count()
    workers
  }

  private val labels = problem.labels
  private val columns = workers.map(_.columns).collect()

  /** Records of at most `count` rounds of `localWork` epochs each, from zero. They end at an objective of `enough` or less. */
  def rounds(localWork: Double, count: Int, enough: Double = 0.0): Seq[RoundRecord] = {
    val clock = new Clock
    var residual = labels
    var states = columns.map(n => State(new Array[Double](n), cursor = 0L))
    val margins = new Array[Double](labels.length)
    def record(round: Int, penalty: Double, last: Double, worker: Double, led: Double): RoundRecord = {
      val objective = residual.map(r => r * r).sum / (2.0 * problem.totalWeight) + penalty
      val now = clock.seconds
      RoundRecord(
        round,
        objective,
        gap = Double.NaN,
        seconds = now - last,
        workerSeconds = worker,
        overheadSeconds = led - last - worker,
        driverSeconds = now - led,
        localWork,
        stateBytes = 0L,
        stateLosses = 0,
        elapsed = now,
        workers = Seq.empty)
    }
    val start = record(0, penalty = 0.0, last = 0.0, worker = 0.0, led = 0.0)
    def after(last: RoundRecord): RoundRecord = {
      val results = step(residual, states, localWork)
      val led = clock.seconds
      val factor = if (batch) search(residual, states, results) else 1.0
      for (result <- results; j <- margins.indices) margins(j) += factor * result.update(j)
      residual = labels.indices.map(j => labels(j) - margins(j)).toArray
      states = results.zip(states).map { case (result, state) => state.moved(result.state, factor) }
      val penalty = 0.5 * problem.l2 * states.map(_.coefficients.map(a => a * a).sum).sum
      record(last.round + 1, penalty, last.elapsed, results.map(_.seconds).max, led)
    }
    val made = mutable.ArrayBuffer(start)
    while (made.last.round < count && made.last.objective > enough) made += after(made.last)
    made.toSeq
  }

  /** The factor of all steps with which the objective is least. */
  private def search(residual: Array[Double], states: Array[State], results: Array[Result]): Double = {
    val m = problem.totalWeight
    var slope = 0.0
    var curve = 0.0
    for (j <- residual.indices) {
      var update = 0.0
      for (result <- results) update += result.update(j)
      slope += residual(j) * update / m
      curve += update * update / m
    }
    for ((result, state) <- results.zip(states); j <- state.coefficients.indices) {
      val step = result.state.coefficients(j) - state.coefficients(j)
      slope -= problem.l2 * state.coefficients(j) * step
      curve += problem.l2 * step * step
    }
    if (curve > 0.0) slope / curve else 0.0
  }

  /** What all workers make of a round. */
  private def step(residual: Array[Double], states: Array[State], localWork: Double): Array[Result] = {
    val sent = workers.sparkContext.broadcast((residual, states))
    val made: RDD[Result] = workers.map { worker =>
      val (residual, states) = sent.value
      worker.round(residual, states(worker.number), localWork)
    }
    try made.collect()
    finally sent.destroy()
  }

  override def close(): Unit = {
    workers.unpersist()
    ()
  }
}

private[bench] object PlainCoCoA {

  /**
   * What belongs to a worker and changes from round to round.
   *
   * @param cursor
   *   buckets of columns that it has visited
   */
  private final case class State(coefficients: Array[Double], cursor: Long) {

    /** A part of the way to another state. */
    def moved(to: State, factor: Double): State =
      if (factor == 1.0) to
      else State(coefficients.zip(to.coefficients).map { case (a, next) => a + factor * (next - a) }, to.cursor)
  }

  /**
   * A worker's reply.
   *
   * @param update
   *   its columns times the changes of their coefficients
   * @param seconds
   *   that its steps took
   */
  private final case class Result(state: State, update: Array[Double], seconds: Double)

  /**
   * The columns of a worker.
   *
   * @param m
   *   number of rows
   * @param sigma
   *   sigma', which keeps the sum of all workers' steps safe
   */
  private final class Worker(part: ColumnPartition, m: Double, l2: Double, sigma: Double, batch: Boolean)
      extends Serializable {
    val number: Int = part.index
    val columns: Int = part.numColumns
    private val offsets = part.offsets
    private val rows = if (part.isDense) Array.tabulate(part.nonzeros)(_ % part.rows) else part.indices
    private val values = Array.tabulate(part.nonzeros) { at =>
      if (part.values64 != null) part.values64(at) else if (part.values32 != null) part.values32(at).toDouble else 1.0
    }
    private val q = part.mean.indices.map(i => sigma * (part.variance(i) + part.mean(i) * part.mean(i))).toArray

    def round(residual: Array[Double], from: State, localWork: Double): Result = {
      val clock = new Clock
      val a = from.coefficients.clone()
      val w = residual.clone()
      val order = new Order(columns, number)
      var cursor = from.cursor
      var left = math.ceil(columns * localWork).toLong
      while (left > 0L && columns > 0) {
        for (i <- order.bucket(cursor)) minimise(i, a, w, reads = if (batch) residual else w)
        left -= order.bucket(cursor).size
        cursor += 1L
        if (batch && order.begins(cursor)) left = 0L
      }
      val update = residual.indices.map(j => (residual(j) - w(j)) / sigma).toArray
      Result(State(a, cursor), update, clock.seconds)
    }

    /** The step of coordinate i. */
    private def minimise(i: Int, a: Array[Double], w: Array[Double], reads: Array[Double]): Unit = {
      var product = 0.0
      var at = offsets(i)
      while (at < offsets(i + 1)) {
        product += values(at) * reads(rows(at))
        at += 1
      }
      val next = (q(i) * a(i) + product / m) / (q(i) + l2)
      val change = sigma * (next - a(i))
      at = offsets(i)
      while (at < offsets(i + 1)) {
        w(rows(at)) -= change * values(at)
        at += 1
      }
      a(i) = next
    }
  }

  /** The order in which all implementations visit columns: buckets of neighbours, in a new random order in each epoch. */
  private final class Order(columns: Int, number: Int) {
    private val size = math.max(1, math.min(64, columns / 256))
    private val buckets = new Array[Int]((columns + size - 1) / size)
    private var epoch = -1L

    /** Whether an epoch begins at `cursor`. */
    def begins(cursor: Long): Boolean = cursor % buckets.length == 0L

    /** The columns of the bucket at `cursor`. */
    def bucket(cursor: Long): Range = {
      if (cursor / buckets.length != epoch) {
        epoch = cursor / buckets.length
        SplitMix.forEpoch(RidgeProblem.Seed, number, epoch).permute(buckets)
      }
      val first = buckets((cursor % buckets.length).toInt) * size
      first until math.min(columns, first + size)
    }
  }

  /** Seconds since it was made. */
  private final class Clock {
    private val start = System.nanoTime()
    def seconds: Double = (System.nanoTime() - start) * 1e-9
  }
}
