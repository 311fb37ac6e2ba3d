package dwell.solver.cd

import scala.concurrent.{Await, Future}
import scala.concurrent.ExecutionContext.Implicits.global
import scala.concurrent.duration._
import scala.util.Random

import dwell.{LimitedSuite, Waiting}
import dwell.comm.wire.Contribution
import dwell.fit.SolverSelection
import dwell.jni.MarginLayout
import dwell.solver.cd.contract.{CdReply, CdSolver, MarginOperation, MarginSlice}
import dwell.solver.cd.jvm.{JvmCd, WorkerStates}
import dwell.solver.cd.worker.{CdSolvers, MarginSlices}
import dwell.solver.problem.{Logistic, MarginLoss, SmoothedHinge, Squared, SquaredHinge}

/** Operations on a slice of rows, native and on the JVM. */
class MarginSuite extends LimitedSuite {

  private val jvm: CdSolver = new JvmCd(new WorkerStates())
  private lazy val native = CdSolvers.of(SolverSelection("native", fallbackIsError = true))

  private val losses = Seq[MarginLoss](Squared, Logistic, SmoothedHinge(0.3), SquaredHinge)

  private val operations = Seq(
    MarginOperation(MarginLayout.LOSSES),
    MarginOperation(MarginLayout.SLOPES),
    MarginOperation(MarginLayout.ALONG, 0.7, -0.2),
    MarginOperation(MarginLayout.CONJUGATES, 1.0, 0.4),
    MarginOperation(MarginLayout.RESIDUALS),
    MarginOperation(MarginLayout.MOVE, 0.7, 0.1),
    MarginOperation(MarginLayout.LOSSES))

  private def slice(rows: Int, weighted: Boolean): MarginSlice = {
    val random = new Random(rows)
    val labels = Array.fill(rows)(if (random.nextBoolean()) 1.0 else -1.0)
    val slice = new MarginSlice(labels, if (weighted) Array.fill(rows)(0.1 + random.nextDouble()) else null)
    Seq(slice.margins, slice.direction, slice.update).foreach { array =>
      // Margins of every size, those at which a loss is 0 or 1 in double precision included.
      array.indices.foreach(j => array(j) = math.pow(10.0, random.nextInt(5) - 2.0) * random.nextGaussian())
    }
    slice
  }

  private def content(slice: MarginSlice): Seq[Long] =
    Seq(slice.margins, slice.direction, slice.losses, slice.residuals).flatten.map(java.lang.Double.doubleToRawLongBits)

  for (loss <- losses; weighted <- Seq(false, true)) {
    test(s"native and JVM results are the same bits: $loss loss, weighted=$weighted") {
      for (rows <- Seq(0, 1, 7, 4096, 9001); threads <- Seq(1, 2)) {
        val ours = slice(rows, weighted)
        val theirs = slice(rows, weighted)
        operations.foreach { operation =>
          val sums = native.margins(loss, 0.25, operation, ours, threads)
          val expected = jvm.margins(loss, 0.25, operation, theirs, 1)
          assert(
            sums.toSeq.map(java.lang.Double.doubleToLongBits) == expected.toSeq.map(java.lang.Double.doubleToLongBits))
          assert(content(ours) == content(theirs), operation)
        }
      }
    }
  }

  test("a sum is the weighted sum of its terms") {
    for (loss <- losses) {
      val rows = slice(5000, weighted = true)
      val sums = jvm.margins(loss, 0.25, MarginOperation(MarginLayout.SLOPES), rows, 1)
      val slopes = rows.labels.indices.map { j =>
        rows.weights(j) * loss.derivative(rows.margins(j) + 0.25, rows.labels(j))
      }
      assert(math.abs(sums(MarginLayout.SLOPE) - slopes.sum) <= 1e-12 * slopes.map(math.abs(_)).sum)
      assert(math.abs(sums(MarginLayout.SLOPE_SIZES) / slopes.map(math.abs(_)).sum - 1.0) <= 1e-12)
    }
  }

  test("a request changes a slice once, however often and at whatever time Spark runs its task") {
    val (fit, partition) = (-7L, 3)
    def reply(sum: Double) = Contribution(Array.emptyByteArray, CdReply(lost = false, "", None, None, Array(sum)))
    def ask(number: Long): Option[Double] = MarginSlices
      .run(fit, partition, number) { slice =>
        slice.margins(0) += number.toDouble
        reply(slice.margins(0))
      }
      .map(_.scalars.sums.head)
    try {
      assert(ask(1L).isEmpty, "there is no slice")
      MarginSlices.put(fit, partition, 4L, slice(3, weighted = false))
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

  test("an operation that does not exist") {
    for (solver <- Seq(native, jvm)) {
      val e = intercept[IllegalArgumentException](
        solver.margins(Squared, 0.0, MarginOperation(6L), slice(3, weighted = false), 1))
      assert(e.getMessage.contains("operation"))
    }
  }
}
