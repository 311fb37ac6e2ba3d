package dwell.data.block

/**
 * Whether the labels of groups of rows are so alike that models of the groups can be averaged, and those of neighbours so unlike that
 * stochastic gradients can take the rows in their order. Where labels are sorted, a group's model is one of its own class, and the average
 * of such models is none of the whole.
 */
private[data] object AlikeLabels {

  /**
   * How far a group's mean label and its standard deviation may be from the mean and the deviation of all rows, in standard deviations.
   *
   * A constant that is off by d standard deviations costs a share d^2 of the variance in squared loss: here 1%, no more
   * than the least that model averaging takes for progress. The means of random groups stay within it from 1,600 rows
   * on (four standard errors). With fewer rows a shuffle takes no time.
   */
  private val Bound = 0.1

  /**
   * Why the labels are not alike; None if they are.
   *
   * @param groups
   *   the labels of the source partitions of each group
   * @param all
   *   the labels of all rows
   */
  def objection(groups: Seq[Seq[LabelSummary]], all: LabelMoments): Option[String] =
    if (all.smallest == all.largest) None
    else {
      val deviation = math.sqrt(all.variance)
      val distances = groups.map { partitions =>
        val weight = partitions.map(_.weight).sum
        val mean = partitions.map(_.sum).sum / weight
        val spread = math.sqrt(partitions.map(_.squaresAbout(mean)).sum / weight)
        math.max(math.abs(mean - all.mean), math.abs(spread - deviation)) / deviation
      }
      // A comparison with NaN is false.
      distances.find(d => !(d <= Bound)).map { _ =>
        f"the labels of groups of the source's partitions differ by ${distances.max}%.2f standard deviations from those of all rows"
      }
    }

  /** Below this, neighbours are alike. The ratio of a thousand rows in random order is 1 with an error of 0.03. */
  private val LeastRatio = 0.5

  /** Why rows are not mixed; None if they are. Rows of one label are. */
  def unmixed(all: LabelMoments): Option[String] =
    if (all.smallest < all.largest && all.neighbourRatio < LeastRatio) Some {
      f"the labels of rows that follow one another in the source are alike: their mean squared difference is ${all.neighbourRatio}%.2f of that in random order"
    }
    else None
}
