package dwell.solver.linear

import scala.util.Random

import org.scalatest.funsuite.AnyFunSuite

/** Sums of a pass against the squared loss itself, row by row. */
class FirstPassSuite extends AnyFunSuite {

  private class Row(val x: Array[Double], val y: Double, val weight: Double)

  private val rows = {
    val random = new Random(3)
    Seq.fill(200)(new Row(Array.fill(3)(random.nextGaussian()) :+ 1.0, random.nextGaussian(), 0.5 + random.nextInt(3)))
  }

  private val start = Array(0.1, -0.2, 0.0, 0.7)

  private def loss(rows: Seq[Row], model: Array[Double]): Double =
    rows.map(r => r.weight * math.pow(r.y - dot(r.x, model), 2) / 2.0).sum / rows.map(_.weight).sum

  private def gradient(rows: Seq[Row], model: Array[Double]): Array[Double] =
    model.indices
      .map(j => rows.map(r => r.weight * (dot(r.x, model) - r.y) * r.x(j)).sum / rows.map(_.weight).sum)
      .toArray

  private def dot(x: Array[Double], model: Array[Double]): Double = x.indices.map(j => x(j) * model(j)).sum

  /** The layout has moments between gradient and Hessian, which the loss does not need. */
  private def pass(rows: Seq[Row]): FirstPass = {
    val weight = rows.map(_.weight).sum
    val triangle = for (i <- start.indices; j <- 0 to i) yield rows.map(r => r.weight * r.x(i) * r.x(j)).sum / weight
    val vector = gradient(rows, start) ++ Array.fill(6)(Double.NaN) ++ triangle
    FirstPass(start, loss(rows, start), vector, triangles = 10, rows.size.toLong, weight)
  }

  test("the sums of one pass tell loss and gradient of any model, and how far rounding may be") {
    val random = new Random(5)
    for (_ <- 1 to 20) {
      val model = Array.fill(4)(10.0 * random.nextGaussian())
      val told = pass(rows).squaredLoss(model)
      val (exact, slope) = (loss(rows, model), gradient(rows, model))
      assert(math.abs(told.loss - exact) <= told.lossError && told.lossError <= 1e-12 * exact)
      model.indices.foreach { j =>
        assert(math.abs(told.gradient(j) - slope(j)) <= told.gradientErrors(j) && told.gradientErrors(j) <= 1e-11)
      }
    }
  }

  test("passes over parts of the rows add up to the pass over all of them") {
    val (some, others) = rows.splitAt(70)
    val (all, sum) = (pass(rows), pass(some).and(pass(others)))
    assert(sum.rows == all.rows && math.abs(sum.weight - all.weight) <= 1e-9)
    val model = Array(1.0, 2.0, -1.0, 0.5)
    val (a, b) = (all.squaredLoss(model), sum.squaredLoss(model))
    assert(math.abs(a.loss - b.loss) <= 1e-12 && a.gradient.zip(b.gradient).forall { case (x, y) =>
      math.abs(x - y) <= 1e-12
    })
  }
}
