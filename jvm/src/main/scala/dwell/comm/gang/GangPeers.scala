package dwell.comm.gang

import java.nio.ByteBuffer

import dwell.base.SliceBounds
import dwell.comm.Peers
import dwell.comm.wire.{Contribution, Slices, VectorFormat}

/** The members of a gang, for one of them. Each owns the slice of its number. */
private[gang] final class GangPeers(mail: Mailbox, format: VectorFormat) extends Peers {
  private val members = 0 until mail.members

  override def rank: Int = mail.rank
  override def size: Int = mail.members

  override def gather(
      bounds: SliceBounds,
      slice: Array[Byte],
      note: Array[Double]): (Array[Byte], Seq[Array[Double]]) = {
    val exchange = exchangeOf(bounds)
    val notes = new Notes(note)
    exchange.spread(exchange.encode(ByteBuffer.wrap(slice)), members, note)
    val whole = format.zeros
    exchange.of(whole, rank).put(slice)
    exchange.glue(whole)(notes.put)
    (whole, notes.all)
  }

  override def reduce(
      bounds: SliceBounds,
      c: Contribution[_],
      note: Array[Double]): (Array[Byte], Seq[Array[Double]]) = {
    val exchange = exchangeOf(bounds)
    val notes = new Notes(note)
    val sum = new Array[Byte](exchange.ownBytes)
    exchange.reduceScatter(c, Array.emptyByteArray, ByteBuffer.wrap(sum), note)(notes.put)
    (sum, notes.all)
  }

  private def exchangeOf(bounds: SliceBounds): SliceExchange =
    new SliceExchange(mail, members, new Slices(format, bounds))

  private final class Notes(own: Array[Double]) {
    private val notes = new Array[Array[Double]](mail.members)
    notes(rank) = own

    def put(member: Int, note: Any): Unit = notes(member) = note.asInstanceOf[Array[Double]]

    def all: Seq[Array[Double]] = notes.toSeq
  }
}
