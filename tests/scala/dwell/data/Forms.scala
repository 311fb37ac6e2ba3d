package dwell.data

import java.lang.management.ManagementFactory

import scala.util.Random

import org.apache.spark.ml.linalg.Vectors

import dwell.data.block.LabeledRow

/** Rows whose blocks are read dense, sparse, or partly so. */
object Forms {

  /**
   * Rows in three blocks: the first dense, the second sparse, the third between. All have the same dense columns 0 until
   * `dense`; the other columns have nonzeros in `share` of the rows. Column `dense` has doubles, the others floats.
   */
  def rows(seed: Int, numRows: Int, numColumns: Int, dense: Int, share: Double): Seq[Seq[LabeledRow]] = {
    val random = new Random(seed)
    Seq(1.0, share, 0.6).map { density =>
      Seq.fill(numRows) {
        val features = Array.tabulate(numColumns) { i =>
          val value = if (i == dense) random.nextGaussian() else (random.nextInt(64) + 1) / 8.0
          if (i < dense || random.nextDouble() < density) value else 0.0
        }
        LabeledRow(random.nextInt(2).toDouble, 0.5 + random.nextInt(3), Vectors.dense(features))
      }
    }
  }

  /** The bytes that the thread allocates while it runs `body`. */
  def allocated(body: => Any): Long = {
    val threads = ManagementFactory.getThreadMXBean.asInstanceOf[com.sun.management.ThreadMXBean]
    val before = threads.getCurrentThreadAllocatedBytes
    body
    threads.getCurrentThreadAllocatedBytes - before
  }
}
