package dwell.data.moments

import dwell.data.matrix.{DenseBlock, MatrixBlock, SparseBlock}
import dwell.jni.{NativeBridge, SumsLayout}
import dwell.spark.NativeLibrary

/**
 * Takes the moments of one source partition, block after block, in native code.
 *
 * @param beside
 *   how many others a task takes at a time, itself included
 */
private[data] final class NativeMoments(numFeatures: Int, beside: Int = 1) {
  import NativeMoments._
  import SumsLayout._
  NativeLibrary.require()

  // See NativeBridge.featureSums.
  private var ones = Array.emptyLongArray
  private val positions = new Array[Int](numFeatures)
  private var sums = Array.emptyDoubleArray
  private var used = 0

  /** Adds the rows of a block; `weights` is null if every weight is 1. */
  def add(block: MatrixBlock, labels: Array[Double], weights: Array[Double]): Unit = if (block.rows > 0) {
    val (offsets, features) = block match {
      case sparse: SparseBlock => (sparse.offsets, sparse.indices)
      case _: DenseBlock => (null, null)
    }
    val values = block.values
    val isOnes = values.values32 == null && values.values64 == null && weights == null
    if (isOnes && numFeatures <= MostCounted / beside) {
      if (ones.isEmpty) ones = new Array[Long](2 * numFeatures)
    } else makeRoom(math.min(numFeatures.toLong, used.toLong + block.nonzeros).toInt)
    used = NativeBridge
      .featureSums(offsets, features, values.values32, values.values64, labels, weights, used, ones, positions, sums)
  }

  /** The moments of all blocks. */
  def result: MomentPiece =
    if (ones.isEmpty) summed
    else if (used == 0) counted
    else new MergedMoments(0, numFeatures).add(counted).add(summed).result

  /** The moments of the nonzeros that were counted. */
  private def counted: MomentPiece = {
    val columns = Array.range(0, numFeatures).filter(c => ones(2 * c) + ones(2 * c + 1) > 0L)
    val counts = new Array[Long](columns.length)
    val positive = new Array[Double](columns.length)
    var i = 0
    while (i < columns.length) {
      val c = columns(i)
      counts(i) = ones(2 * c) + ones(2 * c + 1)
      positive(i) = ones(2 * c + 1).toDouble
      i += 1
    }
    new MomentPiece(columns, counts, positive, null)
  }

  /** The moments of the others. Sums are in no order: each feature's are looked up once. */
  private def summed: MomentPiece = {
    val columns = Array.range(0, numFeatures).filter(positions(_) > 0)
    val counts = new Array[Long](used)
    val widths = new Array[Byte](used)
    val weight, mean, squares, positive = new Array[Double](used)
    var i = 0
    while (i < used) {
      val at = SUMS * (positions(columns(i)) - 1)
      val differences = sums(at + DIFFERENCES)
      val shift = differences / sums(at + WEIGHT)
      counts(i) = sums(at + COUNT).toLong
      widths(i) = sums(at + WIDTH).toByte
      weight(i) = sums(at + WEIGHT)
      mean(i) = sums(at + FIRST) + shift
      squares(i) = math.max(0.0, sums(at + SQUARES) - differences * shift)
      positive(i) = sums(at + POSITIVE)
      i += 1
    }
    val values = if (used == 0) null else new ValueMoments(widths, weight, mean, squares)
    new MomentPiece(columns, counts, positive, values)
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

  /** Counts of more features would take more than 64 MB of a task. */
  private val MostCounted = 1 << 22

  /** The longest array of whole features. */
  private val Most = (Int.MaxValue / SumsLayout.SUMS - 2).toLong * SumsLayout.SUMS
}
