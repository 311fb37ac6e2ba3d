package dwell.solver.cd.jvm

/** What the steps add up to beside the vector; what is summed is the orientation's. */
private[solver] final class RunningSums {
  var first = 0.0
  var second = 0.0

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
