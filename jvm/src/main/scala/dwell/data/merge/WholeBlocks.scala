package dwell.data.merge

import dwell.data.matrix.{DenseBlock, ExcludedFeatures, MatrixBlock, PartitionForm, SparseBlock}

/** Partitions of whole blocks. */
private[data] object WholeBlocks {

  /**
   * The vectors of the blocks. One block that has the partition's form already lends it its arrays, so that they take
   * no memory of their own.
   *
   * @param blocks
   *   gives all blocks of `rows`, in the order of the dataset, as often as asked
   * @param sizes
   *   sizes of each block's vectors, by [[VectorSizes.whole]]
   * @param excluded
   *   features whose nonzeros are left out
   * @throws IllegalArgumentException
   *   if the partition has too many nonzeros for one array
   */
  def together(
      rows: PartitionRows,
      blocks: () => Iterator[MatrixBlock],
      sizes: Array[VectorSizes],
      excluded: ExcludedFeatures,
      numFeatures: Int,
      choice: PartitionForm.Choice): PartitionMatrix = {
    val lends = sizes.length == 1 && !rows.mixed && excluded.indices.isEmpty
    (if (lends) lent(rows, blocks().next(), sizes.head, numFeatures, choice) else None).getOrElse {
      val merge = new MatrixMerge(rows, numFeatures, choice, sizes.iterator)
      blocks().zip(sizes.iterator).foreach { case (block, size) =>
        MatrixPiece.whole(block, size.firstRow, excluded).foreach(merge.add)
      }
      merge.result
    }
  }

  /** None if the block does not have the form that the partition is to have. */
  private def lent(
      rows: PartitionRows,
      block: MatrixBlock,
      sizes: VectorSizes,
      numFeatures: Int,
      choice: PartitionForm.Choice): Option[PartitionMatrix] = {
    val form = choice(block.rows, numFeatures, block.nonzeros.toLong, sizes.width)
    if (block.values.width != form.width) None
    else {
      block match {
        case sparse: SparseBlock if !form.isDense =>
          Some(new PartitionMatrix(rows.numbers, sparse.offsets, sparse.indices, sparse.values))
        case dense: DenseBlock if form.isDense =>
          val offsets = Array.tabulate(dense.rows + 1)(dense.start)
          Some(new PartitionMatrix(rows.numbers, offsets, null, dense.values))
        case _ => None
      }
    }
  }
}
