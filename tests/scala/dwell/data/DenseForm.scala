package dwell.data

import dwell.data.columns.ColumnPartition

/** Partitions in their dense form, whatever memory that takes. */
object DenseForm {

  def of(p: ColumnPartition): ColumnPartition = if (p.isDense) p
  else {
    val (offsets, values32, values64) = filled(p.rows, p.offsets, p.indices, p.value, p.values64 != null)
    new ColumnPartition(
      p.index,
      p.rows,
      p.columns,
      offsets,
      null,
      values32,
      values64,
      p.mean,
      p.variance,
      p.deviation,
      p.weights,
      p.labels)
  }

  private def filled(
      length: Int,
      offsets: Array[Int],
      indices: Array[Int],
      value: Int => Double,
      doubles: Boolean): (Array[Int], Array[Float], Array[Double]) = {
    val vectors = offsets.length - 1
    val values = new Array[Double](vectors * length)
    for (i <- 0 until vectors; at <- offsets(i) until offsets(i + 1)) values(i * length + indices(at)) = value(at)
    val denseOffsets = Array.tabulate(vectors + 1)(_ * length)
    if (doubles) (denseOffsets, null, values) else (denseOffsets, values.map(_.toFloat), null)
  }
}
