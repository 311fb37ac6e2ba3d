package dwell.data

import dwell.LimitedSuite
import dwell.base.SliceBounds
import dwell.data.block.{ColumnNames, RowBlock, RowBlockBuilder}
import dwell.data.columns.RowValues

/** The rows whose labels a partition of columns holds. */
class RowValuesSuite extends LimitedSuite {

  private def blocks(sizes: Seq[Int], weighted: Int => Boolean): Seq[RowBlock] =
    sizes.zip(sizes.scanLeft(0)(_ + _)).zipWithIndex.map { case ((size, first), index) =>
      val rows = (first until first + size).iterator.map { j =>
        TestData.row(j.toDouble, 1.0).copy(weight = if (weighted(index)) 1.0 + j % 3 else 1.0).toInternal
      }
      RowBlockBuilder.read(index, 1, rows, ColumnNames()).next()
    }

  test("each slice gets the labels of its rows, and every slice all weights") {
    val sizes = Seq(100, 0, 9000, 1, 4096, 5000, 0, 3)
    val firstRows = sizes.scanLeft(0)(_ + _)
    for (count <- Seq(1, 2, 3, 4, 9); weighted <- Seq(Set.empty[Int], Set(4), sizes.indices.toSet)) {
      val read = blocks(sizes, weighted)
      val slices = SliceBounds(firstRows.last, count)
      for (k <- 0 until count) {
        val pieces = read.map(b => RowValues.of(b, firstRows(b.at.partition), slices, k)).filterNot(_.isEmpty).toArray
        val expected = (slices.start(k) until slices.start(k + 1)).map(_.toDouble)
        assert(RowValues.labels(pieces, slices, k).toSeq == expected)
        assert(pieces.map(_.labels.length).sum == expected.size, "no label travels that the slice does not need")
        val weights = RowValues.weights(pieces, firstRows.last)
        if (weighted.isEmpty) assert(weights == null)
        else {
          val of = sizes.indices.flatMap { b =>
            (firstRows(b) until firstRows(b + 1)).map(j => if (weighted(b)) 1.0 + j % 3 else 1.0)
          }
          assert(weights.toSeq == of)
        }
      }
    }
  }
}
