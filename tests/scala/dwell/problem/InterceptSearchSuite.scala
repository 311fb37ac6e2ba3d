package dwell.problem

import scala.util.Random

import dwell.LimitedSuite

/** The search for the best intercept of given margins. */
class InterceptSearchSuite extends LimitedSuite {

  private def imbalance(loss: MarginLoss, margins: Array[Double], labels: Array[Double], weights: Array[Double]) = {
    val terms =
      margins.indices.map(j => (if (weights == null) 1.0 else weights(j)) * loss.derivative(margins(j), labels(j)))
    math.abs(terms.sum) / terms.map(math.abs(_)).sum
  }

  for (loss <- Seq(Logistic, SquaredHinge, SmoothedHinge(0.5))) {
    test(s"the derivatives of the $loss loss sum to zero at the shift found") {
      val random = new Random(2)
      (0 until 50).foreach { round =>
        val m = 5 + random.nextInt(200)
        // The first two labels ensure both classes; the others may be unbalanced.
        val labels = Array.tabulate(m)(j => if (j == 0) 1.0 else if (j == 1 || random.nextInt(20) == 0) -1.0 else 1.0)
        val margins = Array.fill(m)(math.pow(10.0, random.nextInt(4) - 1.0) * random.nextGaussian())
        val weights = if (round % 2 == 0) null else Array.fill(m)(0.1 + random.nextDouble())
        val shift = InterceptSearch.minimise { shift =>
          def sum(term: (Double, Double) => Double) =
            margins.indices
              .map(j => (if (weights == null) 1.0 else weights(j)) * term(margins(j) + shift, labels(j)))
              .sum
          InterceptSearch.Slope(
            sum(loss.derivative),
            sum((z, y) => math.abs(loss.derivative(z, y))),
            sum(loss.secondDerivative))
        }
        assert(imbalance(loss, margins.map(_ + shift), labels, weights) < 1e-9)
      }
    }
  }

  /** The best constant for rows of two classes with these weights. */
  private def alone(loss: MarginLoss, positive: Double, negative: Double): Double =
    loss.bestConstant(LabelFacts(Double.NaN, Double.NaN, positive + negative, Array(negative, positive)))(0)

  test(
    "alone the intercept of the logistic loss is the log odds, of the hinge the heavier class, of its square the mean label") {
    assert(math.abs(alone(Logistic, 6.0, 2.0) - math.log(3.0)) < 1e-12)
    assert(alone(Hinge, 6.0, 2.0) == 1.0 && alone(Hinge, 2.0, 6.0) == -1.0)
    assert(math.abs(alone(SquaredHinge, 6.0, 2.0) - 0.5) < 1e-12)
    for (loss <- Seq(Logistic, Hinge, SmoothedHinge(0.5), SquaredHinge); positive <- Seq(0.5, 2.0, 3.0)) {
      def value(b: Double) = positive * loss.value(b, 1.0) + 2.0 * loss.value(b, -1.0)
      val found = alone(loss, positive, 2.0)
      assert((-400 to 400).forall(k => value(found) <= value(k / 100.0) + 1e-12), s"$loss, $positive")
    }
  }
}
