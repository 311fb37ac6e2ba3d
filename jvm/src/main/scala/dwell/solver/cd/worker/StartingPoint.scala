package dwell.solver.cd.worker

import dwell.data.{ColumnData, LocalData}

/** Coordinates to start from. */
sealed trait StartingPoint extends Serializable {

  /**
   * The coordinates of the partition `data`, in local order; None to start from zero.
   *
   * @param states
   *   the state of this partition that a fit has left with this worker
   */
  def coordinates(data: LocalData, states: Long => Option[WorkerState]): Option[Array[Double]]
}

/** Coefficients of all features, for columns. */
final case class FromCoefficients(coefficients: Array[Double]) extends StartingPoint {
  override def coordinates(data: LocalData, states: Long => Option[WorkerState]): Option[Array[Double]] = data match {
    case ColumnData(partition, _) => Some(partition.columns.map(coefficients(_)))
    case _ => None
  }
}

/**
 * The coordinates that another fit on the same partitions has left with its workers, times `factor`. A worker takes the
 * first of the fits whose coordinates it holds, and starts from zero if it holds none.
 */
final case class FromFits(fits: Seq[Long], factor: Double) extends StartingPoint {
  override def coordinates(data: LocalData, states: Long => Option[WorkerState]): Option[Array[Double]] =
    fits.iterator
      .flatMap(states(_))
      .map(_.alpha)
      .find(_.length == data.coordinates)
      .map(_.map(_ * factor))
}
