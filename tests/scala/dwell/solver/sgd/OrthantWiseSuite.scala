package dwell.solver.sgd.leader

import scala.util.Random

import breeze.linalg.{DenseVector => BDV}
import breeze.optimize.{DiffFunction, OWLQN}
import org.scalatest.funsuite.AnyFunSuite

/** OWL-QN in plain loops, against Breeze's own. */
class OrthantWiseSuite extends AnyFunSuite {

  test("iterates, objectives and reasons to stop are Breeze's, to the bit") {
    val random = new Random(3)
    (0 until 20).foreach { case_ =>
      val n = 1 + random.nextInt(60)
      val target = Array.fill(n)(random.nextGaussian())
      val curves = Array.fill(n)(math.pow(10.0, 4.0 * random.nextDouble() - 2.0))
      val penalties = Array.tabulate(n)(i => if (i % 5 == 4) 0.0 else random.nextDouble())
      // A smooth convex function without a closed form of its minimum.
      val f = new DiffFunction[BDV[Double]] {
        override def calculate(x: BDV[Double]): (Double, BDV[Double]) = {
          val difference = x - BDV(target)
          val value = difference.data.indices.map(i => curves(i) * math.log(math.cosh(difference(i)))).sum
          (value, BDV(Array.tabulate(n)(i => curves(i) * math.tanh(difference(i)))))
        }
      }
      val start = BDV(Array.fill(n)(if (random.nextBoolean()) 0.0 else random.nextGaussian()))
      val most = 5 + 10 * case_
      def run(optimizer: OWLQN[Int, BDV[Double]]): Seq[(Seq[Double], Double, Option[String])] =
        optimizer
          .iterations(f, start)
          .map(s => (s.x.data.toSeq, s.adjustedValue, s.convergenceReason.map(_.reason)))
          .toList
      val expected = run(new OWLQN[Int, BDV[Double]](most, 10, (i: Int) => penalties(i), 1e-9))
      assert(run(new OrthantWise(most, 10, 1e-9, penalties)) == expected)
      assert(expected.size > 2)
    }
  }
}
