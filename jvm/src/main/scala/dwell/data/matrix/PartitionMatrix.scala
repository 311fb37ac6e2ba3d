package dwell.data.matrix

/**
 * The vectors of one partition of rows, as [[dwell.data.rows.RowPartition]] and
 * [[dwell.data.documents.DocumentPartition]] hold them.
 *
 * @param numbers
 *   number of each row in the whole dataset
 * @param offsets
 *   values of row i are at offsets(i) until offsets(i + 1)
 * @param indices
 *   feature of each value, ascending within a row; null if the partition is dense
 */
private[data] final class PartitionMatrix(
    val numbers: Array[Long],
    val offsets: Array[Int],
    val indices: Array[Int],
    val values: NarrowValues)

private[data] object PartitionMatrix {

  /**
   * The vectors of whole blocks. One block that has the partition's form already lends it its arrays, so that they take
   * no memory of their own.
   *
   * @param blocks
   *   all blocks of `rows`, in the order of the dataset
   * @param sizes
   *   those of each block's vectors, by [[VectorSizes.whole]]
   * @param excluded
   *   features whose nonzeros are left out
   * @throws IllegalArgumentException
   *   if the partition has too many nonzeros for one array
   */
  def ofBlocks(
      rows: PartitionRows,
      blocks: Array[MatrixBlock],
      sizes: Array[VectorSizes],
      excluded: ExcludedFeatures,
      numFeatures: Int,
      choice: PartitionForm.Choice): PartitionMatrix = {
    val lends = blocks.length == 1 && !rows.mixed && excluded.indices.isEmpty
    (if (lends) lent(rows, blocks.head, sizes.head, numFeatures, choice) else None).getOrElse {
      val merge = new MatrixMerge(rows, numFeatures, choice, sizes.iterator)
      blocks.indices.foreach(i => MatrixPiece.whole(blocks(i), sizes(i).firstRow, excluded).foreach(merge.add))
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
