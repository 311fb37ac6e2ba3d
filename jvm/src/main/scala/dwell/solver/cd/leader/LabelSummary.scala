package dwell.solver.cd.leader

/** Weighted mean and population variance of the labels. */
private[solver] final case class LabelSummary(mean: Double, variance: Double)
