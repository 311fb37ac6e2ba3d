package dwell.solver.rows.search

import scala.collection.mutable.ArrayBuffer
import scala.util.Random

import breeze.linalg.{DenseVector => BDV}
import breeze.optimize.{DiffFunction, FirstOrderMinimizer, LBFGS, OWLQN}
import org.scalatest.BeforeAndAfterEach

import dwell.LimitedSuite
import dwell.base.LittleEndian
import dwell.fit.ResultHeaders
import dwell.jni.NativeBridge
import dwell.solver.rows.leader.{LeaderSearch, Passed, QuasiNewton}
import dwell.spark.NativeLibrary

/** L-BFGS and OWL-QN against Breeze's own. */
class LimitedMemorySuite extends LimitedSuite with BeforeAndAfterEach {

  private val held = ArrayBuffer.empty[SearchHolder]

  override def afterEach(): Unit = {
    held.foreach(_.close())
    held.clear()
    assert(NativeBridge.stateEntries() == 0L)
  }

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

  private type Optimizer = FirstOrderMinimizer[BDV[Double], DiffFunction[BDV[Double]]]

  private def theirs(optimizer: Optimizer, f: Smooth, start: Array[Double]): Seq[(Array[Double], Double)] =
    optimizer.iterations(f, BDV(start)).map(s => (s.x.toArray, s.adjustedValue)).toList

  private def ours(
      f: Smooth,
      start: Array[Double],
      penalties: Array[Double],
      most: Int): Seq[(Array[Double], Double)] = {
    val l1 = if (penalties.exists(_ > 0.0)) 1.0 else 0.0
    val vectors = search(
      SearchBlocks(1, start.length),
      SearchSpace(start.map(_ => 1.0) :+ 0.0, null, penalties :+ 0.0, l1, l2 = 0.0),
      start :+ 0.0,
      threads = 2,
      total = 1.0) { model =>
      // The last entry stands for the intercept that there is not.
      val (value, gradient) = f.calculate(BDV(LittleEndian.doubles(model).init))
      (value, gradient.toArray :+ 7.0)
    }
    new LimitedMemory(vectors, l1 > 0.0, most, Tolerance).iterations.map { iteration =>
      val x = LittleEndian.doubles(vectors.model)
      assert(x.last == 0.0)
      (x.init, iteration.found.value)
    }.toList
  }

  private def search(blocks: SearchBlocks, space: SearchSpace, start: Array[Double], threads: Int, total: Double)(
      lossAndSums: Array[Byte] => (Double, Array[Double])): SearchVectors = {
    val holder = new LeaderSearch(blocks, space, start, total, Memory, threads)(model => {
      val (loss, sums) = lossAndSums(model)
      val intercepts = Array.tabulate(blocks.outputs)(c => sums(blocks.intercept(c)))
      Passed(loss, sums, intercepts, new ResultHeaders(Array.empty), addSeconds = 0.0)
    })
    held += holder
    new SearchVectors(holder, space.l1 > 0.0, Memory)
  }

  private val Memory = 10
  private val Tolerance = 1e-9

  /** Differences grow from iteration to iteration; while the iterates are far from the minimum they agree. */
  private val Alike = 8

  /** Corrections are rounded to 24 bits. */
  private val Single = 1e-5

  for (l1 <- Seq(false, true)) {
    test(s"iterates are Breeze's as far as single precision goes, ${if (l1) "with" else "without"} an L1 penalty") {
      NativeLibrary.require()
      val random = new Random(3)
      (0 until 20).foreach { case_ =>
        // Beyond the blocks of the native loops, and not a multiple of their lanes.
        val n = if (case_ == 19) 2503 else 1 + random.nextInt(60)
        val f = new Smooth(n, random)
        val penalties = Array.tabulate(n)(i => if (!l1 || i % 5 == 4) 0.0 else random.nextDouble())
        val start = Array.fill(n)(if (random.nextBoolean()) 0.0 else random.nextGaussian())
        val most = 5 + 10 * case_
        val optimizer =
          if (l1) new OWLQN[Int, BDV[Double]](most, Memory, (i: Int) => penalties(i), Tolerance)
          else new LBFGS[BDV[Double]](most, Memory, Tolerance)
        val (mine, expected) = (ours(f, start, penalties, most), theirs(optimizer, f, start))
        assert(expected.size > 2)
        mine.zip(expected).take(Alike).foreach { case ((x, value), (y, other)) =>
          val apart = x.indices.map(i => math.abs(x(i) - y(i))).max
          assert(
            apart <= Single && math.abs(value - other) <= Single * math.max(math.abs(other), 1e-6 * expected.head._2),
            s"$apart, $value beside $other")
        }
        assert(math.abs(mine.last._2 - expected.last._2) <= Single * expected.head._2)
      }
    }
  }

  test("a model of centred, scaled features with an intercept; the gradient is that of the objective") {
    NativeLibrary.require()
    val space = SearchSpace(
      Array(2.0, 0.0, 1.0, 2.0, 0.0, 1.0),
      Array(3.0, 5.0, 0.0, 3.0, 5.0, 0.0),
      Array(0.5, 1.0, 0.0, 0.5, 1.0, 0.0),
      l1 = 0.0,
      l2 = 2.0)
    var model = Seq.empty[Double]
    val vectors = search(SearchBlocks(2, 2), space, Array(4.0, 0.0, 1.0, -2.0, 0.0, 2.0), threads = 1, total = 4.0) {
      bytes =>
        model = LittleEndian.doubles(bytes).toSeq
        (10.0, Array(8.0, 1.0, 4.0, -16.0, 1.0, -8.0))
    }
    val found = vectors.evaluate(0.0)
    assert(model == Seq(2.0, 0.0, 1.0 - 6.0, -1.0, 0.0, 2.0 + 3.0))
    // 2 / 2 times 2 and -1 squared.
    assert(found.smooth == 10.0 + 4.0 + 1.0 && found.value == found.smooth && found.slope == 0.0)
    // (8 / 4 - 3) / 2 + 2 / 4 * 4, 0, 1, (-4 + 6) / 2 + 2 / 4 * -2, 0, -2.
    assert(found.norm == math.sqrt(1.5 * 1.5 + 1.0 + 4.0))
    vectors.accept(moved = false)
    assert(vectors.turn().contains(Direction(found.norm, -7.25)))
    vectors.evaluate(1.0)
    assert(model == Seq(1.25, 0.0, -3.75, -1.0, 0.0, 7.0))
    assert(LittleEndian.doubles(vectors.model).head == 2.0, "of the point, not of the trial")
  }

