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

  /** Decides about the form of a partition. */
  sealed trait Choice extends Serializable {

    /**
     * The form for `vectors` vectors of this length.
     *
     * @param width
     *   the narrowest width that holds their nonzeros
     */
    def apply(vectors: Int, length: Int, nonzeros: Long, width: Byte): PartitionForm
  }

  object Choice {

    /** For solvers that know sparse vectors only. */
    case object Sparse extends Choice {
      override def apply(vectors: Int, length: Int, nonzeros: Long, width: Byte): PartitionForm =
        PartitionForm(isDense = false, width)
    }

    /** The form that takes less memory. */
    case object Smallest extends Choice {
      override def apply(vectors: Int, length: Int, nonzeros: Long, width: Byte): PartitionForm =
        smallest(vectors, length, nonzeros, width)
    }

    /** What the solvers of linear models take. */
    val ForSolvers: Choice = Smallest
  }

  /**
   * The form that takes less memory.
   *
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
