package dwell.data.matrix

import org.apache.spark.sql.catalyst.InternalRow

import dwell.bulk.{BulkFormat, BulkInput, BulkOutput}

/** Rows that were read of one source partition, one after another. */
private[data] trait ReadBlock extends Serializable {

  /** The place of the rows in the source. */
  def at: BlockPlace

  /** Rows read, those that are not kept included. */
  def rowsRead: Int

  /** Rows kept. */
  def rows: Int

  /**
   * What is wrong with the first bad row, or null. It is a value rather than an exception so that Spark does not try the
   * partition again, and so that the driver can raise it undecorated.
   */
  def problem: String

  /** Hash of the whole block, in order: equal blocks have equal fingerprints. */
  def fingerprint: Long
}

private[data] object ReadBlock {

  /**
   * The blocks of a source partition, at least one; the last one has the first problem. Each is made when it is asked for.
   *
   * @param read
   *   reads the block at a place, of rows that are left
   */
  def all[B <: ReadBlock](partition: Int, rows: Iterator[InternalRow])(read: BlockPlace => B): Iterator[B] =
    Iterator.unfold(Option(BlockPlace.first(partition))) {
      _.map { place =>
        val block = read(place)
        (block, if (block.problem == null && rows.hasNext) Some(place.after(block)) else None)
      }
    }
}

/**
 * Where a block begins in the source.
 *
 * @param partition
 *   index of the source partition
 * @param rowsRead
 *   rows of the partition that earlier blocks have read
 * @param rows
 *   those of them that they keep
 */
private[data] final case class BlockPlace(partition: Int, rowsRead: Long, rows: Long) {

  /** The place behind a block at this one. */
  def after(block: ReadBlock): BlockPlace = BlockPlace(partition, rowsRead + block.rowsRead, rows + block.rows)
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
