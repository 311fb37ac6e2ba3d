package dwell.data

import java.util.concurrent.atomic.AtomicInteger

import scala.reflect.ClassTag

import org.apache.spark.rdd.RDD

import dwell.SparkSuite
import dwell.data.block.{ColumnNames, LabeledRow}

/** Rows that a suite reads as a fit does. */
trait Reading extends SparkSuite {

  /** A source partition for each of the blocks. */
  protected def rdd[T: ClassTag](blocks: Seq[Seq[T]]): RDD[T] =
    sc.parallelize(blocks, blocks.size).flatMap(identity)

  protected def read(
      rows: RDD[LabeledRow],
      numFeatures: Int,
      names: ColumnNames = ColumnNames("terms", "size", "importance")): TrainingRows =
    TrainingReader.read(rows.map(_.toInternal), numFeatures, "test", names)

  protected def read(blocks: Seq[Seq[LabeledRow]]): TrainingRows =
    read(rdd(blocks), blocks.flatten.head.features.size)

  /** Uses rows, and releases them. */
  protected def using[T](rows: TrainingRows)(use: TrainingRows => T): T =
    try use(rows)
    finally rows.unpersist()
}

object Reading {

  /** How often partitions of the source of a test were read; the tasks of local mode share this counter. */
  val reads = new AtomicInteger()
}
