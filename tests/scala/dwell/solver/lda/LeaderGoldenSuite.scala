package dwell.solver.lda

import dwell.LimitedSuite
import dwell.comm.wire.Numbers.Floats
import dwell.solver.cd.Golden._
import dwell.solver.lda.leader.{Concentration, InitialTopics}

/** The computations of the leader, against numbers of a script that shares no code with it. */
class LeaderGoldenSuite extends LimitedSuite {

  /** The precision of Breeze's digamma and trigamma. */
  private val Precision = 1e-8

  private val cases = golden("topics")

  private def assertNear(actual: Double, expected: Double, what: String): Unit =
    assert(math.abs(actual - expected) <= Precision * math.max(1.0, math.abs(expected)), what)

  test("the first topics, to the bit") {
    items(cases.get("initial")).foreach { c =>
      val (topics, words) = (c.get("topics").asInt, c.get("words").asInt)
      val entries = InitialTopics(topics, words, c.get("seed").asLong).entries(0, (topics * words + 1) / 2)
      val numbers = doubles(c.get("numbers")).toSeq
      assert(Floats.values(entries).toSeq == numbers ++ Seq.fill(numbers.size % 2)(0.0), c)
    }
  }

  test("the first topics have mean 1 and variance 0.01") {
    val numbers = Floats.values(InitialTopics(10, 1000, seed = 3L).entries(0, 10 * 1000 / 2))
    val mean = numbers.sum / numbers.length
    val variance = numbers.map(x => (x - mean) * (x - mean)).sum / numbers.length
    // Three standard deviations of these estimates.
    assert(math.abs(mean - 1.0) < 3e-3 && math.abs(variance - 0.01) < 5e-4, s"$mean, $variance")
  }

  test("parts of the first topics are those of the whole, wherever they begin and end") {
    val first = InitialTopics(7, 5, seed = -4L)
    val whole = first.entries(0, 18).toSeq
    for (from <- 0 to 18; until <- from to 18) {
      assert(first.entries(from, until).toSeq == whole.slice(8 * from, 8 * until), s"$from until $until")
    }
  }

  test("Newton's step of alpha") {
    items(cases.get("newton")).foreach { c =>
      val after = Concentration.newtonStep(
        doubles(c.get("alpha")),
        doubles(c.get("sums")),
        c.get("documents").asDouble,
        c.get("rho").asDouble)
      after.zip(doubles(c.get("after"))).foreach { case (actual, expected) =>
        assertNear(actual, expected, s"$c: ${after.toSeq}")
      }
    }
  }

  test("a step that leaves the range is none, and so is one without documents") {
    val alpha = Array(1.0, 1.0, 1.0)
    assert(Concentration.newtonStep(alpha, Array(-1e9, 0.0, 0.0), documents = 1.0, rho = 1.0) eq alpha)
    assert(Concentration.newtonStep(alpha, new Array[Double](3), documents = 0.0, rho = 1.0) eq alpha)
  }
}
