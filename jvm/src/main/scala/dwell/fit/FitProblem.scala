package dwell.fit

/** The part of a problem that [[FitRunner]] reads. */
trait FitProblem extends Serializable {

  /** Uid of the estimator. */
  def uid: String

  /** How messages and updates travel; None chooses by what the cluster allows. */
  def aggregation: Option[Aggregation]

  /** How the workers solve. */
  def settings: SolverSettings
}
