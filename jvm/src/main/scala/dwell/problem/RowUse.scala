package dwell.problem

/** What workers do with their rows. It decides how many workers pay, and which rows may be together in a partition. */
sealed trait RowUse

object RowUse {

  /** Steps along coordinates of their own. A worker takes its rows for a picture of all, so each is dealt its share. */
  case object Coordinates extends RowUse

  /** Sums over all rows. They are the same, up to rounding, wherever the rows are. */
  case object Sums extends RowUse

  /** Each worker fits a model of its own rows, and the models are averaged: every partition must be a sample of the whole. */
  case object Averages extends RowUse
}
