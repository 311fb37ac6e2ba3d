package dwell.solver.choice

import org.apache.spark.ExecutorMemory

import dwell.data.TrainingRows
import dwell.fit.Aggregation
import dwell.jni.ResultHeader
import dwell.problem.{Loss, Orientation, RowUse}
import dwell.solver.linear.LinearProblem
import dwell.solver.rows.leader.QuasiNewton

/**
 * The room for the vectors of a fit.
 *
 * @param results
 *   bytes of a job's results that the driver accepts, `spark.driver.maxResultSize`
 * @param driver
 *   bytes of the driver's memory
 * @param task
 *   bytes of memory for each task
 * @param workers
 *   number of workers, by what they do with rows
 * @param gathers
 *   whether the vector of every worker comes to the driver, and not only their sum
 */
private[solver] final case class Room(
    results: Long,
    driver: Long,
    task: Long,
    workers: RowUse => Int,
    gathers: Boolean) {
  import Room._

  /** Whether the driver has room for the vectors of L-BFGS. */
  def hasSearch(loss: Loss, numFeatures: Int): Boolean =
    numFeatures.toLong * loss.outputs <= ResultHeader.MAX_ENTRIES &&
      QuasiNewton.hasRoom(numFeatures, loss.outputs, driver)

  /**
   * Checks that the results of a round of a method that moves coefficients have room.
   *
   * @throws IllegalArgumentException
   *   if they have none. Spark's own code brings such vectors to the driver, too
   */
  def check(use: RowUse, outputs: Int, facts: DataFacts): Unit = {
    fitting(Seq(() -> facts.numFeatures.toLong * outputs), use, facts)
    ()
  }

  /**
   * Those of the orientations in which a round's results stay below the limit, where they come to the driver, and in one array.
   * Of two such orientations it is the one whose vectors tasks have memory for, if only one is.
   *
   * @throws IllegalArgumentException
   *   if the results of no orientation stay below the limit
   */
  def orientations(possible: Seq[Orientation], facts: DataFacts): Seq[Orientation] = {
    val lengths = possible.map {
      case Orientation.Primal => Orientation.Primal -> facts.numRows
      case Orientation.Dual => Orientation.Dual -> facts.numFeatures.toLong
    }
    fitting(lengths, RowUse.Coordinates, facts)
  }

  private def fitting[T](lengths: Seq[(T, Long)], use: RowUse, facts: DataFacts): Seq[T] = {
    val count = workers(use)
    val vectors = if (gathers) count else 1
    // If no vector fits into an array, the data refuses the method, with the reason.
    val inArray = lengths.filter(_._2 <= ResultHeader.MAX_ENTRIES)
    val sizes = (if (inArray.isEmpty) lengths else inArray).map { case (of, length) =>
      of -> (count.toLong * ResultHeader.BYTES + vectors * 8L * length)
    }
    val allowed = sizes.collect { case (of, bytes) if bytes <= results => of }
    val roomy = lengths.collect { case (of, length) if VectorsOfTask * 8L * length <= task => of }
    if (allowed.isEmpty) {
      val fix = if (vectors > 1) "raise it, set aggregation to shuffle, or lower numWorkers" else "raise it"
      throw new IllegalArgumentException(
        s"a round brings ${sizes.map(_._2).min} bytes to the driver ($count workers, ${facts.numRows} rows, " +
          s"${facts.numFeatures} features), more than spark.driver.maxResultSize ($results); $fix")
    }
    if (allowed.exists(roomy.contains)) allowed.filter(roomy.contains) else allowed
  }
}

private[solver] object Room {

  /** The room for a problem on rows that have been read. */
  def of(problem: LinearProblem, rows: TrainingRows): Room = Room(
    problem.settings.maxResultBytes,
    Runtime.getRuntime.maxMemory,
    ExecutorMemory.ofSlot(rows.sc).getOrElse(Long.MaxValue),
    use => if (problem.numWorkers > 0) problem.numWorkers else rows.workers(use),
    problem.aggregation.contains(Aggregation.Driver))

  /** A round's vector, the answer to it, and a copy of each on its way. */
  private val VectorsOfTask = 4L
}
