package dwell.data.moments

import dwell.data.matrix.{DenseBlock, MatrixBlock, SparseBlock}
import dwell.jni.{NativeBridge, SumsLayout}
import dwell.spark.NativeLibrary

/** Takes the moments of one source partition, block after block, in native code. */
private[data] final class NativeMoments(numFeatures: Int) {
  import NativeMoments._
  import SumsLayout._
  NativeLibrary.require()

  // See NativeBridge.featureSums.
  private val positions = new Array[Int](numFeatures)
  private var sums = Array.emptyDoubleArray
  private var used = 0

  /** Adds the rows of a block; `weights` is null if every weight is 1. */
  def add(block: MatrixBlock, labels: Array[Double], weights: Array[Double]): Unit = if (block.rows > 0) {
    makeRoom(math.min(numFeatures.toLong, used.toLong + block.nonzeros).toInt)
    val (offsets, features) = block match {
      case sparse: SparseBlock => (sparse.offsets, sparse.indices)
      case _: DenseBlock => (null, null)
    }
    val values = block.values
    used = NativeBridge
      .featureSums(offsets, features, values.values32, values.values64, labels, weights, used, positions, sums)
  }

  /** The moments of all blocks. */
  def result: MomentPiece = {
    val columns = new Array[Int](used)
    var (next, column) = (0, 0)
    while (next < used) {
      if (positions(column) > 0) {
        columns(next) = column
        next += 1
      }
      column += 1
    }
    def number(column: Int, which: Int) = sums(SUMS * (positions(column) - 1) + which)
    def of(which: Int) = columns.map(number(_, which))
    val weight = of(WEIGHT)
    val (mean, squares) = (of(FIRST), of(SQUARES))
    for (i <- columns.indices) {
      val differences = number(columns(i), DIFFERENCES)
      val shift = differences / weight(i)
      mean(i) += shift
      squares(i) = math.max(0.0, squares(i) - differences * shift)
    }
    new MomentPiece(
      columns,
      of(COUNT).map(_.toLong),
      of(WIDTH).map(_.toByte),
      weight,
      mean,
      squares,
      of(POSITIVE),
      of(OTHER))
  }

  private def makeRoom(features: Int): Unit = {
    val needed = Math.multiplyExact(SUMS, features)
    if (sums.length < needed) {
      val grown =
        math.min(SUMS.toLong * numFeatures, math.max(needed.toLong, sums.length * 3L / 2 / SUMS * SUMS))
      sums = java.util.Arrays.copyOf(sums, math.min(grown, Most).toInt)
    }
  }
}

private object NativeMoments {

  /** The longest array of whole features. */
  private val Most = (Int.MaxValue / SumsLayout.SUMS - 2).toLong * SumsLayout.SUMS
}
