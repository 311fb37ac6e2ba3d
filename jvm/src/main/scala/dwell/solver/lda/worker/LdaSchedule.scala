package dwell.solver.lda.worker

/**
 * Step sizes as a function of the number g of documents that all workers have seen, so that tau0 and kappa need no new
 * tuning for another batch size or number of workers:
 *
 * {{{
 *   rho(g) = (tau0 + 1 + g / base)^-kappa
 *   a batch of b documents on each of W workers takes 1 - (1 - rho(g))^(W b / base)
 * }}}
 *
 * With `W b = base` it is the schedule of Hoffman, Blei, Bach, Online Learning for Latent Dirichlet Allocation, NIPS
 * 2010, algorithm 2.
 *
 * @param tau0
 *   shortens the first steps, finite and at least 0; with 0 the first step discards the topics before it
 * @param kappa
 *   how fast steps shrink, finite and at least 0; they converge for more than 0.5 and at most 1
 * @param base
 *   documents of an update whose step is rho, finite and positive
 */
final case class LdaSchedule(tau0: Double, kappa: Double, base: Double = LdaSchedule.Base) {

  /** rho, after `seen` documents: 0 to 1. */
  def rho(seen: Double): Double = math.pow(tau0 + 1.0 + seen / base, -kappa)

  /** The step of a batch of `documents` on each of `workers`, after `seen` documents on all of them: 0 to 1. */
  def step(seen: Double, documents: Double, workers: Double): Double =
    // 1 - (1 - rho)^batches without cancellation.
    -math.expm1(math.log1p(-rho(seen)) * (workers * documents / base))

  /**
   * Documents of all workers after which the leader should average their topics. For small batches, the steps of each
   * worker then sum to 1. Workers that continue for longer drift apart.
   */
  def stretch(seen: Double): Double = base / rho(seen)
}

/** Default schedules. */
object LdaSchedule {

  /**
   * The default schedule. It has longer steps for one worker, whose topics need no average, than for several. With
   * several workers the first average comes after about 8,000 documents, and later ones less often. These schedules
   * were the best that we measured, on corpora of 30,000 and 120,000 documents.
   *
   * @param workers
   *   number of workers with documents
   */
  def chosen(workers: Int): LdaSchedule =
    if (workers == 1) LdaSchedule(tau0 = 10.0, kappa = 0.7) else LdaSchedule(tau0 = 64.0, kappa = 0.51)

  /** The size of mini-batches that Hoffman, Blei, Bach need for good topics. */
  val Base: Double = 1000.0
}
