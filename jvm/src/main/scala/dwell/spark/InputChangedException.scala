package dwell.spark

/**
 * Spark lost cached data and computed it again, and the new rows differ from the old ones. Training cannot go on,
 * because the rounds so far used the old rows.
 */
final class InputChangedException(message: String) extends IllegalStateException(message)
