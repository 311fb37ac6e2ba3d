package dwell.data.block

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.RowOrder
import org.apache.spark.sql.catalyst.InternalRow

import dwell.data.matrix.ReadBlock

/** The message for the user about the first bad row. */
private[data] object BadRow {

  /**
   * Throws if a source partition has a bad row.
   *
   * @param problems
   *   of each partition, null where there is none, with rows numbered in the order of [[RowOrder.fixed]]. Users know the order
   *   in which the source gives them, so the partition is read again for the message
   * @param blocks
   *   reads rows as blocks
   * @throws IllegalArgumentException
   *   with the problem of the first bad partition
   */
  def raise[B <: ReadBlock](rows: RDD[InternalRow], problems: Seq[String])(blocks: RDD[InternalRow] => RDD[B]): Unit = {
    val bad = problems.indexWhere(_ != null)
    if (bad >= 0) {
      def asGiven: Option[String] =
        rows.sparkContext.runJob(blocks(rows), (it: Iterator[B]) => it.map(_.problem).find(_ != null), Seq(bad)).head
      throw new IllegalArgumentException((if (RowOrder.isFixed(rows)) None else asGiven).getOrElse(problems(bad)))
    }
  }
}
