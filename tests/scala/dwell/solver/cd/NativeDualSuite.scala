package dwell.solver.cd

import org.apache.spark.ml.linalg.Vectors

import dwell.LimitedSuite
import dwell.data.TestData
import dwell.data.block.LabeledRow
import dwell.jni.{CdLayout, ResultHeader}
import dwell.problem.{DualFormulas, Hinge, Logistic, MarginLoss, SmoothedHinge, Squared, SquaredHinge}
import dwell.solver.cd.worker.NativeCd
import dwell.spark.NativeLibrary

/** Rounds of coordinate descent on rows: the dual objective against the primal one. */
class NativeDualSuite extends LimitedSuite {
  import DualFormulas.losses
  import LocalProblem.nextFit

  /** Gap after 300 rounds; the hinge is not smooth, so its gap falls no faster than 1 / t. */
  private def closed(loss: MarginLoss): Double = if (loss == Hinge) 5e-4 else 1e-6

  private def rows(seed: Int = 5, weighted: Boolean = true): Seq[LabeledRow] =
    TestData.random(seed, 45, 12, 0.3, weighted = weighted)

  for {
    loss <- losses
    numPartitions <- Seq(1, 2, 3)
    (l1, scaleFactor) <- Seq((0.0, 0.0), (0.0, 1.0), (0.01, 1.02))
  } test(s"$loss: the dual falls, the gap bounds it and closes: K=$numPartitions, l1=$l1, scaleFactor=$scaleFactor") {
    for ((weighted, threads) <- Seq((false, 1), (true, 1), (true, 2))) {
      val p = new RowProblem(rows(weighted = weighted), numPartitions, loss, 0.1, l1, scaleFactor)
      val fit = nextFit()
      val dual = new DualRounds(p, fit, threads)
      val history = Seq.fill(300)(dual.round())
      val best = history.map(_.dualAfter).min
      history.foreach { o =>
        assert(o.dualAfter <= o.dual + 1e-12 * (1.0 + math.abs(o.dual)), "the dual objective rose")
        assert(o.primal + o.dual >= o.dual - best - 1e-12, "the gap bounds what is left")
        assert(o.primal + o.dual >= -1e-12, "weak duality")
      }
      assert(
        history.last.primal + history.last.dual <= closed(loss) * threads,
        s"weighted=$weighted, threads=$threads: the gap closes")
      assert(dual.drift < 1e-12)
      NativeLibrary.free(fit)
    }
  }

  for (loss <- losses; numPartitions <- Seq(1, 2, 3)) {
    test(s"$loss: an intercept without penalty by the method of multipliers, K=$numPartitions") {
      for (scaleFactor <- Seq(0.0, 1.0)) {
        val p = new RowProblem(rows(), numPartitions, loss, 0.1, scaleFactor = scaleFactor, nu = 1.0)
        val fit = nextFit()
        val dual = new DualRounds(p, fit)
        for (_ <- 0 until 150) {
          val rounds = Seq.fill(4)(dual.round())
          rounds.foreach(o => assert(o.dualAfter <= o.dual + 1e-12 * (1.0 + math.abs(o.dual))))
          dual.recentre()
        }
        assert(dual.imbalance < 1e-5, "the dual variables add up to 0")
        val (w, b) = (dual.coefficients, dual.intercept)
        val value = p.lossAt(w, b)
        // No other intercept is better, except for the part that the imbalance explains.
        for (other <- Seq(-0.1, -0.01, 0.01, 0.1)) assert(p.lossAt(w, b + other) >= value - 1e-6)
        val last = dual.round()
        assert(math.abs(last.primal + last.dual) < 1e-5 * (1.0 + last.primal))
        assert(dual.drift < 1e-11)
        NativeLibrary.free(fit)
      }
    }
  }

  test("the intercept shifts with the labels, and the coefficients stay") {
    val shift = 1000.0
    val data = rows()
    val fits = Seq(data, data.map(r => r.copy(label = r.label + shift))).map { some =>
      val p = new RowProblem(some, 2, Squared, 0.1, scaleFactor = 1.0, nu = 1.0)
      val fit = nextFit()
      val dual = new DualRounds(p, fit)
      for (_ <- 0 until 300) {
        dual.round()
        dual.recentre()
      }
      NativeLibrary.free(fit)
      dual
    }
    val (a, b) = (fits.head, fits.last)
    assert(math.abs(b.intercept - a.intercept - shift) < 1e-8)
    assert(a.coefficients.zip(b.coefficients).forall { case (u, v) => math.abs(u - v) < 1e-8 })
  }

  test("a row without nonzeros") {
    val some = Seq(1.0, -1.0, 2.0).map(y => LabeledRow(y, 1.0, Vectors.dense(0.0, 0.0))) :+
      LabeledRow(1.0, 1.0, Vectors.dense(1.0, 2.0))
    for (loss <- losses) {
      val p = new RowProblem(some, 1, loss, 0.1)
      val fit = nextFit()
      p.run(fit, 2)
      val alpha = TravellingStep.committed(NativeCd.exportState(fit, 0).get, 1.0, 0.0).alpha
      val expected = loss match {
        case Squared => 1.0
        case Logistic => 0.5
        case Hinge | SmoothedHinge(_) => 1.0
        case SquaredHinge => 2.0
      }
      (0 until 3).foreach(i => assert(math.abs(alpha(i) - expected * p.labels(i)) < 1e-15, s"$loss, row $i"))
      NativeLibrary.free(fit)
    }
  }

  test("weights have no unit") {
    val rows = TestData.random(4, 30, 8, 0.4)
    val Seq(once, scaled) = Seq(1.0, 100.0).map { unit =>
      val weighted = rows.zipWithIndex.map { case (r, i) => r.copy(weight = unit * (if (i % 3 == 0) 2.0 else 1.0)) }
      val fit = nextFit()
      val dual = new DualRounds(new RowProblem(weighted, 1, SmoothedHinge(0.5), 0.1, nu = 0.5), fit)
      for (_ <- 0 until 300) {
        dual.round()
        dual.recentre()
      }
      NativeLibrary.free(fit)
      dual.coefficients :+ dual.intercept
    }
    once.zip(scaled).foreach { case (a, b) => assert(math.abs(a - b) < 1e-7) }
  }

  test("too much added to the predictions of others is seen in the objective") {
    // All partitions hold the same rows: with sigma' = 1 each of the four makes the whole step.
    val same = Seq.tabulate(16)(i => if (i < 8) 1.0 else -1.0).map(x => LabeledRow(x, 1.0, Vectors.dense(x)))
    val p = new RowProblem(same, 4, Squared, 1e-3)
    val fit = nextFit()
    val request = p.request(fit, 0).copy(sigmaPrime = 1.0)
    val results = p.data.indices.map(p.round(_, request).get)
    val w = p.sum(results)
    val dual = results.map(ResultHeader.get(_, CdLayout.VALUE_AFTER)).sum + p.penalty(w)
    assert(dual > 0.0, "it was 0 before")
    NativeLibrary.free(fit)
  }
}
