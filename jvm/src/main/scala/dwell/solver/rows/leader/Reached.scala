package dwell.solver.rows.leader

/**
 * The model after some rounds.
 *
 * @param model
 *   in the layout of [[dwell.jni.SgdLayout]]
 * @param objective
 *   F of the model, as the rounds have measured it
 */
private[rows] final case class Reached(model: Array[Double], objective: Double, converged: Boolean)
