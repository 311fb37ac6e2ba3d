package org.apache.spark

import scala.collection.mutable
import scala.concurrent.Await
import scala.concurrent.duration.Duration

import org.apache.spark.internal.Logging
import org.apache.spark.rpc.{RpcCallContext, RpcEnv, ThreadSafeRpcEndpoint}
import org.apache.spark.storage.BlockManagerId
import org.apache.spark.util.RpcUtils

/**
 * Where the tasks of a barrier stage learn of one another, and what they tell the driver while they run: an endpoint of
 * Spark's RPC on the driver. (`BarrierTaskContext.allGather` does the former as well, but looks once a second.)
 *
 * @param members
 *   tasks of the stage
 * @param told
 *   called with what a task tells, in the order in which it does
 */
final class Rendezvous private (override val rpcEnv: RpcEnv, members: Int, told: Any => Unit)
    extends ThreadSafeRpcEndpoint
    with Logging {
  import Rendezvous._

  private val joined = mutable.Map.empty[Int, (BlockManagerId, RpcCallContext)]

  override def receive: PartialFunction[Any, Unit] = { case Tell(what) => told(what) }

  override def receiveAndReply(context: RpcCallContext): PartialFunction[Any, Unit] = { case Join(rank, at) =>
    joined(rank) = (at, context)
    if (joined.size == members) {
      val addresses = Array.tabulate(members)(joined(_)._1)
      joined.values.foreach(_._2.reply(addresses))
    }
  }

  override def onError(cause: Throwable): Unit = logError("a message of a gang failed", cause)

  def close(): Unit = rpcEnv.stop(self)
}

object Rendezvous {
  private final case class Join(rank: Int, at: BlockManagerId)
  private final case class Tell(what: Any)

  def open(sc: SparkContext, name: String, members: Int)(told: Any => Unit): Rendezvous = {
    val meeting = new Rendezvous(sc.env.rpcEnv, members, told)
    sc.env.rpcEnv.setupEndpoint(name, meeting)
    meeting
  }

  /** A task's side of it. */
  final class Visit(name: String) {
    private val env = SparkEnv.get
    private val driver = RpcUtils.makeDriverRef(name, env.conf, env.rpcEnv)

    /** Where each task is, once all have come; asks `stop` meanwhile. */
    def join(rank: Int)(stop: => Unit): Array[BlockManagerId] = {
      val answer = driver.ask[Array[BlockManagerId]](Join(rank, env.blockManager.blockManagerId))
      while (!answer.isCompleted) {
        stop
        Thread.sleep(1)
      }
      Await.result(answer, Duration.Zero)
    }

    def tell(what: Any): Unit = driver.send(Tell(what))
  }
}