  test("any number of threads gives the same bits") {
    NativeLibrary.require()
    val n = 150001
    def models(threads: Int): Seq[Seq[Byte]] = {
      val random = new Random(7)
      val space = SearchSpace(Array.fill(n + 1)(1.0), null, Array.fill(n + 1)(1.0), l1 = 0.01, l2 = 0.5)
      val vectors = search(SearchBlocks(1, n), space, Array.fill(n + 1)(random.nextGaussian()), threads, total = 1.0) {
        _ => (1.0, Array.fill(n + 1)(random.nextGaussian()))
      }
      vectors.evaluate(0.0)
      vectors.accept(moved = false)
      Seq.fill(4) {
        assert(vectors.turn().nonEmpty)
        vectors.evaluate(0.125)
        vectors.accept(moved = true)
        vectors.model.toSeq
      }
    }
    assert(models(1) == models(2) && models(3) == models(1))
  }

  test("blocks lie within an output, cover all coordinates, and are dealt evenly") {
    for ((outputs, features) <- Seq((1, 0), (3, 5), (2, 16383), (2, 16384), (3, 40000)); workers <- Seq(1, 2, 7)) {
      val blocks = SearchBlocks(outputs, features)
      val starts = (0 to blocks.number).map(blocks.start)
      assert(
        starts.head == 0 && starts.last == blocks.length && starts.zip(starts.tail).forall { case (a, b) => a < b })
      assert((0 until outputs).forall(c => starts.contains(c * (features + 1))))
      assert((0 until outputs).map(blocks.intercept) == (1 to outputs).map(_ * (features + 1) - 1))
      assert((0 until blocks.number).forall(b => blocks.outputOf(b) == blocks.start(b) / (features + 1)))
      val slices = blocks.slices(workers)
      assert(slices.start(workers) == blocks.length && (0 to workers).map(slices.start).forall(starts.contains))
      val counts = (0 until workers).map(blocks.dealt(workers).size)
      assert(counts.sum == blocks.number && counts.max - counts.min <= 1)
    }
  }

  test("the direction solves the secant equations of the newest correction, and forgets the oldest") {
    val random = new Random(5)
    val n = 40
    val diagonal = Array.fill(n)(0.5 + random.nextDouble())
    def vector(): Array[Double] = Array.fill(n)(random.nextGaussian())
    def dot(x: Array[Double], y: Array[Double]): Double = x.indices.map(i => x(i) * y(i)).sum
    def change(step: Array[Double]): Array[Double] = step.indices.map(i => diagonal(i) * step(i)).toArray
    def after(pairs: Seq[(Array[Double], Array[Double])]): (Corrections, Vector[(Array[Double], Array[Double])]) =
      pairs.foldLeft((Corrections.Empty, Vector.empty[(Array[Double], Array[Double])])) { case ((c, kept), pair) =>
        val now = pair +: kept.take(3)
        (
          c.updated(
            4,
            now.map(p => dot(pair._1, p._2)),
            now.map(p => dot(pair._2, p._1)),
            now.map(p => dot(pair._2, p._2))),
          now)
      }
    def direction(pairs: Seq[(Array[Double], Array[Double])], g: Array[Double]): Option[Array[Double]] = {
      val (corrections, kept) = after(pairs)
      val (steps, changes) = (kept.map(_._1), kept.map(_._2))
      corrections.direction(steps.map(dot(_, g)), changes.map(dot(_, g))).map { case (factor, factors) =>
        Array.tabulate(n)(i => factor * g(i) + (steps ++ changes).zip(factors).map { case (v, f) => f * v(i) }.sum)
      }
    }
    val pairs = Seq.fill(7)(vector()).map(step => (step, change(step)))
    val g = vector()
    // H y = s for the newest pair.
    val (step, y) = pairs.last
    val back = direction(pairs, y).get
    assert(back.indices.forall(i => math.abs(back(i) + step(i)) <= 1e-10))
    assert(direction(pairs, g).get.sameElements(direction(pairs.drop(3), g).get), "four of seven are kept")
    assert(Corrections.Empty.direction(Seq.empty, Seq.empty).exists { case (factor, factors) =>
      factor == -1.0 && factors.isEmpty
    })
    assert(direction(Seq((g, g.map(-_))), g).isEmpty, "negative curvature")
  }

  test("a leader with little memory keeps fewer corrections, and a few at least") {
    val n = 1000000
    assert(QuasiNewton.corrections(n, 1, 2L * 192 * n) == 10)
    assert(QuasiNewton.corrections(n, 1, 2L * 192 * n - 1) == 9)
    assert(QuasiNewton.corrections(n, 2, 2L * 192 * n) == 3 && !QuasiNewton.hasRoom(n, 2, 2L * 192 * n))
    assert(QuasiNewton.hasRoom(n, 1, 2L * 136 * n))
  }
}
