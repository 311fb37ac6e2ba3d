package dwell.data

import scala.util.Random

import dwell.LimitedSuite
import dwell.data.columns.ColumnAssignment
import dwell.data.matrix.MatrixBlock

/** The assignment of columns to partitions of equal work. */
class ColumnAssignmentSuite extends LimitedSuite {

  private def imbalance(loads: Array[Long]): Double = loads.max / (loads.sum.toDouble / loads.length)

  test("power-law columns are balanced to 5 percent where no column is heavier than a share") {
    for (partitions <- Seq(2, 3, 8, 64); exponent <- Seq(0.8, 1.02, 1.3)) {
      val popularity = Array.tabulate(100000)(j => math.pow(j + 21.0, -exponent))
      val scale = 3e6 / popularity.sum
      val uncapped = popularity.map(p => math.max(1, (scale * p).toInt))
      // No column is heavier than a share: such a column cannot be balanced.
      val heaviest = uncapped.map(_.toLong).sum / (2 * partitions)
      val counts = new Random(7).shuffle(uncapped.map(c => math.min(c.toLong, heaviest).toInt).toSeq).toArray
      val assignment = ColumnAssignment.balanced(counts, partitions)
      assert(imbalance(assignment.loads) <= 1.05, s"$partitions partitions, exponent $exponent")
      val recounted = new Array[Long](partitions)
      counts.indices.foreach(c => recounted(assignment.partitionOf(c)) += counts(c))
      assert(recounted.sameElements(assignment.loads))
    }
  }

  test("a column heavier than a share gets a partition to itself") {
    val assignment = ColumnAssignment.balanced(Array(1000, 1, 2, 3, 4, 5, 5), 3)
    val alone = assignment.partitionOf(0)
    assert((1 until 7).forall(assignment.partitionOf(_) != alone))
    assert(assignment.loads.sorted.sameElements(Array(10L, 10L, 1000L)))
  }

  test("empty columns are left out, partitions beyond the columns stay empty") {
    val assignment = ColumnAssignment.balanced(Array(0, 3, 0, 3), 5)
    assert(assignment.partitionOf.sameElements(Array(-1, 0, -1, 1)))
    assert(assignment.loads.sameElements(Array(3L, 3L, 0L, 0L, 0L)))
    assert(ColumnAssignment.balanced(Array.emptyIntArray, 2).loads.sameElements(Array(0L, 0L)))
  }

  test("ties are broken by index, so the assignment depends on the counts alone") {
    val counts = Array.fill(1000)(7)
    val assignment = ColumnAssignment.balanced(counts, 4)
    assert(assignment.partitionOf.zipWithIndex.forall { case (partition, column) => partition == column % 4 })
  }

  test("a partition with more nonzeros than an array holds is refused") {
    MatrixBlock.checkLoad(1, 2, Int.MaxValue - 15L)
    val error = intercept[IllegalArgumentException](MatrixBlock.checkLoad(1, 2, Int.MaxValue - 14L))
    assert(error.getMessage.contains("Partition 1 of 2") && error.getMessage.contains("numWorkers"))
  }
}
