package dwell.solver.sgd.leader

/**
 * The model after some rounds.
 *
 * @param model
 *   in the layout of [[dwell.jni.SgdLayout]]
 * @param objective
 *   F of the model, as the rounds have measured it
 */
private[sgd] final case class Reached(model: Array[Double], objective: Double, converged: Boolean)
