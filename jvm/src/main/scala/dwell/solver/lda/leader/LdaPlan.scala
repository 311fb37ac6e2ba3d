package dwell.solver.lda.leader

import dwell.comm.Replicas
import dwell.comm.wire.Numbers
import dwell.fit.{Attempt, FitPlan, Timeline}
import dwell.record.RoundRecord
import dwell.solver.lda.worker.{LdaMessage, LdaProblem, LdaReply}

/** A fit of topics by model averaging. */
private[solver] final case class LdaPlan(id: Long, task: LdaTask) extends FitPlan[LdaMessage, LdaReply, TrainedTopics] {

  override def problem: LdaProblem = task.problem

  override def vectorLength: Int = task.vectorLength

  override def numbers: Numbers = Numbers.Floats

  /** The topics are too long: each has an entry for every word of the vocabulary. */
  override def fitsDriver: Boolean = false

  override def lead(workers: Replicas[LdaMessage, LdaReply], attempt: Attempt)(
      completed: RoundRecord => Unit): TrainedTopics = {
    val asked = new LdaWorkers(workers, task, attemptId(attempt.number))
    val timeline = new Timeline(completed)
    timeline.begin(Double.NaN, Double.NaN)
    new LdaAveraging(asked, task, attempt, timeline).run()
  }
}
