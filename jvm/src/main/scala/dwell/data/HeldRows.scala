package dwell.data

import org.apache.spark.ml.linalg.{Vector, Vectors}

import dwell.data.block.{OccurringFeatures, RowBlock}
import dwell.data.matrix.{DenseBlock, MatrixBlock, SparseBlock}
import dwell.spark.Sent

/** The rows of a block as Spark's vectors, for models that are to predict them. */
final class HeldRows private[data] (block: RowBlock, occurring: Option[Sent[OccurringFeatures]], numFeatures: Int) {

  /** Calls `use` with features, label and weight of each row, in their order. */
  def each(use: (Vector, Double, Double) => Unit): Unit = {
    val numbers = occurring.map(_.value.features).orNull
    var j = 0
    while (j < block.rows) {
      use(vector(block.matrix, j, numbers), block.labels(j), if (block.weights == null) 1.0 else block.weights(j))
      j += 1
    }
  }

  private def vector(matrix: MatrixBlock, j: Int, numbers: Array[Int]): Vector = {
    val (from, until) = (matrix.start(j), matrix.start(j + 1))
    val values = new Array[Double](until - from)
    var at = from
    while (at < until) {
      values(at - from) = matrix.values(at)
      at += 1
    }
    matrix match {
      case _: DenseBlock => Vectors.dense(values)
      case sparse: SparseBlock =>
        val own = java.util.Arrays.copyOfRange(sparse.indices, from, until)
        Vectors.sparse(numFeatures, if (numbers == null) own else own.map(numbers(_)), values)
    }
  }
}
