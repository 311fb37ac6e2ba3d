package dwell.comm.jobs

import java.nio.ByteBuffer

import scala.reflect.ClassTag

import org.apache.spark.{DwellBridge, SparkContext, TaskContext}
import org.apache.spark.broadcast.Broadcast
import org.apache.spark.rdd.RDD

import dwell.base.Shuffle
import dwell.comm.{Gathered, Gathering, GeneratedModel, HeldModels, Job, Recovered, Replicas, Replies, Workers}
import dwell.comm.wire.{Contribution, Packet, Slices, VectorFormat}

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
  import ShuffleMode._

  private val workers = data.getNumPartitions
  private val slices = new Slices(format, workers)
  private val models = new HeldModels[SlicedModel]
  private def sc: SparkContext = data.sparkContext

  override def exchange(message: M, shared: Array[Byte], description: String): Gathered[S] =
    Job.described(data, description) {
      val sent = sc.broadcast((message, shared))
      val (localStep, slices) = (step, this.slices)
      val contributions = data.mapPartitions { elements =>
        val (message, shared) = sent.value
        Iterator.single((localStep(elements.next(), message, shared), shared))
      }
      val summed = pieces(contributions).mapPartitionsWithIndex { (slice, pieces) =>
        Iterator.single(addUp(pieces, slices, slices.of(sent.value._2, slice)))
      }
      val sum = format.zeros
      val answers = new Answers
      try {
        Job.run(summed)(_.next()) { (k, s) =>
          val parcel = Packet.read(ByteBuffer.wrap(s))
          slices.put(sum, k, parcel.bytes)
          answers.put(k, parcel.content)
        }
      } finally forget(summed, sent)
      Gathered(format.numbers.values(sum), answers.headers, answers.scalars, 0.0)
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
    val sent = sc.broadcast(message)
    val answers = new Answers
    val slices = this.slices
    // The first of the two places the task: reading a slice from another executor would take as long as sending one.
    val gathered = pieces(contributions(from, sent)).mapPartitions(Iterator.single(_))
    val summed = new PairedRDD(models(from).parcels, gathered).map { case (shared, pieces) =>
      addUp(pieces, slices, shared.bytes)
    }
    make(to, note, summed) { parcels =>
      Job.run(parcels)(written => Packet.read(ByteBuffer.wrap(written.next())).content)(answers.put)
    }(forget(summed, sent))
    models.retain(kept + from + to).foreach(_.drop())
    answers.replies
  }

  override def ask(message: M, from: Long, description: String): Replies[S] = Job.described(data, description) {
    val sent = sc.broadcast(message)
    val bytes = format.headerBytes
    val answered = contributions(from, sent).map { case (c, _) => Said(Contribution.header(c, bytes), c.scalars) }
    val answers = new Answers
    try SlicedModel.orLost(Job.run(answered)(_.next())(answers.put))
    finally forget(answered, sent)
    answers.replies
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
  private def contributions(from: Long, sent: Broadcast[M]): RDD[(Contribution[S], Array[Byte])] = {
    val model = models(from)
    model.check()
    val localStep = step
    new PairedRDD(data, model.everywhere).map { case (element, shared) =>
      (localStep(element, sent.value, shared), shared)
    }
  }

  /** In each partition, one slice of all contributions. */
  private def pieces(contributions: RDD[(Contribution[S], Array[Byte])]): RDD[(Int, Piece)] = {
    val (workers, slices, bytes) = (this.workers, this.slices, format.headerBytes)
    val pieces = contributions.mapPartitionsWithIndex { (worker, made) =>
      val (c, shared) = made.next()
      cut(worker, c, shared, slices, workers, bytes)
    }
    Shuffle.byIndex(pieces, workers)
  }

  /** Runs a job that computes the slices of a model and persists them. `forget` then removes the job's inputs. */
  private def make(version: Long, note: Option[Serializable], parcels: RDD[Array[Byte]])(job: RDD[Array[Byte]] => Unit)(
      forget: => Unit): Unit = {
    val replicated = DwellBridge.executorLocations(sc).size > 1
    val persisted = SlicedModel.persist(parcels, replicated, s"dwell: model $version of fit $fit")
    val model = new SlicedModel(version, persisted, slices, format)
    try SlicedModel.orLost(job(persisted))
    catch {
      case e: Throwable =>
        model.drop()
        throw e
    } finally forget
    models.put(version, model, note)
  }

  /** Removes the shuffles of a job now. Spark would when the driver collects garbage, maybe half an hour later. */
  private def forget(result: RDD[_], sent: Broadcast[_]): Unit = if (!sc.isStopped) {
    result.cleanShuffleDependencies()
    sent.destroy()
  }

  private final class Answers {
    val headers = new Array[Array[Byte]](workers)
    val scalars = new Array[S](workers)

    def put(k: Int, said: Any): Unit = {
      headers(k) = said.asInstanceOf[Said].header
      scalars(k) = said.asInstanceOf[Said].scalars.asInstanceOf[S]
    }

    def replies: Replies[S] = Replies(headers, scalars, 0.0)
  }
}

private object ShuffleMode {

  /** A worker's answer without its vector. */
  private final case class Said(header: Array[Byte], scalars: Any)

  /** One slice of a worker's vector. The slice with the worker's own number carries `said`. */
  private final case class Piece(worker: Int, bytes: Array[Byte], said: Option[Said])

  private def cut(
      worker: Int,
      c: Contribution[_],
      shared: Array[Byte],
      slices: Slices,
      count: Int,
      headerBytes: Int): Iterator[(Int, Piece)] =
    (0 until count).iterator.map { slice =>
      val said = if (slice == worker) Some(Said(Contribution.header(c, headerBytes), c.scalars)) else None
      slice -> Piece(worker, Packet((), slices.encoded(c, slice, shared)).toArray, said)
    }

  /**
   * Adds the pieces of one slice. Returns a [[Packet]] of the sum and the answer of the worker with the slice's number.
   *
   * @param shared
   *   the same slice of the shared vector that the workers were given
   */
  private def addUp(pieces: Iterator[(Int, Piece)], slices: Slices, shared: => ByteBuffer): Array[Byte] = {
    val context = TaskContext.get()
    val gathering = new Gathering[Unit](context.numPartitions(), slices.format(context.partitionId()), shared)
    var said = Option.empty[Said]
    pieces.foreach { case (_, piece) =>
      gathering.add(piece.worker, null, ByteBuffer.wrap(piece.bytes), ())
      said = said.orElse(piece.said)
    }
    Packet(said.get, gathering.sum).write().array
  }
}
