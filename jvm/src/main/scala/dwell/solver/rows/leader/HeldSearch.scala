package dwell.solver.rows.leader

import dwell.base.LittleEndian
import dwell.comm.Workers
import dwell.fit.ResultHeaders
import dwell.solver.pass.PassMessage
import dwell.solver.rows.search.{SearchAnswer, SearchBlocks, SearchHolder, SearchMessage, SearchSlice, SearchSpace, Trial}

/**
 * The leader has the vectors of a search.
 *
 * @param pass
 *   a pass at a model
 */
private[rows] final class LeaderSearch(
    blocks: SearchBlocks,
    space: SearchSpace,
    start: Array[Double],
    total: Double,
    memory: Int,
    threads: Int)(pass: Array[Byte] => Passed)
    extends SearchHolder {
  private val slice = new SearchSlice(space, blocks.ends(0 until blocks.number), start, memory, threads)

  override def trial(step: Double): Trial = {
    val (model, centres) = slice.trial(step)
    blocks.uncentre(model, centres.toSeq)
    val passed = pass(model)
    val intercepts = Array.tabulate(blocks.number)(b => passed.intercepts(blocks.outputOf(b)) / total)
    Trial(model, passed.loss, SearchBlocks.sums(slice.evaluated(passed.sums, total, intercepts), 5))
  }

  override def accept(moved: Boolean): Array[Double] = {
    val products = slice.accept(moved)
    SearchBlocks.sums(products, products.length / blocks.number)
  }

  override def turn(factor: Double, factors: Array[Double]): Array[Double] =
    SearchBlocks.sums(slice.turn(factor, factors), 2)

  override def close(): Unit = slice.close()
}

/**
 * Each worker has a slice of the vectors, so that the leader neither works on vectors nor sends or receives them
 * (Chen, Wang and Zhou, Large-scale L-BFGS using MapReduce, NIPS 2014).
 *
 * @param pass
 *   a pass for losses and gradient
 * @param passed
 *   makes of the answers to a step the loss, and takes note of them
 */
private[rows] final class SharedSearch(
    workers: Workers.Together[SearchMessage, SearchAnswer],
    blocks: SearchBlocks,
    space: SearchSpace,
    start: Array[Double],
    total: Double,
    memory: Int,
    pass: PassMessage)(passed: (ResultHeaders, Array[Double]) => Double)
    extends SearchHolder {
  import SearchMessage._

  private val bounds = blocks.slices(workers.members)

  workers(
    BeginSearch(blocks, space.l1, space.l2, total, space.mean != null, memory, pass.threads),
    bounds,
    (Seq(space.scales, space.factors, start) ++ Option(space.mean)).map(LittleEndian.bytes))

  override def trial(step: Double): Trial = {
    val replies = workers(StepAlong(step, pass), bounds, Seq.empty)
    val first = replies.scalars.head
    val loss = passed(new ResultHeaders(replies.headers), first.intercepts)
    Trial(first.model, loss, SearchBlocks.sums(replies.scalars.flatMap(_.sums), 5))
  }

  override def accept(moved: Boolean): Array[Double] = {
    val products = asked(Accept(moved))
    SearchBlocks.sums(products, products.length / blocks.number)
  }

  override def turn(factor: Double, factors: Array[Double]): Array[Double] =
    SearchBlocks.sums(asked(Turn(factor, factors)), 2)

  private def asked(message: SearchMessage): Array[Double] =
    workers(message, bounds, Seq.empty).scalars.flatMap(_.sums)
}
