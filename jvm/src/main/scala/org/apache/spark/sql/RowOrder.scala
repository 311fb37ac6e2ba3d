package org.apache.spark.sql

import java.util.function.Supplier

import org.apache.spark.SparkEnv
import org.apache.spark.rdd.{DeterministicLevel, RDD}
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{UnsafeRow, XXH64}
import org.apache.spark.sql.execution.{RecordBinaryComparator, UnsafeExternalRowSorter}
import org.apache.spark.sql.types.{BinaryType, StructType}
import org.apache.spark.util.collection.unsafe.sort.{PrefixComparators, RecordComparator}

/**
 * An order of the rows of a partition that depends on the rows alone. After a shuffle, rows come in the order in which Spark
 * fetches them, so a partition that is lost and computed again holds the same rows in another order. Cached rows are no
 * exception, because an executor that is lost takes them with it.
 */
object RowOrder {

  /**
   * The same rows, in an order that is the same whenever Spark computes them: by a hash of each row, in Spark's own sorter, which
   * goes to disk where memory is short. Spark does the same before it deals rows round-robin (SPARK-23207). Rows whose order
   * Spark promises stay as they are.
   */
  def fixed(rows: RDD[InternalRow]): RDD[InternalRow] =
    if (isFixed(rows)) rows else rows.mapPartitions(sorted, preservesPartitioning = true)

  /** Whether Spark promises the order of the rows. */
  def isFixed(rows: RDD[InternalRow]): Boolean = rows.outputDeterministicLevel == DeterministicLevel.DETERMINATE

  private def sorted(rows: Iterator[InternalRow]): Iterator[InternalRow] = {
    val buffered = rows.buffered
    buffered.headOption match {
      case Some(first: UnsafeRow) =>
        val columns = (0 until first.numFields).foldLeft(new StructType())((s, i) => s.add(i.toString, BinaryType))
        val comparator: Supplier[RecordComparator] = () => new RecordBinaryComparator
        val sorter = UnsafeExternalRowSorter.createWithRecordComparator(
          columns,
          comparator,
          PrefixComparators.LONG,
          new Hash,
          SparkEnv.get.memoryManager.pageSizeBytes,
          true)
        sorter.sort(buffered.asInstanceOf[Iterator[UnsafeRow]])
      // A source that makes rows of its own, which the sorter does not take, and which no shuffle has moved.
      case _ => buffered
    }
  }

  private final class Hash extends UnsafeExternalRowSorter.PrefixComputer {
    private val prefix = new UnsafeExternalRowSorter.PrefixComputer.Prefix

    override def computePrefix(row: InternalRow): UnsafeExternalRowSorter.PrefixComputer.Prefix = {
      val bytes = row.asInstanceOf[UnsafeRow]
      prefix.isNull = false
      prefix.value = XXH64.hashUnsafeBytes(bytes.getBaseObject, bytes.getBaseOffset, bytes.getSizeInBytes, 0L)
      prefix
    }
  }
}
