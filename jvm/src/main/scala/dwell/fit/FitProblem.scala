package dwell.fit

/** What is to be trained, as far as those need to know it who run the rounds. */
trait FitProblem extends Serializable {

  /** Of the estimator. */
  def uid: String

  /** How messages and updates travel; None chooses by what the cluster allows. */
  def aggregation: Option[Aggregation]

  def settings: SolverSettings
}
