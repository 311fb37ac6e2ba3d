package dwell.solver.rows.leader

import scala.util.Random

import breeze.linalg.{DenseVector => BDV}
import breeze.optimize.{DiffFunction, FirstOrderMinimizer, LBFGS, OWLQN}

import dwell.LimitedSuite

/** L-BFGS and OWL-QN against Breeze's own. */
class LimitedMemorySuite extends LimitedSuite {

  private type Optimizer = FirstOrderMinimizer[BDV[Double], DiffFunction[BDV[Double]]]

  /** A smooth convex function without a closed form of its minimum. */
  private final class Smooth(n: Int, random: Random) extends DiffFunction[BDV[Double]] {
    private val target = Array.fill(n)(random.nextGaussian())
    private val curves = Array.fill(n)(math.pow(10.0, 4.0 * random.nextDouble() - 2.0))

    override def calculate(x: BDV[Double]): (Double, BDV[Double]) = {
      val difference = x - BDV(target)
      val value = difference.data.indices.map(i => curves(i) * math.log(math.cosh(difference(i)))).sum
      (value, BDV(Array.tabulate(n)(i => curves(i) * math.tanh(difference(i)))))
    }
  }

  private def run(optimizer: Optimizer, f: Smooth, start: BDV[Double]): Seq[(BDV[Double], Double)] =
    optimizer.iterations(f, start).map(s => (s.x, s.adjustedValue)).toList

  /** Rounding grows from iteration to iteration; while the iterates are far from the minimum they agree. */
  private def compare(ours: Optimizer, theirs: Optimizer, f: Smooth, start: BDV[Double]): Unit = {
    val (mine, expected) = (run(ours, f, start), run(theirs, f, start))
    assert(expected.size > 2)
    mine.zip(expected).take(Alike).foreach { case ((x, value), (y, other)) =>
      assert((x - y).data.map(math.abs).max <= 1e-9 && math.abs(value - other) <= 1e-10 * math.abs(other))
    }
    assert(math.abs(mine.last._2 - expected.last._2) <= 1e-7 * expected.head._2)
  }

  private val Alike = 8

  for (l1 <- Seq(false, true)) {
    test(s"iterates are Breeze's to rounding, ${if (l1) "with" else "without"} an L1 penalty") {
      val random = new Random(3)
      (0 until 20).foreach { case_ =>
        // Beyond the block of the passes, and not a multiple of their unrolled loops.
        val n = if (case_ == 19) 2503 else 1 + random.nextInt(60)
        val f = new Smooth(n, random)
        val penalties = Array.tabulate(n)(i => if (i % 5 == 4) 0.0 else random.nextDouble())
        val start = BDV(Array.fill(n)(if (random.nextBoolean()) 0.0 else random.nextGaussian()))
        val most = 5 + 10 * case_
        if (l1) {
          val theirs = new OWLQN[Int, BDV[Double]](most, 10, (i: Int) => penalties(i), 1e-9)
          compare(new OrthantWise(most, 10, 1e-9, penalties), theirs, f, start)
        } else compare(new LimitedMemory(most, 10, 1e-9), new LBFGS[BDV[Double]](most, 10, 1e-9), f, start)
      }
    }
  }

  test("the direction solves the secant equations of the newest correction, and forgets the oldest") {
    val random = new Random(5)
    val n = 40
    val diagonal = Array.fill(n)(0.5 + random.nextDouble())
    def vector(): Array[Double] = Array.fill(n)(random.nextGaussian())
    val steps = Seq.fill(7)(vector())
    def change(step: Array[Double]): Array[Double] = step.indices.map(i => diagonal(i) * step(i)).toArray
    def after(steps: Seq[Array[Double]]): Corrections =
      steps.foldLeft(Corrections.none(4))((c, step) => c.updated(step, change(step)))
    val g = vector()
    val all = after(steps).direction(g).get
    // H y = s for the newest pair.
    val back = after(steps).direction(change(steps.last)).get
    assert(back.indices.forall(i => math.abs(back(i) + steps.last(i)) <= 1e-10))
    assert(all.sameElements(after(steps.drop(3)).direction(g).get), "four of seven are kept")
    assert(Corrections.none(4).direction(g).get.sameElements(g.map(-_)))
    assert(after(Seq.empty).updated(g, g.map(-_)).direction(g).isEmpty, "negative curvature")
  }
}
