package dwell.data.matrix

import org.apache.spark.sql.catalyst.InternalRow

import dwell.spark.NativeLibrary

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

  /** The size of the arrays. */
  def bytes: Long

  /** Hash of the whole block, in order: equal blocks have equal fingerprints. */
  def fingerprint: Long
}

private[data] object ReadBlock {

  /**
   * The blocks of a source partition, at least one; the last one has the first problem. Each is made when it is asked for. An
   * executor that cannot load the native library tells so here, before it has read a row.
   *
   * @param read
   *   reads the block at a place, of rows that are left
   * @throws dwell.jni.NativeUnavailableException
   *   if the library cannot load
   */
  def all[B <: ReadBlock](partition: Int, rows: Iterator[InternalRow])(read: BlockPlace => B): Iterator[B] = {
    NativeLibrary.require()
    val first = BlockPlace.first(partition)
    new Iterator[B] {
      private var place = first
      private var isOver = false

      override def hasNext: Boolean = !isOver

      override def next(): B = {
        val block = read(place)
        place = place.after(block.rowsRead, block.rows)
        isOver = block.problem != null || !rows.hasNext
        block
      }
    }
  }
}
