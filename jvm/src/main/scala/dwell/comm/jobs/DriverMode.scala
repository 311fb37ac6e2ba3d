package dwell.comm.jobs

import java.io.Serializable
import java.nio.ByteBuffer

import scala.reflect.ClassTag

import org.apache.spark.rdd.RDD

import dwell.comm.{Gathered, Gathering, GeneratedModel, HeldModels, Job, Recovered, Replicas, Replies, Workers}
import dwell.comm.wire.{Contribution, VectorFormat}
import dwell.spark.Sent

/**
 * The `driver` mode: an exchange is one Spark job. The message travels as one broadcast. The vectors come back as byte
 * arrays that [[dwell.comm.wire.SliceCodec]] encodes; nothing is serialised element by element. The driver adds them as
 * they arrive, and holds the models.
 *
 * @param data
 *   one element in each partition
 * @param fit
 *   id of the fit whose models [[recover]] looks for
 */
final class DriverMode[D, M: ClassTag, S: ClassTag](data: RDD[D], fit: Long, format: VectorFormat)(
    step: Workers.Step[D, M, S])
    extends Replicas[M, S] {

  private val models = new HeldModels[Array[Byte]]

  override def exchange(message: M, shared: Array[Byte], description: String): Gathered[S] =
    run(message, shared, format, description)(step).result

  override def distribute(version: Long, model: Array[Byte], note: Option[Serializable], description: String): Unit = {
    format.check(model)
    models.put(version, model.clone, note)
  }

  override def begin(version: Long, origin: GeneratedModel, description: String): Unit =
    models.put(version, origin.entries(0, format.length), None)

  override def allReduce(
      message: M,
      from: Long,
      to: Long,
      kept: Set[Long],
      note: Option[Serializable],
      description: String): Replies[S] = {
    models.checkNew(to)
    val gathering = run(message, models(from), format, description)(step)
    models.put(to, gathering.sum, note)
    models.retain(kept + from + to)
    gathering.replies
  }

  override def ask(message: M, from: Long, description: String): Replies[S] = {
    val (localStep, bytes) = (step, format.headerBytes)
    run(message, models(from), format.copy(length = 0), description) { (element, message, shared) =>
      Contribution.withoutVector(localStep(element, message, shared), bytes)
    }.replies
  }

  override def collect(version: Long, description: String): Array[Byte] = models(version)

  override def recover(description: String): Option[Recovered] = models.noted.headOption match {
    case Some((version, model, note)) => Some(Recovered(version, note, model))
    case None => LeftModels.newest(data, fit, description)
  }

  override def release(): Unit = {
    models.retain(Set.empty)
    ()
  }

  private def run(message: M, shared: Array[Byte], format: VectorFormat, description: String)(
      localStep: Workers.Step[D, M, S]): Gathering[S] =
    Job.described(data, description) {
      val sc = data.sparkContext
      val sent = Sent.of(sc, (message, shared))
      val gathering = new Gathering[S](data.getNumPartitions, format, ByteBuffer.wrap(shared))
      val bytes = format.headerBytes
      try {
        Job.run(data) { elements =>
          val (message, shared) = sent.value
          Contribution.encoded(localStep(elements.next(), message, shared), format, shared)
        } { (k, c) =>
          gathering.add(k, Contribution.header(c, bytes), Contribution.encodedVector(c, bytes), c.scalars)
        }
      } finally sent.destroy(sc)
      gathering
    }
}
