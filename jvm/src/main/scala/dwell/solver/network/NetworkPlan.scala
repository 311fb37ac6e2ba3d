package dwell.solver.network

import dwell.base.LittleEndian
import dwell.comm.Replicas
import dwell.fit.{Attempt, FitPlan, ResultHeaders, Timeline}
import dwell.jni.PassLayout
import dwell.record.{FitFacts, RoundRecord}
import dwell.solver.pass.NetworkPass
import dwell.solver.rows.search.{BreezeRounds, BreezeSearch}

/**
 * A fit of a network by Breeze's L-BFGS, as Spark runs it. The workers compute losses and gradient.
 *
 * @param numRows
 *   of all workers
 */
private[solver] final case class NetworkPlan(id: Long, problem: NetworkProblem, numRows: Long)
    extends FitPlan[NetworkPass, Unit, NetworkSolution] {

  override def vectorLength: Int = problem.start.length

  override def lead(workers: Replicas[NetworkPass, Unit], attempt: Attempt)(
      completed: RoundRecord => Unit): NetworkSolution = {
    val timeline = new Timeline(completed)
    val rounds = new BreezeRounds(timeline)
    val pass = NetworkPass(problem.layers, vectorLength, problem.settings.threads)
    def evaluated(weights: Array[Double]): (Double, Array[Double]) = {
      val asked = System.nanoTime()
      val what = s"dwell ${problem.uid}: ${timeline.rounds} rounds, line search"
      val gathered = workers.exchange(pass, LittleEndian.bytes(weights), what)
      val headers = new ResultHeaders(gathered.headers)
      rounds.note(asked, headers, gathered.addSeconds)
      (headers.sum(PassLayout.LOSS_SUM) / numRows, gathered.sum.map(_ / numRows))
    }
    val search = BreezeSearch.free(problem.maxRounds, problem.tolerance)(evaluated)
    val last = rounds.run(search.iterations(problem.start))
    NetworkSolution(
      last.x,
      FitFacts(
        algorithm = problem.algorithm.name,
        rounds = timeline.records,
        objective = last.value,
        tolerance = problem.tolerance,
        converged = last.converged))
  }
}
