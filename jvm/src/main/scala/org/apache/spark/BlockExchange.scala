package org.apache.spark

import java.nio.ByteBuffer
import java.util.concurrent.locks.LockSupport

import scala.concurrent.Future
import scala.reflect.classTag

import org.apache.spark.network.BlockTransferService
import org.apache.spark.network.buffer.NioManagedBuffer
import org.apache.spark.storage.BlockManagerMessages.UpdateBlockInfo
import org.apache.spark.storage.{BlockId, BlockManager, BlockManagerId, StorageLevel, TestBlockId}
import org.apache.spark.util.io.ChunkedByteBuffer

/**
 * Byte buffers that processes of one application push to each other as blocks of Spark's BlockManager: no port, no protocol
 * and no authentication beside Spark's own. A buffer has a name, is pushed once and taken once. Not for concurrent use.
 *
 * Names are those of `TestBlockId`, the one kind of block that a remote side takes without looking for anything behind its
 * name. Blocks are spilled to disk where storage is short.
 */
final class BlockExchange private (blocks: BlockManager) {
  import BlockExchange._

  /** Where other processes reach this one. */
  def here: BlockManagerId = blocks.blockManagerId

  /** Begins to push a buffer; a caller that needs to know that it arrived waits for the answer. */
  def push(to: BlockManagerId, name: String, bytes: ByteBuffer): Future[Unit] =
    if (to == here) {
      val chunks = new ChunkedByteBuffer(bytes)
      val kept = putBytes(blocks, block(name), chunks, Level, java.lang.Boolean.FALSE, tag)
      if (kept != java.lang.Boolean.TRUE) {
        throw new SparkException(s"the block manager has no room for $name, neither in memory nor on disk")
      }
      Future.unit
    } else {
      val buffer = new NioManagedBuffer(bytes)
      uploadBlock(
        blocks.blockTransferService,
        to.host,
        Int.box(to.port),
        to.executorId,
        block(name),
        buffer,
        Level,
        tag)
        .asInstanceOf[Future[Unit]]
    }

  /** Buffers that were taken, and those that had been before the last [[removeTaken]]. */
  private var taken, takenBefore = List.empty[BlockId]

  /**
   * A buffer that has been pushed here, if it is here already. It is read without its lock, which whoever puts it holds until
   * the driver has been told: every message would wait for that.
   */
  def take(name: String): Option[ByteBuffer] = {
    val id = block(name)
    val found = blocks.memoryStore.getBytes(id).map(_.toByteBuffer).orElse {
      if (blocks.diskStore.contains(id)) readLocked(id) else None
    }
    if (found.nonEmpty) taken = id :: taken
    found
  }

  private def readLocked(id: BlockId): Option[ByteBuffer] = blocks.getLocalBytes(id).map { data =>
    val bytes = data.toByteBuffer()
    blocks.releaseLock(id)
    bytes
  }

  /** Removes what had been taken when this was called before: by now nobody holds it any more. */
  def removeTaken(): Unit = {
    takenBefore.foreach { id =>
      blocks.removeBlock(id, tellMaster = false)
      // The driver's list has every block that was pushed from elsewhere. Nobody waits for its answer.
      blocks.master.driverEndpoint
        .ask[Boolean](updateBlockInfo(UpdateBlockInfo, here, id, StorageLevel.NONE, Long.box(0L), Long.box(0L)))
    }
    takenBefore = taken
    taken = Nil
  }

  /** Waits for a buffer that another process pushes here, asking `stop` now and then, which may throw. */
  def await(name: String)(stop: => Unit): ByteBuffer = {
    val start = System.nanoTime()
    var found = take(name)
    while (found.isEmpty) {
      stop
      // Short at first: a round of small vectors is over in about a millisecond.
      LockSupport.parkNanos(if (System.nanoTime() - start < ImpatientNanos) ShortNapNanos else NapNanos)
      found = take(name)
    }
    found.get
  }

  /** Removes every buffer here whose name starts so. */
  def removeAll(prefix: String): Unit =
    blocks.getMatchingBlockIds(_.name.startsWith(block(prefix).name)).foreach(id => blocks.removeBlock(id))

  /** Buffers here whose name starts so. */
  def count(prefix: String): Int = blocks.getMatchingBlockIds(_.name.startsWith(block(prefix).name)).size
}

object BlockExchange {

  /** That of this process. */
  def local: BlockExchange = new BlockExchange(SparkEnv.get.blockManager)

  private val Level = StorageLevel.MEMORY_AND_DISK_SER
  private val ImpatientNanos = 20L * 1000 * 1000
  private val ShortNapNanos = 50L * 1000
  private val NapNanos = 500L * 1000

  private def block(name: String): BlockId = TestBlockId(name)

  /**
   * A method of Spark's that has more parameters since 4.3, all with default values: one jar runs on all versions. The new
   * parameters stand after `before`, and before `after` more of the old ones.
   */
  private final class Compatible(declaring: Class[_], name: String, after: Int) {
    private val method = declaring.getMethods.find(m => m.getName == name && !m.isBridge).getOrElse {
      throw new NoSuchMethodError(s"${declaring.getName}.$name: this version of Spark is not supported")
    }
    def apply(target: AnyRef, arguments: AnyRef*): AnyRef = {
      val (first, last) = arguments.splitAt(arguments.size - after)
      val added = (first.size + 1 to method.getParameterCount - after).map { i =>
        declaring.getMethod(name + "$default$" + i).invoke(target)
      }
      try method.invoke(target, first ++ added ++ last: _*)
      catch {
        case e: java.lang.reflect.InvocationTargetException => throw e.getCause
      }
    }
  }

  private val putBytes = new Compatible(classOf[BlockManager], "putBytes", after = 1)
  private val uploadBlock = new Compatible(classOf[BlockTransferService], "uploadBlock", after = 0)
  private val updateBlockInfo = new Compatible(UpdateBlockInfo.getClass, "apply", after = 0)
  private val tag = classTag[Array[Byte]]
}
