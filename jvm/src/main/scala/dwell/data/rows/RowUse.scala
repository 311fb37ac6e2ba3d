package dwell.data.rows

import dwell.base.WorkerCount

/** What workers do with their rows. It decides how many workers pay, and which rows may be together in a partition. */
sealed trait RowUse {

  /** The nonzeros that pay for the overhead of one worker. */
  private[data] def worthAWorker(numFeatures: Int): Long = WorkerCount.NonzerosWorthAWorker
}

object RowUse {

  /** Steps along coordinates of their own. A worker takes its rows for a picture of all, so each is dealt its share. */
  case object Coordinates extends RowUse

  /** Sums over all rows. They are the same, up to rounding, wherever the rows are. */
  case object Sums extends RowUse {
    private[data] override def worthAWorker(numFeatures: Int): Long = WorkerCount.worthForSums(numFeatures)
  }

  /** Models of their own rows, which are averaged. They must be models of the same, so the rows must be alike. */
  case object Averages extends RowUse
}
