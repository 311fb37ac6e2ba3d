package dwell.solver.newton.leader

import dwell.comm.Replicas
import dwell.fit.{Attempt, FitPlan}
import dwell.jni.PassLayout
import dwell.problem.{MarginLoss, RowLoss}
import dwell.record.RoundRecord
import dwell.solver.linear.{LinearProblem, LinearSolution}
import dwell.solver.pass.PassMessage

/** A fit by Newton's method. Another attempt begins anew: a fit is a few passes. */
private[solver] final case class NewtonPlan(id: Long, task: NewtonTask)
    extends FitPlan[PassMessage, Unit, LinearSolution] {

  override def problem: LinearProblem = task.problem

  override def vectorLength: Int = PassLayout.entries(task.facts.numFeatures, task.shape.more, task.loss.outputs)

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
