package dwell.comm.gang

import java.nio.ByteBuffer

import dwell.comm.wire.{Contribution, VectorFormat}

/** What one member of a gang holds for [[dwell.comm.SlicedWorkers]]. */
private[comm] final class GangSlices(mail: Mailbox, format: VectorFormat) {
  private val members = 0 until mail.members
  private val exchange = new SliceExchange(mail, members, format)

  /** The vector that all members have. */
  private lazy val zeros = format.zeros
  private var gathered = Option.empty[Array[Byte]]

  /** This member's slice of the last sum. */
  private var own = new Array[Byte](exchange.ownBytes)

  /** Works on the common vector, and adds this member's slice of all contributions. */
  def reduceScatter[S](work: Array[Byte] => Contribution[S]): Contribution[S] = {
    val shared = gathered.getOrElse(zeros)
    val c = work(shared)
    val sum = new Array[Byte](exchange.ownBytes)
    exchange.reduceScatter(c, shared, ByteBuffer.wrap(sum))
    own = sum
    c
  }

  /** Works on this member's slice of the last sum. */
  def onOwn[S](work: Array[Byte] => Contribution[S]): Contribution[S] = work(own)

  /** Works on this member's slice of the last sum, and glues the slices of all contributions together. */
  def gather[S](work: Array[Byte] => Contribution[S]): Contribution[S] = {
    val c = work(own)
    val slice = ByteBuffer.wrap(c.update, format.headerBytes, own.length)
    val vector = format.zeros
    exchange.spread(exchange.encode(slice), members)
    exchange.place(vector, mail.rank, slice)
    exchange.glue(vector)()
    gathered = Some(vector)
    c
  }
}
