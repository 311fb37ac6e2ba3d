package org.apache.spark

import org.apache.spark.rdd.RDD
import org.apache.spark.scheduler.{ExecutorCacheTaskLocation, SparkListenerEvent}
import org.apache.spark.storage.{RDDBlockId, StorageLevel}

/** Members of `SparkContext` and of `RDD` that are private to Spark. */
object DwellBridge {

  /** Posts an event to the listeners of the context (and so to the event log). */
  def post(sc: SparkContext, event: SparkListenerEvent): Unit = sc.listenerBus.post(event)

  /**
   * Ids of the executors that take tasks now, sorted; none in local mode. The list is the scheduler's: after a missing
   * shuffle file, the list of block managers lacks its executor for a while. A decommissioned executor takes no more tasks, but is registered
   * until others have its blocks: a task that prefers it would wait for `spark.locality.wait`.
   */
  def executors(sc: SparkContext): Seq[String] =
    if (sc.isLocal) Seq.empty
    else sc.getExecutorIds().filter(sc.taskScheduler.getExecutorDecommissionState(_).isEmpty).sorted

  /** The executors that are registered now, each with the number of tasks that it runs at a time; none in local mode. */
  def slotsByExecutor(sc: SparkContext): Seq[(String, Int)] = {
    val slots = sc.statusStore.executorList(activeOnly = true).map(e => e.id -> e.maxTasks).toMap
    // The list of the status store may lag behind.
    executors(sc).map(id => id -> math.max(1, slots.getOrElse(id, 1)))
  }

  /**
   * The preferred-location string of an executor: `executor_<host>_<id>`. Spark finds an executor by its id alone, so the
   * host can be any name.
   */
  def location(executor: String): String = s"executor_host_$executor"

  /** The locations of the executors that are registered now; none in local mode. */
  def executorLocations(sc: SparkContext): Seq[String] = executors(sc).map(location)

  /**
   * Ids of executors that the scheduler knows and the list of block managers lacks. After a missing shuffle file Spark
   * takes the executor off that list, and its next heartbeat or block puts it back.
   */
  def absentBlockManagers(sc: SparkContext): Set[String] =
    if (sc.isLocal) Set.empty
    else sc.getExecutorIds().toSet -- sc.env.blockManager.master.getMemoryStatus.keys.map(_.executorId)

  /** Removes the blocks of an RDD from the executors whose block managers are on the list. Does not wait. */
  def removeBlocks(sc: SparkContext, rddId: Int): Unit =
    sc.env.blockManager.master.removeRdd(rddId, blocking = false)

  /** The number of tasks of the default profile that the executors registered now can run at once. */
  def slots(sc: SparkContext): Int = sc.maxNumConcurrentTasks(sc.resourceProfileManager.defaultResourceProfile)

  /**
   * Ids of the executors that hold a partition, or what Spark would make it of. The scheduler remembers where cached data was
   * when the last job began, so the master of the block managers is asked first.
   */
  def holders(rdd: RDD[_], partition: Int): Seq[String] = cachedAt(rdd, partition) match {
    case Seq() =>
      rdd.sparkContext.getPreferredLocs(rdd, partition).collect { case at: ExecutorCacheTaskLocation => at.executorId }
    case found => found
  }

  private def cachedAt(rdd: RDD[_], partition: Int): Seq[String] = {
    val master = rdd.sparkContext.env.blockManager.master
    val own =
      if (rdd.getStorageLevel == StorageLevel.NONE) Seq.empty
      else master.getLocations(RDDBlockId(rdd.id, partition)).map(_.executorId)
    if (own.nonEmpty) own
    else
      rdd.dependencies match {
        case Seq(before: OneToOneDependency[_]) => cachedAt(before.rdd, partition)
        case _ => Seq.empty
      }
  }

  /** As `Utils.isDynamicAllocationEnabled`, whose signature differs between Spark versions. */
  def dynamicAllocation(sc: SparkContext): Boolean =
    !sc.isLocal && sc.conf.getBoolean("spark.dynamicAllocation.enabled", defaultValue = false)
}
