package dwell.solver.sgd.worker

import dwell.data.RowData
import dwell.jni.{Cancellation, NativeBridge, SgdLayout}
import dwell.solver.problem.StepSchedule
import dwell.solver.sgd.contract.{Descend, Evaluate, Search, SgdProblem, SgdSolver}

/** The local solver of stochastic gradient descent in native code. */
private[solver] object NativeSgd extends SgdSolver {

  override def descend(
      data: RowData,
      r: Descend,
      shared: Array[Byte],
      result: Array[Byte],
      cancellation: Cancellation): Unit =
    call(
      NativeBridge.sgdDescend,
      data,
      control(
        data,
        r.fit,
        r.problem,
        seed = r.seed,
        flags = if (r.running) NativeBridge.SGD_RUNNING else 0L,
        budget = r.budget,
        cursor = r.cursor,
        steps = r.steps,
        schedule = r.schedule.kind.code),
      SgdLayout.descent(
        r.problem.loss.gamma,
        r.problem.l1,
        r.problem.l2,
        r.problem.weightFactor,
        r.schedule.eta0,
        r.schedule.rate,
        r.share),
      shared,
      result,
      cancellation)

  override def search(
      data: RowData,
      r: Search,
      shared: Array[Byte],
      result: Array[Byte],
      cancellation: Cancellation): Unit =
    call(
      NativeBridge.sgdSearch,
      data,
      control(
        data,
        r.fit,
        r.problem,
        seed = r.seed,
        flags = 0L,
        budget = r.budget,
        cursor = r.cursor,
        steps = r.steps,
        schedule = r.schedule.kind.code),
      SgdLayout.search(
        r.problem.loss.gamma,
        r.problem.l1,
        r.problem.l2,
        r.problem.weightFactor,
        r.schedule.rate,
        r.candidates),
      shared,
      result,
      cancellation)

  override def evaluate(
      data: RowData,
      r: Evaluate,
      shared: Array[Byte],
      result: Array[Byte],
      cancellation: Cancellation): Unit =
    call(
      NativeBridge.sgdEvaluate,
      data,
      control(
        data,
        r.fit,
        r.problem,
        seed = 0L,
        flags = if (r.dual.nonEmpty) NativeBridge.SGD_DUAL else 0L,
        budget = 1L,
        cursor = 0L,
        steps = 0L,
        schedule = StepSchedule.Constant.code),
      SgdLayout.evaluation(
        r.problem.loss.gamma,
        r.problem.l1,
        r.problem.l2,
        r.problem.weightFactor,
        r.factor,
        r.dual.getOrElse(Array.emptyDoubleArray)),
      shared,
      result,
      cancellation)

  /**
   * A native call: control, settings, the arrays of a partition, its scale, the shared vector, the result, and the
   * cancellation.
   */
  private type Native = (
      Array[Long],
      Array[Double],
      Array[Int],
      Array[Int],
      Array[Float],
      Array[Double],
      Array[Double],
      Array[Double],
      Array[Double],
      Array[Byte],
      Array[Byte],
      Cancellation) => Unit

  private def call(
      native: Native,
      data: RowData,
      control: Array[Long],
      settings: Array[Double],
      shared: Array[Byte],
      result: Array[Byte],
      cancellation: Cancellation): Unit = {
    val p = data.partition
    native(
      control,
      settings,
      p.offsets,
      p.indices,
      p.values32,
      p.values64,
      p.labels,
      p.weights,
      data.scale,
      shared,
      result,
      cancellation)
  }

  private def control(
      data: RowData,
      fit: Long,
      problem: SgdProblem,
      seed: Long,
      flags: Long,
      budget: Long,
      cursor: Long,
      steps: Long,
      schedule: Int): Array[Long] =
    SgdLayout.control(
      fit,
      data.index,
      seed,
      data.partition.features,
      problem.loss.code,
      problem.loss.outputs,
      flags | (if (problem.intercept) NativeBridge.SGD_INTERCEPT else 0L),
      budget,
      cursor,
      steps,
      schedule)
}
