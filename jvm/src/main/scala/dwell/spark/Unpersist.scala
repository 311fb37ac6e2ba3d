package dwell.spark

import org.apache.spark.{DwellBridge, SparkContext}
import org.apache.spark.rdd.RDD
import org.apache.spark.scheduler.{SparkListener, SparkListenerBlockManagerAdded, SparkListenerExecutorRemoved}

/**
 * Removes cached RDDs from all executors, also from those that Spark cannot reach at the moment.
 *
 * After a missing shuffle file Spark forgets the executor's block manager until its next heartbeat. Spark's own
 * `unpersist` skips it then, and the blocks stay in its memory.
 */
private[dwell] object Unpersist {

  /** Does not wait for the blocks to go. The context must not have stopped. */
  def apply(rdd: RDD[_]): Unit = {
    val sc = rdd.sparkContext
    val absent = DwellBridge.absentBlockManagers(sc)
    rdd.unpersist(blocking = false)
    if (absent.nonEmpty) {
      val returns = new Returns(sc, rdd.id, absent)
      sc.addSparkListener(returns)
      // Some may have come back before the listener heard of it.
      absent.diff(DwellBridge.absentBlockManagers(sc)).foreach(returns.cameBack)
    }
  }

  /** Removes the blocks of one RDD from each of the executors as soon as Spark knows its block manager again. */
  private final class Returns(sc: SparkContext, rddId: Int, executors: Set[String]) extends SparkListener {
    private var absent = executors

    def cameBack(executor: String): Unit = leave(executor)(DwellBridge.removeBlocks(sc, rddId))

    override def onBlockManagerAdded(event: SparkListenerBlockManagerAdded): Unit =
      cameBack(event.blockManagerId.executorId)

    override def onExecutorRemoved(event: SparkListenerExecutorRemoved): Unit = leave(event.executorId)(())

    private def leave(executor: String)(action: => Unit): Unit = {
      val (awaited, last) = synchronized {
        val awaited = absent(executor)
        absent -= executor
        (awaited, awaited && absent.isEmpty)
      }
      if (awaited) action
      if (last) sc.removeSparkListener(this)
    }
  }
}
