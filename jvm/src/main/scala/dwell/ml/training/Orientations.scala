package dwell.ml.training

import org.apache.spark.ExecutorMemory

import dwell.data.TrainingRows
import dwell.fit.{Aggregation, DwellConf}
import dwell.jni.ResultHeader
import dwell.problem.{Algorithm, Loss, Orientation, Penalty}

/** Finds the orientations in which a problem exists, and those whose results the driver has room for. */
private[training] object Orientations {

  /**
   * The orientations in which the problem exists, limited to the one that the user asks for.
   *
   * @param asked
   *   the Param orientation
   * @throws IllegalArgumentException
   *   if the problem does not exist in the orientation asked for
   */
  def possible(asked: Option[Orientation], algorithm: Algorithm, loss: Loss, penalty: Penalty): Seq[Orientation] = {
    def objection(orientation: Orientation) = orientation.objection(algorithm, loss, penalty)
    asked match {
      case None => Orientation.all.filter(objection(_).isEmpty)
      case Some(orientation) =>
        objection(orientation).foreach { why =>
          throw new IllegalArgumentException(refusal(why, algorithm, loss, penalty))
        }
        Seq(orientation)
    }
  }

  private def refusal(objection: Orientation.Objection, algorithm: Algorithm, loss: Loss, penalty: Penalty): String =
    objection match {
      case Orientation.AlongRows =>
        s"orientation=primal is not for algorithm=${algorithm.name}, whose steps are along rows. Use orientation dual or auto."
      case Orientation.NotSmooth =>
        s"orientation=primal needs a loss with a derivative everywhere, which the $loss loss does not have. " +
          "Use orientation dual or auto."
      case Orientation.NoL2 =>
        val cause =
          if (penalty.isNone) "regParam is 0"
          else "elasticNetParam is 1, and the L1 penalty alone leaves the dual problem without a unique model"
        s"orientation=dual needs an L2 penalty, but $cause. Use orientation primal or auto, or " +
          (if (penalty.isNone) "raise regParam." else "lower elasticNetParam.")
    }

  /**
   * The orientation to ask the solver for (None leaves the choice to it), so that a round's results stay below
   * `spark.driver.maxResultSize`, where they come to the driver, and in one array. Of two such orientations it is the one whose vectors tasks
   * have memory for, if only one is.
   *
   * @param asked
   *   the Param orientation
   * @param possible
   *   the result of [[possible]]
   * @param outputs
   *   number of outputs of the model
   * @param numWorkers
   *   the Param; 0 chooses by size
   * @param aggregation
   *   in driver mode the vector of every worker comes to the driver, otherwise only their sum
   * @throws IllegalArgumentException
   *   if the results of no orientation stay below the limit. Spark's own code brings such vectors to the driver, too
   */
  def withinLimit(
      asked: Option[Orientation],
      possible: Seq[Orientation],
      algorithm: Algorithm,
      data: TrainingRows,
      outputs: Int,
      numWorkers: Int,
      aggregation: Option[Aggregation],
      conf: DwellConf): Option[Orientation] = {
    val workers = if (numWorkers > 0) numWorkers else data.workers(algorithm.use)
    val vectors = if (aggregation.contains(Aggregation.Driver)) workers else 1
    val lengths = possible.map {
      case Orientation.Primal => Orientation.Primal -> data.numRows
      case Orientation.Dual => Orientation.Dual -> data.numFeatures.toLong * outputs
    }
    // If no vector fits into an array, the data refuses the orientation, with the reason.
    val inArray = lengths.filter(_._2 <= ResultHeader.MAX_ENTRIES)
    val sizes = (if (inArray.isEmpty) lengths else inArray).map { case (orientation, length) =>
      orientation -> (workers.toLong * ResultHeader.BYTES + vectors * 8L * length)
    }
    val limit = conf.maxResultBytes
    val allowed = sizes.collect { case (orientation, bytes) if bytes <= limit => orientation }
    val memory = ExecutorMemory.ofSlot(data.sc).getOrElse(Long.MaxValue)
    val roomy = lengths.collect { case (orientation, length) if VectorsOfTask * 8L * length <= memory => orientation }
    val fitting = if (allowed.exists(roomy.contains)) allowed.filter(roomy.contains) else allowed
    if (fitting.isEmpty) {
      val fix = if (vectors > 1) "raise it, set aggregation to shuffle, or lower numWorkers" else "raise it"
      throw new IllegalArgumentException(
        s"a round brings ${sizes.map(_._2).min} bytes to the driver ($workers workers, ${data.numRows} rows, " +
          s"${data.numFeatures} features), more than spark.driver.maxResultSize ($limit); $fix")
    }
    if (fitting.size == possible.size) asked else fitting.headOption
  }

  /** A round's vector, the answer to it, and a copy of each on its way. */
  private val VectorsOfTask = 4L
}
