package dwell.solver.sgd.jvm

import dwell.base.{Finite, Patience}

/** Evaluates a function of the rows at a fixed model. */
private[sgd] final class ModelPass(rows: SgdRows, function: RowFunction, model: Array[Double], patience: Patience) {

  /** The rows visited so far. */
  val visited = new Visited

  /** Predictions of the row visited last. */
  val z = new Array[Double](rows.outputs)

  /** The function's multiples of the row visited last, times its weight. */
  val multiples = new Array[Double](rows.outputs)

  /** Visits row i. Returns false, and does not count the row, if something is not finite. */
  def visit(i: Int): Boolean = {
    patience.spend(rows.length(i) * rows.outputs)
    rows.predict(i, 1.0, model, z)
    val s = rows.weight(i)
    val value = s * function.at(z, rows.label(i), multiples)
    var c = 0
    while (c < multiples.length) {
      multiples(c) = s * multiples(c)
      c += 1
    }
    Finite.all(z) && Finite.all(multiples) && visited.add(value, s, rows.length(i))
  }
}
