package dwell.solver

import scala.util.Random

import org.scalatest.funsuite.AnyFunSuite

class InterceptSearchSuite extends AnyFunSuite {

  private def imbalance(loss: Loss, margins: Array[Double], labels: Array[Double], weights: Array[Double]) = {
    val terms =
      margins.indices.map(j => (if (weights == null) 1.0 else weights(j)) * loss.derivative(margins(j), labels(j)))
    math.abs(terms.sum) / terms.map(math.abs(_)).sum
  }

  for (loss <- Seq(Logistic, SquaredHinge, SmoothedHinge(0.5))) {
    test(s"the derivatives of the $loss loss sum to zero at the shift found") {
      val random = new Random(2)
      (0 until 50).foreach { round =>
        val m = 5 + random.nextInt(200)
        // The first two labels make sure of both classes; the rest may be lopsided.
        val labels = Array.tabulate(m)(j => if (j == 0) 1.0 else if (j == 1 || random.nextInt(20) == 0) -1.0 else 1.0)
        val margins = Array.fill(m)(math.pow(10.0, random.nextInt(4) - 1.0) * random.nextGaussian())
        val weights = if (round % 2 == 0) null else Array.fill(m)(0.1 + random.nextDouble())
        val shift = InterceptSearch.minimise(loss, margins, labels, weights)
        assert(imbalance(loss, margins.map(_ + shift), labels, weights) < 1e-9)
      }
    }
  }

  test("without margins the logistic shift is the log odds") {
    val labels = Array(1.0, 1.0, 1.0, -1.0)
    val shift = InterceptSearch.minimise(Logistic, new Array[Double](4), labels, Array(1.0, 2.0, 3.0, 2.0))
    assert(math.abs(shift - math.log(3.0)) < 1e-12)
  }
}
