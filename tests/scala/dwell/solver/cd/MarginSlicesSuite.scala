package dwell.solver.cd

import scala.concurrent.{Await, Future}
import scala.concurrent.ExecutionContext.Implicits.global
import scala.concurrent.duration._
import scala.util.Random

import dwell.{LimitedSuite, Waiting}
import dwell.comm.wire.Contribution
import dwell.jni.MarginLayout
import dwell.problem.{Logistic, SmoothedHinge, Squared, SquaredHinge}
import dwell.solver.cd.worker.{CdReply, MarginOperation, MarginSlice, MarginSlices, NativeCd}
import dwell.spark.NativeLibrary

/** Operations on slices of rows, which the tasks of this process own. */
class MarginSlicesSuite extends LimitedSuite {

  test("the sums of an operation are those of the losses") {
    NativeLibrary.require()
    val random = new Random(5000)
    for (loss <- Seq(Squared, Logistic, SmoothedHinge(0.3), SquaredHinge)) {
      val labels = Array.fill(5000)(if (random.nextBoolean()) 1.0 else -1.0)
      val rows = new MarginSlice(labels, labels.map(_ => 0.1 + random.nextDouble()))
      labels.indices.foreach(j => rows.margins(j) = math.pow(10.0, random.nextInt(5) - 2.0) * random.nextGaussian())
      val sums = NativeCd.margins(loss, 0.25, MarginOperation(MarginLayout.SLOPES), rows, 1)
      val slopes = labels.indices.map(j => rows.weights(j) * loss.derivative(rows.margins(j) + 0.25, labels(j)))
      assert(math.abs(sums(MarginLayout.SLOPE) - slopes.sum) <= 1e-12 * slopes.map(math.abs(_)).sum)
      assert(math.abs(sums(MarginLayout.SLOPE_SIZES) / slopes.map(math.abs(_)).sum - 1.0) <= 1e-12)
    }
  }

  test("a request changes a slice once, however often and at whatever time Spark runs its task") {
    val (fit, partition) = (-7L, 3)
    def reply(sum: Double) = Contribution(Array.emptyByteArray, CdReply(lost = false, None, None, Array(sum)))
    def ask(number: Long): Option[Double] = MarginSlices
      .run(fit, partition, number) { slice =>
        slice.margins(0) += number.toDouble
        reply(slice.margins(0))
      }
      .map(_.scalars.sums.head)
    try {
      assert(ask(1L).isEmpty, "there is no slice")
      MarginSlices.put(fit, partition, 4L, new MarginSlice(Array(1.0, -1.0, 1.0), null))
      assert(ask(4L).isEmpty && ask(6L).isEmpty, "not the request after the last one")
      val answer = ask(5L)
      assert(answer.nonEmpty && ask(5L) == answer && ask(6L) == answer.map(_ + 6.0) && ask(5L).isEmpty)
      val both = Seq.fill(8)(Future(ask(7L)))
      assert(both.map(Await.result(_, Waiting.LimitSeconds.seconds)).distinct == Seq(answer.map(_ + 13.0)))
      intercept[IllegalStateException](
        MarginSlices.run(fit, partition, 8L)(_ => throw new IllegalStateException("half-way")))
      assert(ask(8L).isEmpty && ask(9L).isEmpty, "the slice may be half changed")
    } finally MarginSlices.free(fit)
  }
}
