package dwell.comm.gang

import scala.concurrent.duration.Duration
import scala.concurrent.{Await, Future, TimeoutException}

import org.apache.spark.storage.BlockManagerId
import org.apache.spark.{BlockExchange, TaskContext, TaskKilledException}

import dwell.comm.wire.Packet

/**
 * What the tasks of a gang send each other.
 *
 * A task waits for as long as the stage lives: an executor that is lost, or does not answer the driver any more, ends the
 * stage, and so does the end of its job. Whatever a task waits for, it hears as well when all is over: the leader of a
 * failure, the others of their dismissal.
 *
 * @param at
 *   where each task is
 */
private[comm] final class Mailbox(gang: String, val rank: Int, at: Array[BlockManagerId]) {
  import Mailbox._

  private val context = TaskContext.get()
  private val blocks = BlockExchange.local
  private var underWay = List.empty[Future[Unit]]

  /** Number of the exchange, which all names begin with: members take part in the same ones. */
  private var exchange = 0

  def members: Int = at.length

  /** Members by the executor that they run on. */
  def byExecutor: Seq[Seq[Int]] = at.indices.groupBy(at(_).executorId).values.toSeq

  /** Begins to send a parcel, which has arrived at the latest when the next [[settle]] returns. */
  def send(to: Int, name: String, parcel: Packet): Unit = sendWritten(Seq(to), name, parcel)

  /** The same to several tasks, written once. */
  def sendWritten(to: Seq[Int], name: String, parcel: Packet): Unit = push(to, numbered(name), parcel)

  private def push(to: Seq[Int], name: String, parcel: Packet): Unit = if (to.nonEmpty) {
    val bytes = parcel.write()
    underWay = to.map(k => blocks.push(at(k), addressed(k, name), bytes.duplicate())).toList ++ underWay
  }

  /** Waits for a parcel. */
  def receive(name: String): Packet = Packet.read(blocks.await(addressed(rank, numbered(name)))(checkEnd()))

  /** Ends an exchange: waits until what was sent has arrived, and throws if it did not. */
  def settle(): Unit = {
    settle(checkEnd())
    blocks.removeTaken()
    exchange += 1
  }

  private def settle(check: => Unit): Unit = {
    underWay.foreach { sent =>
      while (!sent.isCompleted) {
        check
        try Await.ready(sent, LookEvery)
        catch { case _: TimeoutException => }
      }
      Await.result(sent, Duration.Zero)
    }
    underWay = Nil
  }

  /** Tells the leader that this task cannot go on, and why. */
  def fail(cause: Exception): Unit = push(Seq(Leader), Ended, Packet(cause))

  /** Tells the other tasks that no message will come any more. */
  def dismissOthers(): Unit = {
    push((0 until members).filter(_ != rank), Ended, Packet(()))
    // Whoever has failed as well is of no interest any more.
    settle(checkKilled())
  }

  /** Removes what has come and was not received. */
  def clear(): Unit = blocks.removeAll(addressed(rank, ""))

  private def checkKilled(): Unit =
    if (context.isInterrupted()) throw new TaskKilledException("the stage is over")

  /** Throws where there is nothing to wait for any more. */
  def checkEnd(): Unit = {
    checkKilled()
    underWay.foreach(sent => if (sent.isCompleted) Await.result(sent, Duration.Zero)) // throws if it did not arrive
    blocks.take(addressed(rank, Ended)).foreach { bytes =>
      Packet.read(bytes).content match {
        case cause: Exception => throw cause
        case _ => throw new Dismissal
      }
    }
  }

  private def numbered(name: String): String = s"${exchange}_$name"

  private def addressed(to: Int, name: String): String = s"${prefix(gang)}to_${to}_$name"
}

private[comm] object Mailbox {

  /** Below so many bytes a message takes as long as its name. */
  val SmallBytes: Long = 64L * 1024

  /** The task that leads. */
  val Leader = 0

  /** Raised where a task waits for something after its dismissal. */
  final class Dismissal extends RuntimeException with scala.util.control.NoStackTrace

  /** What all names of a gang begin with. */
  def prefix(gang: String): String = s"${gang}_"

  private val Ended = "end"
  private val LookEvery = Duration(20, "ms")
}
