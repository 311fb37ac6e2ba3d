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
 * Byte buffers that processes of one application push to each other as blocks of Spark's BlockManager, with Spark's own
 * ports, protocol and authentication. A buffer has a name, is pushed once and taken once. Not for concurrent use.
 *
 * A name is a `TestBlockId`, the only kind of block whose name a remote side does not interpret. Spark spills
 * blocks to disk if storage is short.
 */
final class BlockExchange private (blocks: BlockManager) {
  import BlockExchange._

  /** The address at which other processes reach this one. */
  def here: BlockManagerId = blocks.blockManagerId

  /** Begins to push a buffer. The future completes when the buffer has arrived, or fails. */
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

  /** The buffers taken since the last [[removeTaken]], and those taken before it. */
  private var taken, takenBefore = List.empty[BlockId]

  /**
   * A buffer that was pushed here, or None if it has not arrived. Reads it without its lock: the thread that stores it
   * holds the lock until the driver knows of it, and every message would wait for that.
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

  /** Removes the buffers that were taken before the previous call: by now no caller uses them. */
  def removeTaken(): Unit = {
    takenBefore.foreach { id =>
      blocks.removeBlock(id, tellMaster = false)
      // The driver lists every block that another process pushed. There is no need to wait for its answer.
      blocks.master.driverEndpoint
        .ask[Boolean](updateBlockInfo(UpdateBlockInfo, here, id, StorageLevel.NONE, Long.box(0L), Long.box(0L)))
    }
    takenBefore = taken
    taken = Nil
  }

  /** Waits for a buffer that another process pushes here. Calls `stop` meanwhile, which may throw. */
  def await(name: String)(stop: => Unit): ByteBuffer = {
    val start = System.nanoTime()
    var found = take(name)
    while (found.isEmpty) {
      stop
      // Short naps at first: a round with small vectors takes about a millisecond.
      LockSupport.parkNanos(if (System.nanoTime() - start < ImpatientNanos) ShortNapNanos else NapNanos)
      found = take(name)
    }
    found.get
  }

  /** Removes every buffer here whose name begins with the prefix. */
  def removeAll(prefix: String): Unit =
    blocks.getMatchingBlockIds(_.name.startsWith(block(prefix).name)).foreach(id => blocks.removeBlock(id))

  /** The number of buffers here whose names begin with the prefix. */
  def count(prefix: String): Int = blocks.getMatchingBlockIds(_.name.startsWith(block(prefix).name)).size
}

object BlockExchange {

  /** A new exchange on the block manager of this process. */
  def local: BlockExchange = new BlockExchange(SparkEnv.get.blockManager)

  private val Level = StorageLevel.MEMORY_AND_DISK_SER
  private val ImpatientNanos = 20L * 1000 * 1000
  private val ShortNapNanos = 50L * 1000
  private val NapNanos = 500L * 1000

  private def block(name: String): BlockId = TestBlockId(name)

  /**
   * A method of Spark that has more parameters since 4.3, all with default values, so that one jar runs on all
   * versions. The last `after` of the old parameters follow the new ones.
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
