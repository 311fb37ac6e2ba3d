package dwell.comm.jobs

import org.apache.spark.rdd.RDD

import dwell.comm.{Job, ModelStore, Recovered}
import dwell.spark.Answers

/** The models that gangs left in the [[ModelStore]]s of executors, for a leader on the driver. */
private[comm] object LeftModels {

  /**
   * The model of the highest version that has a note. Two jobs look for it on the executors that hold the data. They
   * return None if its executor is lost between them.
   */
  def newest(data: RDD[_], fit: Long, description: String): Option[Recovered] = Job.described(data, description) {
    val found = Answers.of(data)(_ => ModelStore.newest(fit)).zipWithIndex.collect { case (Some((version, note)), k) =>
      (version, note, k)
    }
    found.sortBy { case (version, _, k) => (-version, k) }.headOption.flatMap { case (version, note, k) =>
      val models = data.sparkContext.runJob(data, (_: Iterator[_]) => ModelStore.get(fit, version).map(_.model), Seq(k))
      models.head.map(model => Recovered(version, note, model))
    }
  }
}
