package dwell.comm.gang

import java.io.Serializable
import java.nio.ByteBuffer

import scala.reflect.ClassTag

import org.apache.spark.{Rendezvous, TaskContext, TaskKilledException}

import dwell.base.SliceBounds
import dwell.comm.{Answer, ArrivingAnswers, Gathered, Gathering, GeneratedModel, HeldModels, Recovered, Replicas, Replies, Workers}
import dwell.comm.wire.{Contribution, Packet, Slices, VectorFormat}
import dwell.spark.TaskFailure

/**
 * One task of a gang. The first task leads. The others follow its orders until it dismisses them.
 *
 * With few tasks, or small vectors, the leader of an exchange sends the shared vector to each task, and adds their
 * answers. Otherwise the leader would be the bottleneck, and the other tasks share this work. Each gets one slice of
 * the shared vector and passes it on to the rest, and each adds one slice of all answers (scatter and all-gather;
 * reduce-scatter and gather). However many tasks there are, none then sends or receives more than about two vectors.
 * [[GangModels]] describes the models.
 */
private[comm] final class GangMember[D, M, S: ClassTag](name: String, fit: Long, members: Int, format: VectorFormat) {
  import GangMember._

  private val context = TaskContext.get()
  private val rank = context.partitionId()
  private val others = 1 until members

  /**
   * In the first task, runs `lead` and gives its result or its exception. In the others, follows orders; gives None.
   */
  def run[R](
      elements: Iterator[D],
      step: Workers.Step[D, M, S],
      lead: (Replicas[M, S], Any => Unit) => R): Option[Either[Exception, R]] = {
    val visit = new Rendezvous.Visit(name)
    val at = visit.join(rank) {
      if (context.isInterrupted()) throw new TaskKilledException("the stage is over")
    }
    val mail = new Mailbox(name, rank, at, visit.tell)
    val models = new GangModels(mail, fit, name, format)
    try {
      // Lazy, so that the code that catches exceptions for the user also catches the exceptions of reading the data.
      lazy val data = elements.next()
      lazy val member = step match {
        case sharing: Workers.SharingStep[D, M, S] @unchecked => Some(sharing.among(data, new GangPeers(mail, format)))
        case _ => None
      }
      if (rank == Mailbox.Leader) {
        val outcome =
          try Right(lead(new Led(mail, models, step(data, _, _), member), visit.tell))
          catch { case e: Exception if TaskFailure.isFinal(e) => Left(e) }
        mail.dismissOthers()
        Some(outcome)
      } else {
        val follower = new Follower(mail, models, step(data, _, _), member)
        try while (true) follower.followOrder()
        catch { case _: Mailbox.Dismissal => }
        None
      }
    } finally mail.clear()
  }

  /** The slices of an exchange's vectors: each task but the leader owns one. */
  private def slices(mail: Mailbox): SliceExchange = new SliceExchange(mail, others, format)

  private def answerOf(c: Contribution[S]): Answer[S] = Answer.of(c, format)

  private def vector(c: Contribution[S]): ByteBuffer = Contribution.entries(c, format.headerBytes, 0, format.length)

  /** Any task but the leader. */
  private final class Follower(
      mail: Mailbox,
      models: GangModels,
      step: (M, Array[Byte]) => Contribution[S],
      member: => Option[Workers.Member[M, S]]) {
    private val exchange = slices(mail)

    def followOrder(): Unit = {
      val parcel = mail.receive(OrderName)
      try {
        parcel.content.asInstanceOf[Order] match {
          case Exchange(message, sliced) =>
            val shared = if (sliced && parcel.bytes.hasRemaining) allGather(parcel.bytes) else parcel.toArray
            val c = work(message, shared)
            answer(
              answerOf(c),
              if (sliced) reduceScatter(c, shared)
              else format.codec.encode(vector(c), c.factors, ByteBuffer.wrap(shared)))
          case AskTogether(message) => answer(answerOf(member.get(message.asInstanceOf[M], parcel.bytes)))
          case Distribute(version, note) => models.take(version, note, parcel.bytes)
          case Begin(version, origin) => models.begin(version, origin)
          case AllReduce(message, from, to, kept, note) =>
            val shared = models.model(from)
            val c = work(message, shared)
            models.reduce(c, shared, to, kept, note, answerOf(c))((_, _) => ())
          case Ask(message, from) => answer(answerOf(work(message, models.model(from))))
          case Newest => answer(models.newest)
          case Bring(`rank`, version) => answer((), ByteBuffer.wrap(models.left(version)))
          case Bring(_, _) =>
          case Release => models.retain(Set.empty)
        }
      } catch { case e: Exception if TaskFailure.isFinal(e) => mail.fail(e) }
      mail.settle()
    }

    private def work(message: Any, shared: Array[Byte]): Contribution[S] = step(message.asInstanceOf[M], shared)

    private def answer(content: Any, bytes: ByteBuffer = ByteBuffer.allocate(0)): Unit =
      mail.send(Mailbox.Leader, answerName(rank), Packet(content, bytes))

    /** The shared vector. The leader sent one slice of it to each other task. */
    private def allGather(slice: ByteBuffer): Array[Byte] = {
      exchange.spread(slice, others)
      val shared = format.zeros
      exchange.place(shared, rank, slice)
      exchange.glue(shared)()
      shared
    }

    /** The sum of this task's slice over all answers. */
    private def reduceScatter(c: Contribution[S], shared: Array[Byte]): ByteBuffer = {
      val sum = ByteBuffer.allocate(exchange.ownBytes)
      exchange.reduceScatter(c, shared, sum)()
      sum
    }
  }

  /** The workers as the leader sees them. The leader is one of them. */
  private final class Led(
      mail: Mailbox,
      models: GangModels,
      step: (M, Array[Byte]) => Contribution[S],
      member: => Option[Workers.Member[M, S]])
      extends Replicas[M, S] {
    private val slices = GangMember.this.slices(mail)
    private val held = new HeldModels[Unit]

    override def exchange(message: M, shared: Array[Byte], description: String): Gathered[S] = {
      val sliced = others.size >= LeastSliced && format.bytes >= Mailbox.SmallBytes
      if (sliced) others.foreach(k => order(Exchange(message, sliced), Seq(k), slices.encoded(shared, k)))
      else order(Exchange(message, sliced), others, ByteBuffer.wrap(shared))
      val own = step(message, shared)
      if (sliced) slices.send(own, shared)
      val gathered = if (sliced) gatherSlices(own) else gather(own, shared)
      mail.settle()
      gathered
    }

    override def together: Option[Workers.Together[M, S]] = member.map(own =>
      new Workers.Together[M, S] {
        override def members: Int = GangMember.this.members

        override def apply(message: M, bounds: SliceBounds, vectors: Seq[Array[Byte]]): Replies[S] = {
          val slices = new Slices(format, bounds)
          def slicesOf(k: Int): ByteBuffer = {
            val all = ByteBuffer.allocate(vectors.size * 8 * slices.size(k))
            vectors.foreach(v => all.put(slices.of(v, k)))
            all.flip()
          }
          others.foreach(k => order(AskTogether(message), Seq(k), slicesOf(k)))
          val answers = new ArrivingAnswers[S](members)
          answers.put(Mailbox.Leader, answerOf(own(message, slicesOf(Mailbox.Leader))))
          others.foreach(k => answers.put(k, received(k).content))
          mail.settle()
          answers.replies()
        }
      })

    override def distribute(
        version: Long,
        model: Array[Byte],
        note: Option[Serializable],
        description: String): Unit = {
      format.check(model)
      held.put(version, (), note)
      models.distribute(version, model, note)(order(Distribute(version, note), _, _))
      mail.settle()
    }

    override def begin(version: Long, origin: GeneratedModel, description: String): Unit = {
      held.put(version, (), None)
      order(Begin(version, origin))
      models.begin(version, origin)
      mail.settle()
    }

    override def allReduce(
        message: M,
        from: Long,
        to: Long,
        kept: Set[Long],
        note: Option[Serializable],
        description: String): Replies[S] = {
      held(from)
      held.checkNew(to)
      val retained = kept + from + to
      order(AllReduce(message, from, to, retained, note))
      val shared = models.model(from)
      val own = step(message, shared)
      val answers = new ArrivingAnswers[S](members)
      answers.put(Mailbox.Leader, answerOf(own))
      val addSeconds = models.reduce(own, shared, to, retained, note, ())(answers.put)
      mail.settle()
      held.put(to, (), note)
      held.retain(retained)
      answers.replies(addSeconds)
    }

    override def ask(message: M, from: Long, description: String): Replies[S] = {
      held(from)
      order(Ask(message, from))
      val answers = new ArrivingAnswers[S](members)
      answers.put(Mailbox.Leader, answerOf(step(message, models.model(from))))
      others.foreach(k => answers.put(k, received(k).content))
      mail.settle()
      answers.replies()
    }

    override def collect(version: Long, description: String): Array[Byte] = {
      held(version)
      models.model(version)
    }

    override def recover(description: String): Option[Recovered] = {
      order(Newest)
      val newest = models.newest +: others.map(received(_).content.asInstanceOf[Option[(Long, Serializable)]])
      mail.settle()
      val found = newest.zipWithIndex.collect { case (Some((version, note)), k) => (version, note, k) }
      found.sortBy { case (version, _, k) => (-version, k) }.headOption.map { case (version, note, k) =>
        Recovered(version, note, left(version, k))
      }
    }

    override def release(): Unit = {
      order(Release)
      held.retain(Set.empty)
      models.retain(Set.empty)
      mail.settle()
    }

    /** A model that a member holds. */
    private def left(version: Long, member: Int): Array[Byte] =
      if (member == Mailbox.Leader) models.left(version)
      else {
        order(Bring(member, version))
        val bytes = received(member).toArray
        mail.settle()
        bytes
      }

    private def order(order: Order, to: Seq[Int] = others, bytes: ByteBuffer = ByteBuffer.allocate(0)): Unit =
      mail.sendWritten(to, OrderName, Packet(order, bytes))

    private def gather(own: Contribution[S], shared: Array[Byte]): Gathered[S] = {
      val gathering = new Gathering[S](members, format, ByteBuffer.wrap(shared))
      gathering.add(Mailbox.Leader, Contribution.header(own, format.headerBytes), vector(own), own.scalars)
      others.foreach { k =>
        val parcel = received(k)
        val answer = parcel.content.asInstanceOf[Answer[S]]
        gathering.add(k, answer.header, parcel.bytes, answer.scalars.asInstanceOf[S])
      }
      gathering.result
    }

    private def gatherSlices(own: Contribution[S]): Gathered[S] = {
      val sum = format.zeros
      val answers = new ArrivingAnswers[S](members)
      answers.put(Mailbox.Leader, answerOf(own))
      others.foreach { k =>
        val parcel = received(k)
        answers.put(k, parcel.content)
        slices.place(sum, k, parcel.bytes)
      }
      Gathered(format.numbers.values(sum), answers.headers, answers.scalars, 0.0)
    }

    private def received(k: Int): Packet = mail.receive(answerName(k))
  }
}

private[comm] object GangMember {

  /** With this many tasks beside the leader, slices are quicker despite two more hops. */
  private val LeastSliced = 3

  private val OrderName = "order"
  private def answerName(rank: Int): String = s"answer_$rank"

  /** An order of the leader to all other members. */
  private sealed trait Order extends Serializable

  /** @param sliced whether the bytes with the order are a slice of the shared vector, and the answer is a slice too */
  private final case class Exchange(message: Any, sliced: Boolean) extends Order

  /** The bytes with the order are slices of vectors. */
  private final case class AskTogether(message: Any) extends Order

  private final case class Distribute(version: Long, note: Option[Serializable]) extends Order

  private final case class Begin(version: Long, origin: GeneratedModel) extends Order

  /** @param retained the models to keep; all others are dropped */
  private final case class AllReduce(
      message: Any,
      from: Long,
      to: Long,
      retained: Set[Long],
      note: Option[Serializable])
      extends Order

  private final case class Ask(message: Any, from: Long) extends Order
  private case object Newest extends Order
  private final case class Bring(rank: Int, version: Long) extends Order
  private case object Release extends Order
}
