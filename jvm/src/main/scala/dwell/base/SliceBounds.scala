package dwell.base

/** Cuts a vector into slices of consecutive entries. */
trait SliceBounds extends Serializable {

  /** The number of slices. */
  def count: Int

  /** The first entry of a slice; for `count` the number of all entries. */
  def start(slice: Int): Int

  /** The number of entries of a slice. */
  final def size(slice: Int): Int = start(slice + 1) - start(slice)
}

object SliceBounds {

  /** Cuts `entries` entries into slices about equally long. With more slices than entries some are empty. */
  def apply(entries: Int, slices: Int): SliceBounds = new SliceBounds {
    override def count: Int = slices
    override def start(slice: Int): Int = (entries.toLong * slice / slices).toInt
  }
}
