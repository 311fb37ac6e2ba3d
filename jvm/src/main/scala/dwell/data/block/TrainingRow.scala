package dwell.data.block

/** Positions of the columns of training data in the rows that are read. Rows of weight 0 are validated and left out. */
object TrainingRow {

  /** A double. */
  val Label = 0

  /** A double. */
  val Weight = 1

  /** A vector. */
  val Features = 2

  /** An integer, where a column names the folds of a search. */
  val Fold = 3
}
