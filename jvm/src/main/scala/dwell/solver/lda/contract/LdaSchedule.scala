package dwell.solver.lda.contract

/**
 * Step sizes, by the documents g that all workers have seen, so that neither batch nor workers change what is tuned:
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
 *   slows the first steps, finite and at least 0; with 0 the first one forgets the topics
 * @param kappa
 *   how fast steps shrink, finite and at least 0; above 0.5 and at most 1 they converge
 * @param base
 *   documents in an update that takes rho, finite and positive
 */
final case class LdaSchedule(tau0: Double, kappa: Double, base: Double = LdaSchedule.Base) {

  /** rho, after `seen` documents: 0 to 1. */
  def rho(seen: Double): Double = math.pow(tau0 + 1.0 + seen / base, -kappa)

  /** The step of a batch of `documents` on each of `workers`, after `seen` documents on all of them: 0 to 1. */
  def step(seen: Double, documents: Double, workers: Double): Double =
    // 1 - (1 - rho)^batches without cancellation.
    -math.expm1(math.log1p(-rho(seen)) * (workers * documents / base))

  /**
   * Documents of all workers after which their topics should be averaged: the sum of each worker's steps is 1 then, if
   * the batches are small. Workers that go on for longer drift apart.
   */
  def stretch(seen: Double): Double = base / rho(seen)
}

object LdaSchedule {

  /**
   * Where the user has not chosen: longer steps for one worker, whose topics nobody averages, than for several. With
   * the latter they are averaged after 8,000 documents at first, and later on less often. (The best of those measured,
   * on corpora of 30,000 and 120,000 documents.)
   *
   * @param workers
   *   that have documents
   */
  def chosen(workers: Int): LdaSchedule =
    if (workers == 1) LdaSchedule(tau0 = 10.0, kappa = 0.7) else LdaSchedule(tau0 = 64.0, kappa = 0.51)

  /** What mini-batches of Hoffman, Blei, Bach have to have for good topics. */
  val Base: Double = 1000.0
}
