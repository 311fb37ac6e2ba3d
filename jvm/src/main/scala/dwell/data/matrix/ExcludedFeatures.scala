package dwell.data.matrix

/** Features whose nonzeros are left out of partitions of rows. */
private[data] final class ExcludedFeatures(val indices: Array[Int], numFeatures: Int) {
  private val excluded = if (indices.isEmpty) null else new Array[Boolean](numFeatures)
  indices.foreach(excluded(_) = true)

  def apply(feature: Int): Boolean = excluded != null && excluded(feature)
}

private[data] object ExcludedFeatures {
  val None = new ExcludedFeatures(Array.emptyIntArray, 0)
}
