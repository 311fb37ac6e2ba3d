package dwell.solver.rows.leader

import scala.util.Using

import dwell.base.SliceBounds
import dwell.comm.{Replies, Workers}
import dwell.fit.{ResultHeaders, Timeline}
import dwell.jni.ResultHeader
import dwell.solver.rows.search.{LimitedMemory, SearchAnswer, SearchBlocks, SearchHolder, SearchMessage, SearchSpace, SearchVectors}

/**
 * L-BFGS, or OWL-QN with an L1 penalty, as in Spark, for smooth losses. The workers compute the losses and
 * their gradient; the leader does the rest.
 *
 * As in Spark, features are centred if there is an intercept, and all coordinates have the same curvature, up to the loss's bound: the
 * coordinates are theta_jc = d_j w_jc with d_j^2 = deviation_j^2 + l2 u_j^2 / curvature, which is Spark's scale where features are
 * standardised. The data do not change.
 *
 * @param proof
 *   ends the iterations once the gap is at most the tolerance, or, without one, Spark's rule does
 * @param slack
 *   how far the objective of the fit may be above the objective with this loss, for the records
 */
private[rows] final class QuasiNewton(
    passes: RowPasses[_],
    task: RowTask,
    timeline: Timeline,
    proof: Option[Proof],
    slack: Double = 0.0) {
  import QuasiNewton._

  private val problem = task.problem
  private val facts = task.facts
  private val n = task.numFeatures
  private val l1 = task.objective.penalty.l1

  private val blocks = SearchBlocks(task.outputs, n)
  private val memory = corrections(n, task.outputs, Runtime.getRuntime.maxMemory)

  /** Made for each search, whose copy is then the only one. */
  private def space: SearchSpace = {
    val l2 = task.objective.penalty.l2
    val scales, factors = new Array[Double](blocks.length)
    val mean = Option(facts.mean).map(_ => new Array[Double](blocks.length))
    for (j <- 0 until n) {
      val (deviation, scale) = (facts.deviation(j), task.scaleOf(j))
      val u = if (scale > 0.0) 1.0 / math.sqrt(scale) else 0.0
      if (deviation > 0.0) {
        scales(j) = math.sqrt(deviation * deviation + l2 * u * u / task.objective.loss.curvature)
        factors(j) = u / scales(j)
      }
    }
    mean.foreach(System.arraycopy(facts.mean, 0, _, 0, n))
    if (mean.nonEmpty) scales(n) = 1.0
    for (vector <- Seq(scales, factors) ++ mean; c <- 1 until task.outputs)
      System.arraycopy(vector, 0, vector, c * (n + 1), n + 1)
    SearchSpace(scales, mean.orNull, factors, l1, l2)
  }

  /** The evaluations since the last iteration, and the time that the leader has left to them. Each is an epoch. */
  private var evaluations = Seq.empty[ResultHeaders]
  private var leftSeconds = 0.0

  /** The last evaluation. */
  private var last: Passed = _

  /** Iterates from `start` until convergence or until no rounds are left. */
  def run(start: Reached): Reached = Using.resource(holder(space, start.model))(iterated(start, _))

  private def iterated(start: Reached, holder: SearchHolder): Reached = {
    val vectors = new SearchVectors(holder, l1 > 0.0, memory)
    // Far from the optimum, paths that differ by rounding are apart after as many iterations: a few more, and no model is worse than Spark's.
    val more = if (problem.isAuto) problem.maxRounds / MoreThan else 0
    val most = problem.maxRounds - timeline.rounds + more
    var clock = System.nanoTime()
    val iterations = new LimitedMemory(vectors, l1 > 0.0, most, tolerance).iterations
    var reached = start
    var certified = 0
    // To ask whether there is another iteration is to make it.
    while (!proof.exists(_.suffices(reached.objective, problem.aim)) && iterations.hasNext) {
      val iteration = iterations.next()
      val value = iteration.found.value
      // The first one is the start. After a failed search, the point is the one before it.
      if (iteration.number > 0 && evaluations.nonEmpty) {
        val since = iteration.number - certified
        val isNear = reached.objective - value <= problem.aim * value &&
          proof.exists(_.suffices(value, Near * problem.aim))
        if (!iteration.hasFailed && (since >= MostIterations || isNear && since >= LeastIterations)) {
          proof.foreach(_.renew(vectors.model, last))
          certified = iteration.number
        }
        timeline.add(
          value + slack,
          value + slack - proof.fold(Double.NaN)(_.lowerBound),
          clock,
          driverSeconds = (System.nanoTime() - clock) * 1e-9 - leftSeconds,
          evaluations.size.toDouble,
          evaluations.last,
          earlierWork = evaluations.init.map(_.largest(ResultHeader.SOLVER_NANOS) * 1e-9).sum)
      }
      clock = System.nanoTime()
      evaluations = Seq.empty
      leftSeconds = 0.0
      reached = reached.copy(objective = value, converged = iteration.end.exists(_ != LimitedMemory.MaxIterations))
    }
    val converged = reached.converged || proof.exists(_.suffices(reached.objective, problem.tolerance))
    // A start that suffices has no evaluation.
    val model = if (reached eq start) start.model else passes.read(vectors.model)
    Reached(model, reached.objective, converged)
  }

  /**
   * Spark's rule is the relative decrease of the last iterations. With a proof to come, it only notices that there is none. The proof of
   * an L1 penalty alone lags far behind the model.
   */
  private def tolerance: Double =
    if (proof.isEmpty || task.objective.penalty.l2 == 0.0) problem.tolerance else problem.tolerance * Standstill

  /** The workers have long vectors, if they can, and are as many as the threads by which a leader would do the work. A message has a slice of four vectors. */
  private def holder(space: SearchSpace, model: Array[Double]): SearchHolder = {
    val start = scaled(model, space.scales)
    val total = facts.labels.totalWeight
    passes.together.filter(w => w.members >= MostThreads && isLong && blocks.length / w.members < LargestSlice) match {
      case Some(workers) =>
        new SharedSearch(left(workers), blocks, space, start, total, memory, passes.gradient)(noted)
      case None => new LeaderSearch(blocks, space, start, total, memory, threads)(evaluated)
    }
  }

  /** The workers, with the time that the leader leaves to them. */
  private def left(
      workers: Workers.Together[SearchMessage, SearchAnswer]): Workers.Together[SearchMessage, SearchAnswer] =
    new Workers.Together[SearchMessage, SearchAnswer] {
      override def members: Int = workers.members

      override def apply(
          message: SearchMessage,
          bounds: SliceBounds,
          vectors: Seq[Array[Byte]]): Replies[SearchAnswer] = {
        val asked = System.nanoTime()
        try workers(message, bounds, vectors)
        finally leftSeconds += (System.nanoTime() - asked) * 1e-9
      }
    }

  /** Whether the vectors are long, and blocks too, so that sums by block take nothing beside them. */
  private def isLong: Boolean = blocks.length >= LongVectors && blocks.number <= blocks.length / LeastOfBlock

  private def evaluated(model: Array[Byte]): Passed = {
    val asked = System.nanoTime()
    val passed = note(passes.pass(model, None, s"${timeline.rounds} rounds, line search"))
    leftSeconds += (System.nanoTime() - asked) * 1e-9 - passed.addSeconds
    passed
  }

  private def noted(headers: ResultHeaders, intercepts: Array[Double]): Double =
    note(Passed(passes.meanLoss(headers), Array.emptyDoubleArray, intercepts, headers, addSeconds = 0.0)).loss

  private def note(passed: Passed): Passed = {
    evaluations :+= passed.headers
    last = passed.copy(sums = Array.emptyDoubleArray)
    passed
  }

  /** The coordinates of a model, in the layout of a pass. */
  private def scaled(model: Array[Double], scales: Array[Double]): Array[Double] = {
    val theta = passes.ofPass(model).clone
    for (c <- 0 until task.outputs) {
      val first = c * (n + 1)
      var j = 0
      while (j < n) {
        if (facts.mean != null) theta(first + n) += facts.mean(j) * theta(first + j)
        theta(first + j) *= scales(j)
        j += 1
      }
    }
    theta
  }
}

