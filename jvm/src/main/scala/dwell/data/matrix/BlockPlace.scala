package dwell.data.matrix

import dwell.bulk.{BulkFormat, BulkInput, BulkOutput}

/**
 * Where a block begins in the source.
 *
 * @param partition
 *   index of the source partition
 * @param rowsRead
 *   rows of the partition that earlier blocks have read
 * @param rows
 *   the ones that they keep
 */
private[data] final case class BlockPlace(partition: Int, rowsRead: Long, rows: Long) {

  /** The place behind a block at this one, which has read and kept so many rows. */
  def after(blockRowsRead: Int, blockRows: Int): BlockPlace =
    BlockPlace(partition, rowsRead + blockRowsRead, rows + blockRows)
}

private[data] object BlockPlace extends BulkFormat[BlockPlace] {

  /** Where the first block of a source partition begins. */
  def first(partition: Int): BlockPlace = BlockPlace(partition, 0L, 0L)

  override def write(place: BlockPlace, out: BulkOutput): Unit = {
    out.int(place.partition)
    out.long(place.rowsRead)
    out.long(place.rows)
  }

  override def read(in: BulkInput): BlockPlace = BlockPlace(in.int(), in.long(), in.long())
}
