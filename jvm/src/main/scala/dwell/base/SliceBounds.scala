package dwell.base

/**
 * Cuts `length` entries into `count` slices of consecutive entries, about equally long. With more slices than entries
 * some are empty.
 */
private[dwell] final case class SliceBounds(length: Int, count: Int) {

  /** The first entry of a slice; `length` for `count`. */
  def start(slice: Int): Int = (length.toLong * slice / count).toInt

  /** The number of entries of a slice. */
  def size(slice: Int): Int = start(slice + 1) - start(slice)
}
