package dwell.solver.newton.leader

import dwell.jni.NativeBridge

/**
 * The minimum of a quadratic model.
 *
 * @param step
 *   from the point of the model to its minimum
 * @param decrease
 *   how far the model falls
 * @param slope
 *   see [[Newton]]
 * @param offset
 *   see [[Newton]]
 * @param dropped
 *   variables that others explain, as far as the Hessian tells. `slope` leaves them out
 * @param balanced
 *   whether the step balances their slopes, as it does if others explain them
 */
private[newton] final case class QuadraticStep(
    step: Array[Double],
    decrease: Double,
    slope: Double,
    offset: Double,
    dropped: Seq[Int],
    balanced: Boolean)

/**
 * The penalty of a linear model by variable, and which variables move where.
 *
 * @param l1
 *   factor of the absolute value of each variable
 * @param l2
 *   factor of half of its square
 * @param fixed
 *   variables that stay where they are
 * @param box
 *   least and largest values of the variables
 */
private[newton] final class QuadraticModel(
    val l1: Array[Double],
    val l2: Array[Double],
    val fixed: Array[Boolean],
    box: Box,
    outputs: Int) {
  private val n = l1.length

  /** The penalty at `x`. */
  def penalty(x: Array[Double]): Double = {
    var sum = 0.0
    var j = 0
    while (j < n) {
      sum += l1(j) * math.abs(x(j)) + 0.5 * l2(j) * (x(j) * x(j))
      j += 1
    }
    sum
  }

  /**
   * Minimises gradient and Hessian of the losses, and the penalty, over the steps from `at`.
   *
   * @param hessian
   *   a vector that holds the triangles of the Hessian from position `triangles` on
   * @param objective
   *   the objective at `at`
   * @param reach
   *   receives the norm of each unit vector in the inverse of Hessian and L2 penalty; null for none
   */
  def minimise(
      hessian: Array[Double],
      triangles: Int,
      gradient: Array[Double],
      at: Array[Double],
      objective: Double,
      reach: Array[Double]): QuadraticStep = {
    val step = new Array[Double](n)
    val bound = new Array[Double](4)
    val dropped = new Array[Boolean](n)
    NativeBridge.newtonModel(
      hessian,
      triangles,
      outputs,
      gradient,
      at,
      l1,
      l2,
      fixed,
      box.lower,
      box.upper,
      objective,
      QuadraticModel.threads,
      step,
      reach,
      dropped,
      bound)
    QuadraticStep(step, bound(0), bound(1), bound(2), (0 until n).filter(dropped(_)), bound(3) > 0.0)
  }

  /** Whether predictions of several outputs, of which only differences count, leave an entry's variables free to move alike. */
  def isInvariant(entry: Int): Boolean = outputs > 1 && (0 until outputs).forall(c => !fixed(c * (n / outputs) + entry))

  /** The same where these entries of a row do not move. */
  def fixing(entries: Set[Int]): QuadraticModel = {
    val perOutput = n / outputs
    new QuadraticModel(l1, l2, Array.tabulate(n)(j => fixed(j) || entries(j % perOutput)), box, outputs)
  }

  /**
   * What is left of the features that others explain, as far as the Hessian tells.
   *
   * @param dropped
   *   features that count as explained in any case
   */
  def remainders(
      hessian: Array[Double],
      triangles: Int,
      shape: ModelShape,
      dropped: Set[Int] = Set.empty): Seq[Remainder] = {
    val row = shape.copy(hasScale = false, outputs = 1)
    // The entry of the scale is not a feature.
    val isOut = Array.tabulate(shape.perOutput) { e =>
      e >= row.variables || (0 until outputs).forall(c => fixed(c * shape.perOutput + e))
    }
    NativeBridge
      .newtonRemainders(
        hessian,
        triangles,
        outputs,
        isOut,
        Array.tabulate(isOut.length)(dropped),
        QuadraticModel.threads)
      .grouped(shape.perOutput + 1)
      .map(found => Remainder(found.head.toInt, found.slice(1, row.variables + 1)))
      .toSeq
  }

  /** The point that a part of a step leads to, within the box. */
  def moved(at: Array[Double], step: Array[Double], length: Double): Array[Double] =
    Array.tabulate(n)(j => box.clip(j, at(j) + length * step(j)))
}

private[newton] object QuadraticModel {

  /** All workers wait for the leader. */
  private def threads: Int = math.min(MostThreads, Runtime.getRuntime.availableProcessors)

  private val MostThreads = 4

  /**
   * The penalty of a task, and which variables move: constant features do not.
   *
   * @param variances
   *   of each feature; those of constant features become 0
   */
  def of(task: NewtonTask, variances: Array[Double]): QuadraticModel = {
    val (problem, shape) = (task.problem, task.shape)
    val penalty = problem.penalty
    task.facts.constant.foreach(variances(_) = 0.0)
    val squares =
      shape.tabulate(0.0)(j => if (penalty.scaleFactor == 0.0) 1.0 else variances(j) * penalty.scaleFactor)
    val fixed = Array.tabulate(shape.variables) { variable =>
      val j = variable % shape.perOutput
      val isIntercept = j >= shape.features
      // The softmax does not change where all outputs of a feature, or all intercepts, do alike.
      val stands = shape.outputs > 1 && variable / shape.perOutput == shape.outputs - 1 && problem.bounds.isEmpty
      (!isIntercept && variances(j) == 0.0) || (stands && (isIntercept || penalty.isNone))
    }
    new QuadraticModel(
      squares.map(u => penalty.l1 * math.sqrt(u)),
      squares.map(penalty.l2 * _),
      fixed,
      Box.of(problem.bounds, shape),
      shape.outputs)
  }
}
