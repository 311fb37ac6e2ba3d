package dwell.solver.choice

import dwell.LimitedSuite

class MoveForecastSuite extends LimitedSuite {

  private def pays(rows: Long, perRow: Long, dense: Boolean, outputs: Int = 1, maxRounds: Int = 100): Boolean = {
    val pairs = 0.5 * rows * perRow * perRow
    val (densePairs, sparsePairs) = if (dense) (pairs, 0.0) else (0.0, pairs)
    val facts = DataFacts(rows, 1 << 18, rows * perRow, densePairs, sparsePairs)
    MoveForecast.pays(facts, rows * perRow * 12L, outputs, maxRounds)
  }

  test("sparse rows are worth a move, dense ones with one output are not, and few rounds never are") {
    assert(pays(300000, 16, dense = false))
    assert(!pays(60000, 400, dense = true))
    assert(pays(60000, 400, dense = true, outputs = 10))
    assert(!pays(300000, 16, dense = false, maxRounds = 5))
  }

  test("the size of the data does not matter") {
    for (rows <- Seq(1000L, 1000000L, 1000000000L); dense <- Seq(true, false))
      assert(pays(rows, 20, dense) == !dense)
  }
}
