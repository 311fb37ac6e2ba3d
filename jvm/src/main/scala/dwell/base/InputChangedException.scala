package dwell.base

/**
 * Cached data was lost, was computed again, and came out different. Training cannot go on, since part of it has been
 * done on the earlier rows.
 */
final class InputChangedException(message: String) extends IllegalStateException(message)
