package dwell.solver.cd.jvm

import dwell.base.ResultLayout

/**
 * A partition's share of the duality gap.
 *
 * @param conjugate
 *   primal: sum of the penalty's conjugates
 * @param ratio
 *   primal: largest ratio of a correlation to the penalty
 * @param correlation
 *   primal: largest ratio of a correlation to the norm of its column
 * @param losses
 *   dual: loss at each of the candidates
 */
private[solver] final case class Certificate(
    conjugate: Double,
    ratio: Double,
    correlation: Double,
    losses: Array[Double])

private[solver] object Certificate {
  val None: Certificate = ofLosses(Array.emptyDoubleArray)

  def ofLosses(losses: Array[Double]): Certificate = Certificate(Double.NaN, Double.NaN, Double.NaN, losses)
}

/** What a call measured, for the header of its result. */
private[solver] final case class Measured(
    valueBefore: Double,
    certificate: Certificate,
    coordinates: Long,
    nonzeros: Long,
    kappa: Double,
    along: LineTerms) {

  def write(result: Array[Byte], startNanos: Long, stamp: Long, stateBytes: Long): Unit = {
    def put(slot: Int, value: Double): Unit = ResultLayout.put(result, slot, value)
    (0 until ResultLayout.FirstFreeSlot).foreach(put(_, 0.0))
    put(ResultLayout.ValueBefore, valueBefore)
    put(ResultLayout.ValueAfter, along.value)
    put(ResultLayout.Conjugate, certificate.conjugate)
    put(ResultLayout.Ratio, certificate.ratio)
    put(ResultLayout.Correlation, certificate.correlation)
    put(ResultLayout.Coordinates, coordinates.toDouble)
    put(ResultLayout.Nonzeros, nonzeros.toDouble)
    put(ResultLayout.StateBytes, stateBytes.toDouble)
    put(ResultLayout.Stamp, stamp.toDouble)
    put(ResultLayout.Kappa, kappa)
    put(ResultLayout.Slope1, along.slope1)
    put(ResultLayout.Slope2, along.slope2)
    put(ResultLayout.Curve11, along.curve11)
    put(ResultLayout.Curve12, along.curve12)
    put(ResultLayout.Curve22, along.curve22)
    along.samples.zipWithIndex.foreach { case (sample, k) => put(ResultLayout.Samples + k, sample) }
    certificate.losses.zipWithIndex.foreach { case (loss, c) => put(ResultLayout.Losses + c, loss) }
    put(ResultLayout.SolverNanos, (System.nanoTime() - startNanos).toDouble)
  }
}
