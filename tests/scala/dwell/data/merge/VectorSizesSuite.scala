package dwell.data.merge

import dwell.LimitedSuite
import dwell.data.Forms
import dwell.data.block.{ColumnNames, RowBlockBuilder}
import dwell.data.matrix.ExcludedFeatures

/** The sizes of all vectors of a block. */
class VectorSizesSuite extends LimitedSuite {

  test("sizes of a whole block are those that are counted nonzero by nonzero") {
    val n = 7
    for {
      seed <- 1 to 3
      (dense, share) <- Seq((0, 0.05), (n, 1.0), (3, 0.4))
      rows <- Forms.rows(seed, 30, n, dense, share)
      values <- Seq[Double => Double](identity, x => if (x == 0.0) 0.0 else 1.0, _.toFloat.toDouble)
      excluded <- Seq(ExcludedFeatures.None, new ExcludedFeatures(Array(dense % n), n))
    } {
      val changed = rows.map { r =>
        val features = org.apache.spark.ml.linalg.Vectors.dense(r.features.toArray.map(values))
        r.copy(features = features).toInternal
      }
      val block = RowBlockBuilder.read(0, n, changed.iterator, ColumnNames()).next().matrix
      val (whole, counted) = (VectorSizes.whole(block, 50L, excluded), VectorSizes.of(block, 50L, excluded, 1).head)
      assert(whole.counts.sameElements(counted.counts) && whole.width == counted.width)
      assert(whole.firstRow == 50L && whole.blockRows == 30)
    }
  }
}
