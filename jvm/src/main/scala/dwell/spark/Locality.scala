package dwell.spark

import scala.collection.mutable

import org.apache.spark.{DwellBridge, SparkContext}

/** Where tasks should run that Spark is to start together. */
private[dwell] object Locality {

  /**
   * A preferred location for each task; none in local mode. Each executor gets tasks in proportion to its slots, and most of
   * them find their data there.
   *
   * Spark by itself sends all tasks to the executor that holds their data. If that is one for several tasks, they queue,
   * and the tasks of a barrier stage wait for `spark.locality.wait`.
   *
   * @param held
   *   how much of each task's data an executor holds, by its id
   */
  def balanced(sc: SparkContext, held: IndexedSeq[Map[String, Long]]): IndexedSeq[Seq[String]] = {
    val executors = DwellBridge.slotsByExecutor(sc)
    if (executors.isEmpty) held.map(_ => Seq.empty)
    else assign(held, executors).map(executor => Seq(DwellBridge.location(executor)))
  }

  /**
   * The executor of each task.
   *
   * @param executors
   *   at least one executor, each with the number of tasks that it runs at a time
   */
  private[spark] def assign(held: IndexedSeq[Map[String, Long]], executors: Seq[(String, Int)]): IndexedSeq[String] = {
    val all = executors.map(_._2.toLong).sum
    val share = executors.map { case (executor, slots) => executor -> ((held.size * slots + all - 1L) / all) }.toMap
    val tasks = mutable.Map.empty[String, Int].withDefaultValue(0)
    val found = new Array[String](held.size)
    def send(task: Int, executor: String): Unit = {
      found(task) = executor
      tasks(executor) += 1
    }
    val wishes = for ((of, task) <- held.zipWithIndex; (executor, amount) <- of) yield (amount, task, executor)
    wishes.sortBy { case (amount, task, executor) => (-amount, task, executor) }.foreach { case (_, task, executor) =>
      if (found(task) == null && tasks(executor) < share.getOrElse(executor, 0L)) send(task, executor)
    }
    def load(executor: (String, Int)): Double = (tasks(executor._1) + 1.0) / executor._2
    held.indices.filter(found(_) == null).foreach(task => send(task, executors.minBy(load)._1))
    found.toIndexedSeq
  }
}
