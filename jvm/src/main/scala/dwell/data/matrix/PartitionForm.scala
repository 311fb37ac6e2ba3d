package dwell.data.matrix

/**
 * How vectors of one length are stored: sparse, with an index for each nonzero, or dense, with all values and no
 * indices.
 *
 * @param width
 *   width of the values, see [[NarrowValues]]; in a dense form it holds zeros, too
 */
private[data] final case class PartitionForm(isDense: Boolean, width: Byte) {

  /** The values that `vectors` vectors of this length store, all 0 (or 1 for width `Ones`). */
  def allocate(vectors: Int, length: Int, nonzeros: Long): NarrowValues =
    NarrowValues.allocate(width, if (isDense) vectors * length else nonzeros.toInt)
}

private[data] object PartitionForm {

  /**
   * The form that takes less memory for `vectors` vectors of this length.
   *
   * @param width
   *   the narrowest width that holds their nonzeros
   * @param sparseBytesMore
   *   what a sparse form takes beside indices and values
   */
  def smallest(vectors: Int, length: Int, nonzeros: Long, width: Byte, sparseBytesMore: Long = 0L): PartitionForm = {
    val denseWidth = if (width == NarrowValues.Ones) NarrowValues.Single else width
    val entries = vectors.toLong * length
    val denseBytes = entries * NarrowValues.bytes(denseWidth)
    val sparseBytes = nonzeros * (4L + NarrowValues.bytes(width)) + sparseBytesMore
    if (entries > 0L && entries <= MatrixBlock.MaxArrayLength && denseBytes <= sparseBytes) {
      PartitionForm(isDense = true, denseWidth)
    } else PartitionForm(isDense = false, width)
  }
}
