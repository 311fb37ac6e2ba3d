package org.apache.spark

import scala.collection.mutable
import scala.concurrent.Await
import scala.concurrent.duration.Duration

import org.apache.spark.internal.Logging
import org.apache.spark.rpc.{RpcCallContext, RpcEnv, ThreadSafeRpcEndpoint}
import org.apache.spark.storage.BlockManagerId
import org.apache.spark.util.RpcUtils

/**
 * An endpoint of Spark's RPC on the driver. There the tasks of a barrier stage learn each other's addresses, and send
 * messages to the driver while they run. (`BarrierTaskContext.allGather` could exchange the addresses, but looks only
 * once a second.)
 *
 * @param members
 *   number of tasks of the stage
 * @param told
 *   called with each message, in the order in which a task sends them
 */
final class Rendezvous private (override val rpcEnv: RpcEnv, members: Int, told: Any => Unit)
    extends ThreadSafeRpcEndpoint
    with Logging {
  import Rendezvous._

  private val joined = mutable.Map.empty[Int, (BlockManagerId, RpcCallContext)]

  /** Why there is no gang, or null. All tasks are told, those that join later as well. */
  private var refusal: IllegalArgumentException = _

  override def receive: PartialFunction[Any, Unit] = { case Tell(what) => told(what) }

  override def receiveAndReply(context: RpcCallContext): PartialFunction[Any, Unit] = { case Join(rank, at) =>
    if (rank < 0 || rank >= members) {
      refusal = new IllegalArgumentException(s"a task joins as number $rank a gang of tasks 0 to ${members - 1}")
    }
    joined(rank) = (at, context)
    if (refusal != null) {
      joined.values.foreach(_._2.sendFailure(refusal))
      joined.clear()
    } else if (joined.size == members) {
      val addresses = Array.tabulate(members)(joined(_)._1)
      joined.values.foreach(_._2.reply(addresses))
    }
  }

  override def onError(cause: Throwable): Unit = logError("a message of a gang failed", cause)

  /** Stops the endpoint. */
  def close(): Unit = rpcEnv.stop(self)
}

object Rendezvous {
  private final case class Join(rank: Int, at: BlockManagerId)
  private final case class Tell(what: Any)

  /** Starts an endpoint on the driver. Its name must be unique in the application. */
  def open(sc: SparkContext, name: String, members: Int)(told: Any => Unit): Rendezvous = {
    val meeting = new Rendezvous(sc.env.rpcEnv, members, told)
    sc.env.rpcEnv.setupEndpoint(name, meeting)
    meeting
  }

  /** A task's side of the endpoint of this name. */
  final class Visit(name: String) {
    private val env = SparkEnv.get
    private val driver = RpcUtils.makeDriverRef(name, env.conf, env.rpcEnv)

    /**
     * Waits until all tasks have joined, and returns the address of each. Calls `stop` meanwhile, which may throw.
     *
     * @throws IllegalArgumentException
     *   in every task, if the rank of one is not 0 to members - 1
     */
    def join(rank: Int)(stop: => Unit): Array[BlockManagerId] = {
      val answer = driver.ask[Array[BlockManagerId]](Join(rank, env.blockManager.blockManagerId))
      while (!answer.isCompleted) {
        stop
        Thread.sleep(1)
      }
      Await.result(answer, Duration.Zero)
    }

    /** Sends a message to the driver, without waiting for it to arrive. */
    def tell(what: Any): Unit = driver.send(Tell(what))
  }
}
