package dwell.data.folds

import scala.annotation.tailrec

import org.apache.spark.sql.catalyst.InternalRow

import dwell.data.block.{ColumnNames, RowBlock, RowBlockBuilder}
import dwell.data.matrix.BlockPlace
import dwell.spark.NativeLibrary

/**
 * Reads a source partition, up to its first bad row, in blocks of bounded size of which each has rows of one fold. A fold's rows are in
 * their order. Positions of rows count those of blocks that were ready before.
 */
private[data] final class FoldedBlocks(
    partition: Int,
    numFeatures: Int,
    rows: Iterator[InternalRow],
    names: ColumnNames,
    folds: Folds)
    extends Iterator[RowBlock] {
  NativeLibrary.require()

  private val foldOf = folds.of(partition)
  private val open = Array.tabulate(folds.count)(builder)
  private var kept = 0L
  private var isBad = false

  private def builder(fold: Int) = new RowBlockBuilder(BlockPlace.first(partition), numFeatures, names, fold)

  override def hasNext: Boolean = !isBad && (rows.hasNext || open.exists(!_.isEmpty))

  override def next(): RowBlock = {
    val fold = filled()
    val block = open(fold).result().after(kept)
    open(fold) = builder(fold)
    kept += block.rows
    isBad = block.problem != null
    block
  }

  /** The fold of the first block that is full; at the end, of one that has rows. */
  @tailrec
  private def filled(): Int =
    if (rows.hasNext) {
      val row = rows.next()
      val fold = foldOf(row)
      val own = if (open.indices.contains(fold)) fold else 0
      if (own == fold) open(own).add(row) else open(own).refuse(fold)
      if (open(own).isFull) own else filled()
    } else open.indexWhere(!_.isEmpty)
}
