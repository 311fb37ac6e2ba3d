package org.apache.spark

import org.apache.spark.scheduler.SparkListenerEvent

/** Members of `SparkContext` that are private to Spark. */
object DwellBridge {

  /** Posts an event to the listeners of the context (and so to the event log). */
  def post(sc: SparkContext, event: SparkListenerEvent): Unit = sc.listenerBus.post(event)

  /**
   * Preferred-location strings (`executor_<host>_<id>`) of the executors that are there now; none in local mode. They are those
   * of the scheduler: the list of block managers is without an executor for a while after a shuffle file of it was missing.
   * Spark finds an executor by its id, whatever the host is called.
   */
  def executorLocations(sc: SparkContext): Seq[String] =
    if (sc.isLocal) Seq.empty else sc.getExecutorIds().sorted.map(id => s"executor_host_$id")

  /** Tasks of the default profile that can run at once on the executors that are registered now. */
  def slots(sc: SparkContext): Int = sc.maxNumConcurrentTasks(sc.resourceProfileManager.defaultResourceProfile)

  /** As `Utils.isDynamicAllocationEnabled`, whose signature differs between versions. */
  def dynamicAllocation(sc: SparkContext): Boolean =
    !sc.isLocal && sc.conf.getBoolean("spark.dynamicAllocation.enabled", defaultValue = false)
}
