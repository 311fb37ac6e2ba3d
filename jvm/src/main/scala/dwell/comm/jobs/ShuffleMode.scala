package dwell.comm.jobs

import java.io.Serializable
import java.nio.ByteBuffer

import scala.reflect.ClassTag

import org.apache.spark.{DwellBridge, SparkContext}
import org.apache.spark.rdd.RDD

import dwell.comm.{Answer, ArrivingAnswers, Gathered, GeneratedModel, HeldModels, Job, Recovered, Replicas, Replies, Workers}
import dwell.comm.wire.{Contribution, Packet, Slices, VectorFormat}
import dwell.spark.Sent

/**
 * The `shuffle` mode: an exchange is one Spark job with a shuffle. The executors add the updates: each reducer adds one
 * slice of all of them (reduce-scatter). However many workers there are, one vector comes to the driver, in slices, and
 * one broadcast goes out.
 *
 * Models stay with the executors, in slices. Another shuffle of the same job brings all slices to every worker
 * (all-gather), so that no vector comes to the driver. [[dwell.comm.wire.SliceCodec]] encodes the slices. A reducer
 * runs where its slice of the workers' model `from` is. If an executor is lost, Spark computes its slices again, and
 * with them the steps of its workers. It also restarts steps that were running then, if there are slots for them.
 *
 * @param data
 *   one element in each partition
 * @param fit
 *   id of the fit whose models [[recover]] looks for
 */
final class ShuffleMode[D, M: ClassTag, S: ClassTag](data: RDD[D], fit: Long, format: VectorFormat)(
    step: Workers.Step[D, M, S])
    extends Replicas[M, S] {

  private val workers = data.getNumPartitions
  private val slices = new Slices(format, workers)
  private val models = new HeldModels[SlicedModel]
  private def sc: SparkContext = data.sparkContext

  override def exchange(message: M, shared: Array[Byte], description: String): Gathered[S] =
    Job.described(data, description) {
      val sent = Sent.of(sc, (message, shared))
      val (localStep, slices) = (step, this.slices)
      val contributions = data.mapPartitions { elements =>
        val (message, shared) = sent.value
        Iterator.single((localStep(elements.next(), message, shared), shared))
      }
      val summed = ShuffledSum.pieces(contributions, slices, format).mapPartitionsWithIndex { (slice, gathered) =>
        Iterator.single(gathered.next().addUp(slices, slices.of(sent.value._2, slice)))
      }
      val sum = format.zeros
      val answers = new ArrivingAnswers[S](workers)
      try {
        Job.run(summed)(_.next()) { (k, s) =>
          val parcel = Packet.read(ByteBuffer.wrap(s))
          slices.put(sum, k, parcel.bytes)
          answers.put(k, parcel.content)
        }
      } finally forget(summed, sent)
      val Replies(headers, scalars, addSeconds) = answers.replies()
      Gathered(format.numbers.values(sum), headers, scalars, addSeconds)
    }

  override def distribute(version: Long, model: Array[Byte], note: Option[Serializable], description: String): Unit =
    Job.described(data, description) {
      format.check(model)
      models.checkNew(version)
      val (sent, slices) = (sc.broadcast(model), this.slices)
      val parcels = sc
        .parallelize(0 until workers, workers)
        .map(slice => Packet((), slices.of(sent.value, slice)).write().array)
      make(version, note, parcels)(Job.run(_)(_.hasNext)((_, _) => ()))(if (!sc.isStopped) sent.destroy())
    }

  override def begin(version: Long, origin: GeneratedModel, description: String): Unit =
    Job.described(data, description) {
      models.checkNew(version)
      val slices = this.slices
      val parcels = sc.parallelize(0 until workers, workers).map { slice =>
        val start = slices.start(slice)
        Packet((), origin.entries(start, start + slices.size(slice))).write().array
      }
      make(version, None, parcels)(Job.run(_)(_.hasNext)((_, _) => ()))(())
    }

  override def allReduce(
      message: M,
      from: Long,
      to: Long,
      kept: Set[Long],
      note: Option[Serializable],
      description: String): Replies[S] = Job.described(data, description) {
    models.checkNew(to)
    val sent = Sent.of(sc, message)
    val answers = new ArrivingAnswers[S](workers)
    val slices = this.slices
    // The first of the two places the task: reading a slice from another executor would take as long as sending one.
    val gathered = ShuffledSum.pieces(contributions(from, sent), slices, format)
    val summed = new PairedRDD(models(from).parcels, gathered).map { case (shared, gathered) =>
      gathered.addUp(slices, shared.bytes)
    }
    make(to, note, summed)(ShuffledSum.take(_)(answers.put))(forget(summed, sent))
    models.retain(kept + from + to).foreach(_.drop())
    answers.replies()
  }

  override def ask(message: M, from: Long, description: String): Replies[S] = Job.described(data, description) {
    val sent = Sent.of(sc, message)
    val format = this.format
    val answered = contributions(from, sent).map { case (c, _) => Answer.of(c, format) }
    val answers = new ArrivingAnswers[S](workers)
    try SlicedModel.orLost(Job.run(answered)(_.next())(answers.put))
    finally forget(answered, sent)
    answers.replies()
  }

  override def collect(version: Long, description: String): Array[Byte] =
    Job.described(data, description)(models(version).collect())

  override def recover(description: String): Option[Recovered] =
    models.noted.find(_._2.isComplete) match {
      case Some((version, _, note)) => Some(Recovered(version, note, collect(version, description)))
      case None => LeftModels.newest(data, fit, description)
    }

  override def release(): Unit = models.retain(Set.empty).foreach(_.drop())

  /** The workers' contributions to a model, each with the model, computed where the data are. */
  private def contributions(from: Long, sent: Sent[M]): RDD[(Contribution[S], Array[Byte])] = {
    val model = models(from)
    model.check()
    val localStep = step
    new PairedRDD(data, model.everywhere).map { case (element, shared) =>
      (localStep(element, sent.value, shared), shared)
    }
  }

  /** Makes a model of slices that `job` computes. `forget` then removes the job's inputs. */
  private def make(version: Long, note: Option[Serializable], parcels: RDD[Array[Byte]])(job: RDD[Array[Byte]] => Unit)(
      forget: => Unit): Unit = {
    val replicated = DwellBridge.executorLocations(sc).size > 1
    val model =
      try SlicedModel.made(s"model $version of fit $fit", parcels, replicated, slices, format)(job)
      finally forget
    models.put(version, model, note)
  }

  /** Removes the shuffles of a job now. Spark would when the driver collects garbage, maybe half an hour later. */
  private def forget(result: RDD[_], sent: Sent[_]): Unit = if (!sc.isStopped) {
    result.cleanShuffleDependencies()
    sent.destroy(sc)
  }
}
