package dwell.solver.cd

import scala.util.Random

import dwell.LimitedSuite
import dwell.jni.MarginLayout
import dwell.problem.{Logistic, SmoothedHinge, Squared, SquaredHinge}
import dwell.solver.cd.worker.{MarginOperation, MarginRows, NativeCd}
import dwell.spark.NativeLibrary

/** Operations on the margins of all rows. */
class MarginRowsSuite extends LimitedSuite {

  test("the sums of an operation are those of the losses") {
    NativeLibrary.require()
    val random = new Random(5000)
    for (loss <- Seq(Squared, Logistic, SmoothedHinge(0.3), SquaredHinge)) {
      val labels = Array.fill(5000)(if (random.nextBoolean()) 1.0 else -1.0)
      val rows = new MarginRows(labels, labels.map(_ => 0.1 + random.nextDouble()))
      labels.indices.foreach(j => rows.margins(j) = math.pow(10.0, random.nextInt(5) - 2.0) * random.nextGaussian())
      val sums = NativeCd.margins(loss, 0.25, MarginOperation(MarginLayout.SLOPES), rows, 1)
      val slopes = labels.indices.map(j => rows.weights(j) * loss.derivative(rows.margins(j) + 0.25, labels(j)))
      assert(math.abs(sums(MarginLayout.SLOPE) - slopes.sum) <= 1e-12 * slopes.map(math.abs(_)).sum)
      assert(math.abs(sums(MarginLayout.SLOPE_SIZES) / slopes.map(math.abs(_)).sum - 1.0) <= 1e-12)
    }
  }
}
