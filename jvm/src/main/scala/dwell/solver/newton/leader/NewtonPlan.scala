package dwell.solver.newton.leader

import dwell.comm.Replicas
import dwell.fit.{Attempt, FitPlan}
import dwell.jni.PassLayout
import dwell.problem.{MarginLoss, RowLoss}
import dwell.record.RoundRecord
import dwell.solver.linear.{FirstPass, LinearProblem, LinearSolution}
import dwell.solver.pass.{PassMessage, PassSums}

/** A fit by Newton's method. Another attempt begins anew: a fit is a few passes. */
private[solver] final case class NewtonPlan(id: Long, task: NewtonTask)
    extends FitPlan[PassMessage, Unit, LinearSolution] {

  override def problem: LinearProblem = task.problem

  override def vectorLength: Int = PassLayout.entries(task.facts.numFeatures, task.shape.more, task.loss.outputs)

  /** The sums of an earlier pass may be all that it needs. */
  override def isBrief: Boolean = task.first.nonEmpty

  override def lead(workers: Replicas[PassMessage, Unit], attempt: Attempt)(
      completed: RoundRecord => Unit): LinearSolution = {
    val passing = new PassWorkers(workers, task)
    val solution = task.loss match {
      case loss: RowLoss if loss.hasCorner => new ProximalHinge(loss, passing, task, completed).run()
      case _ => new Newton(passing, task, completed).run()
    }
    task.loss match {
      case loss: MarginLoss if loss.hasCorner =>
        solution.copy(facts = solution.facts.copy(oneClass = OneClass.share(passing, task, loss, solution)))
      case _ => solution
    }
  }
}

/**
 * The first pass of a fit by Newton's method, alone.
 *
 * @param at
 *   the model of the pass, with the intercept of centred features
 */
private[solver] final case class FirstPassPlan(id: Long, task: NewtonTask, at: Array[Double])
    extends FitPlan[PassMessage, Unit, FirstPass] {

  override def problem: LinearProblem = task.problem

  override def vectorLength: Int = PassLayout.entries(task.facts.numFeatures, task.shape.more, task.loss.outputs)

  override def isBrief: Boolean = true

  override def lead(workers: Replicas[PassMessage, Unit], attempt: Attempt)(completed: RoundRecord => Unit): FirstPass =
    new PassWorkers(workers, task)
      .pass(
        at,
        PassSums(gradient = true, hessian = true, moments = true),
        Array.emptyDoubleArray,
        None,
        "moments of a fold")
      .asFirst(at)
}
