package dwell.solver.sgd.leader

/**
 * A model that some rounds have led to.
 *
 * @param model
 *   in the layout of [[dwell.jni.SgdLayout]]
 * @param objective
 *   F, as far as the rounds know it
 */
private[sgd] final case class Reached(model: Array[Double], objective: Double, converged: Boolean)
