package dwell.solver.pass

import java.util.concurrent.{Callable, CancellationException, ExecutionException, Executors, ExecutorService}

import scala.jdk.CollectionConverters._

import dwell.data.rows.BlockArrays
import dwell.jni.{Cancellation, NativeBridge}

/**
 * A worker's pass: one native call for each block. Block i goes to lane i mod L, each lane has sums of its own, and the sums are added up in
 * the order of the lanes. L does not depend on the threads, so that any number of threads gives the same bits.
 *
 * @param bytes
 *   the length of a result
 */
private[pass] final class PassLanes(message: NativePass, model: Array[Byte], bytes: Int) {
  import PassLanes._

  private val lanes = new Array[Long](math.max(1, math.min(Most, (message.room / bytes).toInt)))
  private var nanos = 0L

  /** Adds blocks, in their order. */
  def add(blocks: Iterator[BlockArrays], cancellation: Cancellation): this.type = {
    lanes(0) = message.begin(model)
    (1 until lanes.length).foreach(lanes(_) = NativeBridge.passFork(lanes(0)))
    def check(): Unit = if (cancellation.requested()) throw new CancellationException("the task was killed")
    val threads = math.min(message.threads, lanes.length)
    if (threads == 1) {
      blocks.zipWithIndex.foreach { case (block, i) =>
        check()
        nanos += work(lanes(i % lanes.length), block)
      }
    } else {
      val pool = Executors.newFixedThreadPool(threads)
      try {
        blocks.grouped(lanes.length).foreach { batch =>
          check()
          val started = System.nanoTime()
          together(pool, batch.zip(lanes))
          nanos += System.nanoTime() - started
        }
      } finally pool.shutdown()
    }
    this
  }

  /** Writes the sums of all lanes. */
  def end(result: Array[Byte]): Unit = {
    lanes.tail.foreach(NativeBridge.passJoin(lanes.head, _))
    NativeBridge.passEnd(lanes.head, nanos, result)
  }

  /** Frees what is left after an error. */
  def free(): Unit = lanes.foreach(NativeBridge.passFree)

  private def together(pool: ExecutorService, work: Seq[(BlockArrays, Long)]): Unit = {
    val calls = work.map { case (block, lane) => (() => this.work(lane, block)): Callable[Long] }
    // All of them end before one is asked, so that no call works on a pass that is freed.
    try pool.invokeAll(calls.asJava).asScala.foreach(_.get())
    catch { case e: ExecutionException => throw e.getCause }
  }

  private def work(lane: Long, block: BlockArrays): Long =
    NativeBridge
      .passBlock(lane, block.offsets, block.features, block.values32, block.values64, block.labels, block.weights)
}

private object PassLanes {

  /** Most lanes. */
  private val Most = 8
}
