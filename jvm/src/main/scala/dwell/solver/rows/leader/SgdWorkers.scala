package dwell.solver.rows.leader

import java.io.Serializable

import dwell.base.LittleEndian
import dwell.comm.Replicas
import dwell.fit.ResultHeaders
import dwell.jni.SgdLayout
import dwell.solver.average.ModelWorkers
import dwell.solver.rows.worker.{DescendCall, SearchCall, SgdCall, SgdMessage}

/** The workers of a fit, for its leader. It turns calls into messages, and the workers' replies into sums. */
private[rows] final class SgdWorkers(workers: Replicas[SgdMessage, Unit], task: RowTask)
    extends ModelWorkers(workers, task.problem.uid) {

  /** Lets every worker descend from model `from`. The sum of their updates becomes model `to` of all workers. */
  def average(call: DescendCall, from: Long, to: Long, kept: Set[Long], note: Serializable, what: String): Averaged = {
    val replies = workers.allReduce(message(call), from, to, kept, Some(note), described(what))
    Averaged(new ResultHeaders(replies.headers), replies.addSeconds)
  }

  /** Fetches model `version` from the workers. */
  def collect(version: Long): Array[Double] = LittleEndian.doubles(collected(version))

  /** For each candidate, the mean objective after local descent from model `from`, weighted over the partitions. */
  def search(call: SearchCall, from: Long): Array[Double] = {
    val replies = workers.ask(message(call), from, described("step search"))
    val headers = new ResultHeaders(replies.headers)
    val weights = headers.slot(SgdLayout.WEIGHT_SUM)
    call.candidates.indices.map { i =>
      val objectives = headers.slot(SgdLayout.OBJECTIVES + i)
      weights.indices.filter(weights(_) > 0.0).map(k => weights(k) * objectives(k)).sum / weights.sum
    }.toArray
  }

  private def message(call: SgdCall): SgdMessage =
    SgdMessage(task.problem.seed, task.objective, call)
}

/** The workers' reports of a round of local descent. */
private[rows] final case class Averaged(headers: ResultHeaders, addSeconds: Double)
