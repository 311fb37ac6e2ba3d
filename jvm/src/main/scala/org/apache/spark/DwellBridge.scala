package org.apache.spark

import org.apache.spark.scheduler.SparkListenerEvent

/** Members of `SparkContext` that are private to Spark. */
object DwellBridge {

  /** Posts an event to the listeners of the context (and so to the event log). */
  def post(sc: SparkContext, event: SparkListenerEvent): Unit = sc.listenerBus.post(event)

  /** Preferred-location strings (`executor_<host>_<id>`) of the executors that are registered now; none in local mode. */
  def executorLocations(sc: SparkContext): Seq[String] =
    sc.env.blockManager.master.getMemoryStatus.keys.toSeq
      .filterNot(_.isDriver)
      .map(id => s"executor_${id.host}_${id.executorId}")
      .sorted

  /** Tasks of the default profile that can run at once on the executors that are registered now. */
  def slots(sc: SparkContext): Int = sc.maxNumConcurrentTasks(sc.resourceProfileManager.defaultResourceProfile)

  /** As `Utils.isDynamicAllocationEnabled`, whose signature differs between versions. */
  def dynamicAllocation(sc: SparkContext): Boolean =
    !sc.isLocal && sc.conf.getBoolean("spark.dynamicAllocation.enabled", defaultValue = false)
}
