package dwell.solver.sgd.jvm

import dwell.jni.{ResultHeader, SgdLayout}
import dwell.base.Arguments
import dwell.data.RowData
import dwell.solver.problem.StepSchedule
import dwell.solver.sgd.contract.{Descend, Evaluate, Search, SgdProblem}

/** Checks the arguments of [[JvmSgd]]. Each check throws an IllegalArgumentException that names the argument. */
private[sgd] object SgdArguments {
  import Arguments._

  /** Checks the arguments of [[JvmSgd.descend]]. */
  def check(data: RowData, r: Descend, shared: Array[Byte], result: Array[Byte]): Unit = {
    problem(data, r.problem, shared)
    withVector(data, r.problem, result)
    schedule(r.schedule)
    firstStep("eta0", r.schedule.eta0, r.problem)
    place(r.budget, r.cursor, r.steps)
    require(r.share >= 0.0 && r.share <= 1.0, s"share = ${r.share}: must be 0 to 1")
  }

  /** Checks the arguments of [[JvmSgd.search]]. */
  def check(data: RowData, r: Search, shared: Array[Byte], result: Array[Byte]): Unit = {
    problem(data, r.problem, shared)
    require(
      result.length == ResultHeader.BYTES,
      s"result has ${result.length} bytes, but a search needs ${ResultHeader.BYTES}")
    schedule(r.schedule)
    require(
      r.candidates.nonEmpty && r.candidates.length <= SgdLayout.MAX_CANDIDATES,
      s"${r.candidates.length} candidates, but there must be 1 to ${SgdLayout.MAX_CANDIDATES}")
    r.candidates.foreach(firstStep("a candidate", _, r.problem))
    place(r.budget, r.cursor, r.steps)
  }

  /** Checks the arguments of [[JvmSgd.evaluate]]. */
  def check(data: RowData, r: Evaluate, shared: Array[Byte], result: Array[Byte]): Unit = {
    problem(data, r.problem, shared)
    withVector(data, r.problem, result)
    finite("factor", Array(r.factor))
  }

  private def problem(data: RowData, problem: SgdProblem, shared: Array[Byte]): Unit = {
    val p = data.partition
    sameLength("scale", data.scale, p.features, "features")
    sameLength("labels", p.labels, p.numRows, "rows")
    sameLength("weights", p.weights, p.numRows, "rows")
    atLeastZero("l1", problem.l1)
    atLeastZero("l2", problem.l2)
    positive("weight factor", problem.weightFactor)
    problem.loss.labels.check(p.labels, problem.loss.toString)
    val expected = 8L * SgdLayout.entries(p.features, problem.loss.outputs)
    require(
      shared.length == expected,
      s"shared has ${shared.length} bytes, but ${p.features} features and ${problem.loss.outputs} outputs need $expected")
  }

  private def withVector(data: RowData, problem: SgdProblem, result: Array[Byte]): Unit = {
    val (features, outputs) = (data.partition.features, problem.loss.outputs)
    val expected = SgdLayout.length(features, outputs)
    require(
      result.length == expected,
      s"result has ${result.length} bytes, but $features features and $outputs outputs need $expected")
  }

  private def schedule(schedule: StepSchedule): Unit = atLeastZero("rate", schedule.rate)

  private def firstStep(name: String, eta0: Double, problem: SgdProblem): Unit = {
    positive(name, eta0)
    require(
      eta0 * problem.l2 < 1.0,
      s"$name = $eta0: times l2 = ${problem.l2} it must be less than 1, or a step would turn coefficients round")
  }

  private def place(budget: Long, cursor: Long, steps: Long): Unit = {
    require(budget >= 1L, s"budget = $budget: must be at least 1")
    require(cursor >= 0L, s"cursor = $cursor: must be at least 0")
    require(steps >= 0L, s"steps = $steps: must be at least 0")
  }
}
