package dwell.solver.cd.jvm

/** Two sums over the steps, beside the vector. Each orientation sums its own terms. */
private[solver] final class RunningSums {
  var first = 0.0
  var second = 0.0

  /** A copy that can change on its own. */
  def copied: RunningSums = {
    val copy = new RunningSums
    copy.first = first
    copy.second = second
    copy
  }

  /** Adds the mean change of copies that started here. */
  def addAverage(copies: Array[RunningSums]): Unit = {
    val before = copied
    copies.foreach { copy =>
      first += (copy.first - before.first) / copies.length
      second += (copy.second - before.second) / copies.length
    }
  }
}
