package dwell.solver.network

import dwell.base.LittleEndian
import dwell.comm.Replicas
import dwell.fit.{Attempt, FitPlan, ResultHeaders, Timeline}
import dwell.jni.PassLayout
import dwell.record.{FitFacts, RoundRecord}
import dwell.solver.average.ModelWorkers
import dwell.solver.pass.NetworkPass

/**
 * A fit of a network by model averaging.
 *
 * @param rows
 *   of each partition
 */
private[solver] final case class NetworkAveragingPlan(id: Long, problem: NetworkProblem, rows: Array[Int])
    extends FitPlan[NetworkMessage, Unit, NetworkSolution] {

  override def vectorLength: Int = problem.start.length

  override def lead(workers: Replicas[NetworkMessage, Unit], attempt: Attempt)(
      completed: RoundRecord => Unit): NetworkSolution = {
    val timeline = new Timeline(completed)
    val total = rows.map(_.toDouble).sum
    def meanLoss(weights: Array[Double]): Double = {
      val pass = NetworkLosses(NetworkPass(problem.layers, vectorLength, problem.settings.threads))
      val gathered = workers.exchange(pass, LittleEndian.bytes(weights), s"dwell ${problem.uid}: losses")
      new ResultHeaders(gathered.headers).sum(PassLayout.LOSS_SUM) / total
    }
    val objective = meanLoss(problem.start)
    timeline.begin(objective, Double.NaN)
    val asked = new ModelWorkers(workers, problem.uid)
    val (weights, converged) =
      new NetworkAveraging(asked, problem, rows.map(_ / total), attempt, timeline, objective).run()
    NetworkSolution(
      weights,
      FitFacts(
        algorithm = problem.algorithm.name,
        rounds = timeline.records,
        objective = meanLoss(weights),
        tolerance = problem.tolerance,
        converged = converged))
  }
}
