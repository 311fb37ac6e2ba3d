package dwell.comm

import java.nio.ByteBuffer

import scala.reflect.ClassTag

import org.apache.spark.{Rendezvous, TaskContext, TaskKilledException}

import dwell.data.TaskFailure

/**
 * One task of a gang. The first one leads, the others answer its messages until they are dismissed.
 *
 * Few tasks, or small vectors: the leader sends the shared vector to each, and adds what they answer. Otherwise it would be
 * the bottleneck, and the others share the work: each gets one slice of the shared vector and hands it on to the rest, and
 * adds one slice of all answers (scatter and all-gather; reduce-scatter and gather). No task then sends or receives more than
 * about two vectors, however many there are.
 */
private[comm] final class GangMember[D, M, S: ClassTag](name: String, members: Int, headerBytes: Int, length: Int) {
  import GangMember._

  private val context = TaskContext.get()
  private val rank = context.partitionId()
  private val others = 1 until members

  /** One for each task but the leader. */
  private val slices = new Slices(length, math.max(1, others.size))
  private var number = 0

  /** What `lead` returns, or throws, in the first task; None in the others. */
  def run[R](
      elements: Iterator[D],
      step: Workers.Step[D, M, S],
      lead: (Workers[M, S], Any => Unit) => R): Option[Either[Exception, R]] = {
    val visit = new Rendezvous.Visit(name)
    val at = visit.join(rank) {
      if (context.isInterrupted()) throw new TaskKilledException("the stage is over")
    }
    val mail = new Mailbox(name, rank, at)
    try {
      // Reading may fail for a reason that the user has to know, and is done where that is caught.
      lazy val data = elements.next()
      if (rank == Mailbox.Leader) {
        val outcome =
          try Right(lead(new Led(mail, step(data, _, _)), visit.tell))
          catch { case e: Exception if TaskFailure.isFinal(e) => Left(e) }
        mail.dismissOthers()
        Some(outcome)
      } else {
        try while (true) answer(mail, step(data, _, _))
        catch { case _: Mailbox.Dismissal => }
        None
      }
    } finally mail.clear()
  }

  /** Receives one message, and answers it. */
  private def answer(mail: Mailbox, step: (M, Array[Byte]) => Contribution[S]): Unit = {
    val parcel = mail.receive(named("message"))
    val Message(content, sliced) = parcel.content.asInstanceOf[Message]
    val shared = if (sliced && parcel.bytes.hasRemaining) allGather(mail, parcel) else parcel.toArray
    try {
      val c = step(content.asInstanceOf[M], shared)
      val reply =
        Parcel(
          Answer(c.scalars, Contribution.header(c, headerBytes)),
          if (sliced) reduceScatter(mail, c) else vector(c))
      mail.send(Mailbox.Leader, named(s"answer_$rank"), reply)
      mail.settle()
    } catch {
      case e: Exception if TaskFailure.isFinal(e) =>
        mail.fail(e)
        mail.settle()
    }
    number += 1
  }

  /** The shared vector, of which each of the other tasks got a slice. */
  private def allGather(mail: Mailbox, own: Parcel): Array[Byte] = {
    val peers = others.filter(_ != rank)
    mail.sendWritten(peers, named(s"shared_$rank"), Parcel((), own.bytes))
    val shared = new Array[Byte](8 * length)
    def put(k: Int, slice: ByteBuffer): Unit = slices.of(shared, k - 1).put(slice.duplicate())
    put(rank, own.bytes)
    peers.foreach(k => put(k, mail.receive(named(s"shared_$k")).bytes))
    shared
  }

  /** Sends the other tasks their slices of this contribution, and adds the slice of this task over all contributions. */
  private def reduceScatter(mail: Mailbox, c: Contribution[S]): ByteBuffer = {
    sendSlices(mail, c)
    val gathering = new Gathering[Unit](members, slices.size(rank - 1))
    (0 until members).foreach { k =>
      val part = if (k == rank) slices.of(c, headerBytes, rank - 1) else mail.receive(named(s"part_$k")).bytes
      gathering.add(k, null, part, ())
    }
    gathering.sumAsBytes
  }

  private def sendSlices(mail: Mailbox, c: Contribution[S]): Unit =
    others
      .filter(_ != rank)
      .foreach(k => mail.send(k, named(s"part_$rank"), Parcel((), slices.of(c, headerBytes, k - 1))))

  /** The workers as the leader sees them, itself among them. */
  private final class Led(mail: Mailbox, step: (M, Array[Byte]) => Contribution[S]) extends Workers[M, S] {

    override def exchange(message: M, shared: Array[Byte], description: String): Gathered[S] = {
      val sliced = others.size >= LeastSliced && 8L * length >= SmallBytes
      if (sliced) {
        others.foreach { k =>
          mail.send(k, named("message"), Parcel(Message(message, sliced), slices.of(shared, k - 1)))
        }
      } else mail.sendWritten(others, named("message"), Parcel(Message(message, sliced), shared))
      val own = step(message, shared)
      if (sliced) sendSlices(mail, own)
      val gathered = if (sliced) gatherSlices(own) else gather(own)
      mail.settle()
      number += 1
      gathered
    }

    private def gather(own: Contribution[S]): Gathered[S] = {
      val gathering = new Gathering[S](members, length)
      gathering.add(Mailbox.Leader, Contribution.header(own, headerBytes), vector(own), own.scalars)
      others.foreach { k =>
        val (answer, vector) = received(k)
        gathering.add(k, answer.header, vector, answer.scalars.asInstanceOf[S])
      }
      gathering.result
    }

    private def gatherSlices(own: Contribution[S]): Gathered[S] = {
      val sum = new Array[Double](length)
      val headers = new Array[Array[Byte]](members)
      val scalars = new Array[S](members)
      headers(Mailbox.Leader) = Contribution.header(own, headerBytes)
      scalars(Mailbox.Leader) = own.scalars
      others.foreach { k =>
        val (answer, slice) = received(k)
        headers(k) = answer.header
        scalars(k) = answer.scalars.asInstanceOf[S]
        slices.put(sum, k - 1, slice)
      }
      Gathered(sum, headers, scalars, 0.0)
    }

    private def received(k: Int): (Answer, ByteBuffer) = {
      val parcel = mail.receive(named(s"answer_$k"))
      (parcel.content.asInstanceOf[Answer], parcel.bytes)
    }
  }

  private def named(what: String): String = s"${number}_$what"

  private def vector(c: Contribution[S]): ByteBuffer = Contribution.entries(c, headerBytes, 0, length)
}

private object GangMember {

  /** So many tasks beside the leader are worth two more hops. */
  private val LeastSliced = 3

  /** Below so many bytes a message takes as long as its name. */
  private val SmallBytes = 64L * 1024

  /** @param sliced whether the bytes beside it are a slice of the shared vector, and only a slice is to be sent back */
  private final case class Message(content: Any, sliced: Boolean)

  /** @param header null where the worker has nothing to add */
  private final case class Answer(scalars: Any, header: Array[Byte])
}
