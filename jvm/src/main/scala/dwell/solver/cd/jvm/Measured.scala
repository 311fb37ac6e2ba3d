package dwell.solver.cd.jvm

import dwell.jni.{CdLayout, ResultHeader}

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

  /** A certificate of the dual orientation. */
  def ofLosses(losses: Array[Double]): Certificate = Certificate(Double.NaN, Double.NaN, Double.NaN, losses)
}

/** The measurements of a call, for the header of its result. [[CdLayout]] describes the slots. */
private[solver] final case class Measured(
    valueBefore: Double,
    certificate: Certificate,
    coordinates: Long,
    nonzeros: Long,
    kappa: Double,
    along: LineTerms) {

  /** Writes all slots of the header up to [[ResultHeader.FIRST_FREE]]. */
  def write(result: Array[Byte], startNanos: Long, stamp: Long, stateBytes: Long): Unit = {
    def put(slot: Int, value: Double): Unit = ResultHeader.put(result, slot, value)
    (0 until ResultHeader.FIRST_FREE).foreach(put(_, 0.0))
    put(CdLayout.VALUE_BEFORE, valueBefore)
    put(CdLayout.VALUE_AFTER, along.value)
    put(CdLayout.CONJUGATE, certificate.conjugate)
    put(CdLayout.RATIO, certificate.ratio)
    put(CdLayout.CORRELATION, certificate.correlation)
    put(CdLayout.COORDINATES, coordinates.toDouble)
    put(ResultHeader.NONZEROS, nonzeros.toDouble)
    put(ResultHeader.STATE_BYTES, stateBytes.toDouble)
    put(CdLayout.STAMP, stamp.toDouble)
    put(CdLayout.KAPPA, kappa)
    put(CdLayout.SLOPE1, along.slope1)
    put(CdLayout.SLOPE2, along.slope2)
    put(CdLayout.CURVE11, along.curve11)
    put(CdLayout.CURVE12, along.curve12)
    put(CdLayout.CURVE22, along.curve22)
    along.samples.zipWithIndex.foreach { case (sample, k) => put(CdLayout.SAMPLES + k, sample) }
    certificate.losses.zipWithIndex.foreach { case (loss, c) => put(CdLayout.LOSSES + c, loss) }
    put(ResultHeader.SOLVER_NANOS, (System.nanoTime() - startNanos).toDouble)
  }
}
