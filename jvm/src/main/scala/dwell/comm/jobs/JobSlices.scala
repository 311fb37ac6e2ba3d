package dwell.comm.jobs

import java.nio.ByteBuffer

import scala.reflect.ClassTag

import org.apache.spark.SparkContext
import org.apache.spark.rdd.RDD

import dwell.comm.{Job, Replies, SlicedWorkers, Workers}
import dwell.comm.wire.{Contribution, Packet, Slices, VectorFormat}
import dwell.spark.Sent

/**
 * Vectors in slices that the executors hold, for a leader on the driver. Each exchange is one Spark job: a shuffle adds
 * the vectors, another brings the slices to every worker. No vector comes to the driver.
 *
 * Tasks run where the data are, which is where a worker keeps what belongs to its slice. Slices are not replicated: with
 * an executor the workers' own state is lost, and the leader has to build both anew.
 *
 * @param data
 *   one element in each partition
 */
private[comm] final class JobSlices[D, M: ClassTag, S: ClassTag](data: RDD[D], fit: Long, format: VectorFormat)(
    step: Workers.Step[D, M, S])
    extends SlicedWorkers[M, S] {
  import ShuffledSum.{Answers, Said}

  private val workers = data.getNumPartitions
  private val slices = new Slices(format, workers)

  /** The vector of the last [[gatherSlices]], and the last sum. */
  private var gathered, sum = Option.empty[SlicedModel]
  private def sc: SparkContext = data.sparkContext

  override def reduceScatter(message: M, reads: Boolean, description: String): Replies[S] =
    exchange(message, description) { sent =>
      val (localStep, slices, length) = (step, this.slices, format.bytes.toInt)
      val read = if (reads) gathered else None
      val contributions = read match {
        case Some(vector) =>
          new PairedRDD(data, checked(vector).everywhere).map { case (element, shared) =>
            (localStep(element, sent.value, shared), shared)
          }
        case None =>
          data.map { element =>
            val shared = new Array[Byte](length)
            (localStep(element, sent.value, shared), shared)
          }
      }
      val pieces = ShuffledSum.pieces(contributions, slices, format)
      val parcels = new PairedRDD(own(read), pieces).map { case (shared, gathered) => gathered.addUp(slices, shared) }
      make("sum", parcels) { (made, answers) =>
        sum.foreach(_.drop())
        sum = Some(made)
        answers
      }
    }

  override def askSlices(message: M, description: String): Replies[S] = exchange(message, description) { sent =>
    val format = this.format
    val said = onSum(sent).map(Said.of(_, format))
    val answers = new Answers[S](workers)
    SlicedModel.orLost(Job.run(said)(_.next())(answers.put))
    answers.replies
  }

  override def gatherSlices(message: M, description: String): Replies[S] = exchange(message, description) { sent =>
    val (format, slices) = (this.format, this.slices)
    val parcels = onSum(sent).mapPartitionsWithIndex { (k, made) =>
      val c = made.next()
      val vector = Contribution.entries(c, format.headerBytes, 0, slices.size(k))
      Iterator.single(Packet(Said.of(c, format), vector).write().array)
    }
    make("vector", parcels) { (made, answers) =>
      gathered.foreach(_.drop())
      gathered = Some(made)
      answers
    }
  }

  def release(): Unit = {
    (gathered ++ sum).foreach(_.drop())
    gathered = None
    sum = None
  }

  /** The workers' contributions to an exchange about their slices of the last sum. */
  private def onSum(sent: Sent[M]): RDD[Contribution[S]] = {
    val localStep = step
    new PairedRDD(data, own(sum)).map { case (element, slice) =>
      val bytes = new Array[Byte](slice.remaining())
      slice.get(bytes)
      localStep(element, sent.value, bytes)
    }
  }

  /** The slices of a vector, or zeros. */
  private def own(vector: Option[SlicedModel]): RDD[ByteBuffer] = vector match {
    case Some(slices) => checked(slices).parcels.map(_.bytes)
    case None =>
      val slices = this.slices
      data.mapPartitionsWithIndex((k, _) => Iterator.single(ByteBuffer.allocate(8 * slices.size(k))))
  }

  private def checked(vector: SlicedModel): SlicedModel = {
    vector.check()
    vector
  }

  private def make(name: String, parcels: RDD[Array[Byte]])(
      done: (SlicedModel, Replies[S]) => Replies[S]): Replies[S] = {
    val answers = new Answers[S](workers)
    val made =
      try SlicedModel.made(s"$name of fit $fit", parcels, replicated = false, slices, format)(answers.take)
      finally if (!sc.isStopped) parcels.cleanShuffleDependencies()
    done(made, answers.replies)
  }

  private def exchange(message: M, description: String)(body: Sent[M] => Replies[S]): Replies[S] =
    Job.described(data, description) {
      val sent = Sent.of(sc, message)
      try body(sent)
      finally sent.destroy(sc)
    }
}
