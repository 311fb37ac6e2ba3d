package dwell

/** What `check` runs of a matrix misses no pair, and no value. */
class CheckLongSuite extends LimitedSuite {

  private val cases = for (a <- 0 until 4; b <- Seq("x", "y", "z"); c <- Seq(true, false)) yield (a, b, c)

  test("every two values of two factors meet, in fewer cases, in the order given") {
    val chosen = CheckLong.pairsOf(cases)
    assert(chosen.map(c => (c._1, c._2)).toSet == cases.map(c => (c._1, c._2)).toSet)
    assert(chosen.map(c => (c._1, c._3)).toSet == cases.map(c => (c._1, c._3)).toSet)
    assert(chosen.map(c => (c._2, c._3)).toSet == cases.map(c => (c._2, c._3)).toSet)
    assert(chosen == cases.filter(chosen.contains) && chosen == CheckLong.pairsWithin(cases))
    assert(CheckLong.everything == (chosen.size == cases.size))
  }

  test("every value is there") {
    val chosen = CheckLong.valuesOf(cases)
    assert(chosen.map(_._1).toSet == cases.map(_._1).toSet && chosen.map(_._2).toSet == cases.map(_._2).toSet)
    assert(CheckLong.everything || chosen.size == 4)
  }
}