private[solver] object QuasiNewton {

  /** The bytes of the leader's vectors, with all corrections. */
  def bytes(numFeatures: Int, outputs: Int): Long = bytes(numFeatures, outputs, Memory)

  /** Whether the leader has room for its vectors, with a few corrections at least. */
  def hasRoom(numFeatures: Int, outputs: Int, memory: Long): Boolean =
    bytes(numFeatures, outputs, FewCorrections) <= memory / Share

  /** The corrections that a leader with so many bytes of memory keeps. */
  private[rows] def corrections(numFeatures: Int, outputs: Int, memory: Long): Int =
    (FewCorrections to Memory).reverse.find(bytes(numFeatures, outputs, _) <= memory / Share).getOrElse(FewCorrections)

  /** From so many coordinates on, work and transport of vectors take longer than two more messages an iteration. */
  private val LongVectors = 1 << 18
  private val LeastOfBlock = 1 << 12
  private val LargestSlice = 1 << 25

  /** Corrections, in single precision, and some vectors at work. */
  private def bytes(numFeatures: Int, outputs: Int, corrections: Int): Long =
    (2L * corrections * 4L + 14L * 8L) * numFeatures * outputs

  /** Iterations from one certificate to the next, at most, and at least where the proof is near. */
  private val MostIterations = 10
  private val LeastIterations = 3

  /** The part of the iterations that a fit which chooses its methods itself may make beyond its maximum is one over this. */
  private val MoreThan = 10

  /** A relative gap of so many times the one that is aimed at is near. */
  private val Near = 200.0

  /** An iteration that decreases the objective by less than this part of the tolerance brings no proof nearer. */
  private val Standstill = 1e-3

  /** Number of corrections that the optimizer keeps, as in Spark, and where they have no room. */
  private val Memory = 10
  private val FewCorrections = 3

  /** The leader's vectors take half of its memory, at most. */
  private val Share = 2L

  /** The leader works while all workers wait, so that it may take their cores. More threads would wait for memory. */
  private val MostThreads = 4
  private def threads: Int = math.min(MostThreads, Runtime.getRuntime.availableProcessors)
}
