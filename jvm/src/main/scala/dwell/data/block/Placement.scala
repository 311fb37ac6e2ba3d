package dwell.data.block

/** How rows or documents came to their partitions, in words for reports. */
private[data] object Placement {

  val left: String = "rows left where Spark has them"

  def dealt(reason: String): String = s"rows dealt by a shuffle, because $reason"
}
