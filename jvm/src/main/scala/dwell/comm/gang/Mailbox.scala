package dwell.comm.gang

import scala.concurrent.duration.Duration
import scala.concurrent.{Await, Future, TimeoutException}

import org.apache.spark.storage.BlockManagerId
import org.apache.spark.{BlockExchange, TaskContext, TaskKilledException}

import dwell.comm.wire.Packet

/**
 * Sends and receives the messages between the tasks of a gang.
 *
 * A task waits as long as the stage lives. The stage ends with its job, and also if an executor is lost or no longer
 * answers the driver. Every wait also looks for the end: for the leader the failure of a task, for the others their
 * dismissal. A task that waits for long tells the driver, which finds out if all do: see [[IdleMembers]].
 *
 * @param at
 *   the block manager of each task
 * @param tell
 *   sends a message to the driver
 */
private[comm] final class Mailbox(gang: String, val rank: Int, at: Array[BlockManagerId], tell: Any => Unit) {
  import Mailbox._

  private val context = TaskContext.get()
  private val blocks = BlockExchange.local
  private var underWay = List.empty[Future[Unit]]

  /** The number of the current exchange. All names begin with it. It is the same in all members. */
  private var exchange = 0

  /** The number of tasks in the gang. */
  def members: Int = at.length

  /** The members in groups, one for each executor. */
  def byExecutor: Seq[Seq[Int]] = at.indices.groupBy(at(_).executorId).values.toSeq

  /** Begins to send a parcel. It has arrived when the next [[settle]] returns. */
  def send(to: Int, name: String, parcel: Packet): Unit = sendWritten(Seq(to), name, parcel)

  /** The same to several tasks; serialises the parcel only once. */
  def sendWritten(to: Seq[Int], name: String, parcel: Packet): Unit = push(to, numbered(name), parcel)

  private def push(to: Seq[Int], name: String, parcel: Packet): Unit = if (to.nonEmpty) {
    val bytes = parcel.write()
    underWay = to.map(k => blocks.push(at(k), addressed(k, name), bytes.duplicate())).toList ++ underWay
  }

  /** Waits for a parcel of this name. Throws as [[checkEnd]] does. */
  def receive(name: String): Packet = {
    val start = System.nanoTime()
    var told = false
    val bytes = blocks.await(addressed(rank, numbered(name))) {
      checkEnd()
      if (!told && System.nanoTime() - start > LongNanos && underWay.forall(_.isCompleted)) {
        told = true
        tell(IdleMembers.Waits(rank))
      }
    }
    if (told) tell(IdleMembers.GoesOn(rank))
    Packet.read(bytes)
  }

  /** Ends an exchange: waits until all parcels sent have arrived, and throws if one has not. */
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

  /** Tells the other tasks that no more messages will come. */
  def dismissOthers(): Unit = {
    push((0 until members).filter(_ != rank), Ended, Packet(()))
    // The outcome is settled, so failures of other tasks no longer matter.
    settle(checkKilled())
  }

  /** Removes the parcels that arrived and were not received. */
  def clear(): Unit = blocks.removeAll(addressed(rank, ""))

  private def checkKilled(): Unit =
    if (context.isInterrupted()) throw new TaskKilledException("the stage is over")

  /**
   * Throws if waiting is pointless: the task was killed, a parcel did not arrive, or another task has ended the gang.
   */
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

  /** Messages of fewer bytes take no longer than empty ones. */
  val SmallBytes: Long = 64L * 1024

  /** The task that leads. */
  val Leader = 0

  /** Thrown if a task waits for something after its dismissal. */
  final class Dismissal extends RuntimeException with scala.util.control.NoStackTrace

  /** The prefix of all names of a gang. */
  def prefix(gang: String): String = s"${gang}_"

  private val Ended = "end"

  /** Most messages come sooner, and the driver hears nothing. */
  private val LongNanos = 1000L * 1000 * 1000
  private val LookEvery = Duration(20, "ms")
}
