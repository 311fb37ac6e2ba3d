package dwell.data.rows

/**
 * Statistics of each feature over all rows.
 *
 * @param scale
 *   see [[RowForm]]; null if every one is 1
 * @param mean
 *   weighted mean; null without an intercept
 * @param deviation
 *   population standard deviation; 0 for a constant feature
 */
final case class FeatureFacts(scale: Array[Double], mean: Array[Double], deviation: Array[Double])
