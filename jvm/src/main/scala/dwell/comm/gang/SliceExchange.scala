package dwell.comm.gang

import java.nio.ByteBuffer

import dwell.comm.wire.{Contribution, Packet, Slices, VectorFormat}

/**
 * Vectors that the members of a gang send each other in slices, so that no member is a bottleneck. Each owner has one
 * slice. It adds this slice of all contributions (reduce-scatter), or passes it on (all-gather).
 * [[dwell.comm.wire.SliceCodec]] encodes all slices.
 *
 * @param owners
 *   members that own a slice each, in the order of the slices
 */
private[comm] final class SliceExchange(mail: Mailbox, owners: Seq[Int], slices: Slices) {

  /** Slices about equally long; at least one, even if it has no owner. */
  def this(mail: Mailbox, owners: Seq[Int], format: VectorFormat) =
    this(mail, owners, new Slices(format, math.max(1, owners.size)))

  private val codec = slices.codec
  private val own = owners.indexOf(mail.rank)

  /** The slice of a vector that a member owns; empty if the vector has length 0. */
  def of(vector: Array[Byte], owner: Int): ByteBuffer = slices.of(vector, owners.indexOf(owner))

  /** The same slice, encoded. */
  def encoded(vector: Array[Byte], owner: Int): ByteBuffer = encode(of(vector, owner))

  /** Encodes a slice by itself. */
  def encode(slice: ByteBuffer): ByteBuffer = codec.encode(slice)

  /** Decodes a member's slice into its place in the vector. */
  def place(vector: Array[Byte], owner: Int, bytes: ByteBuffer): Unit =
    slices.put(vector, owners.indexOf(owner), bytes)

  /**
   * Sends the owners their slices of this member's contribution.
   *
   * @param shared
   *   the shared vector that the members were given
   * @param note
   *   goes with each slice
   */
  def send(c: Contribution[_], shared: Array[Byte], note: Any = ()): Unit = owners.indices
    .filter(_ != own)
    .foreach(i => mail.send(owners(i), s"part_${mail.rank}", Packet(note, slices.encoded(c, i, shared))))

  /**
   * The same, and then adds this owner's slice of the contributions of all members, in their order.
   *
   * @param sum
   *   `ownBytes` zeros; gets the sum
   * @param noted
   *   called with each other member and its note
   * @return
   *   seconds spent on adding
   */
  def reduceScatter(c: Contribution[_], shared: Array[Byte], sum: ByteBuffer, note: Any = ())(
      noted: (Int, Any) => Unit = (_, _) => ()): Double = {
    send(c, shared, note)
    addAll(sum, slices.of(shared, own)) { k =>
      if (k == mail.rank) slices.of(c, own)
      else {
        val parcel = mail.receive(s"part_$k")
        noted(k, parcel.content)
        parcel.bytes
      }
    }
  }

  /** Adds `part(k)` of each member k to `sum`, in the order of the members; returns the seconds spent on adding. */
  def addAll(sum: ByteBuffer, shared: => ByteBuffer)(part: Int => ByteBuffer): Double = {
    var nanos = 0L
    (0 until mail.members).foreach { k =>
      val bytes = part(k)
      val start = System.nanoTime()
      if (bytes.hasRemaining) codec.add(bytes, sum, shared)
      nanos += System.nanoTime() - start
    }
    nanos * 1e-9
  }

  /** The size of this owner's slice in bytes. */
  def ownBytes: Int = 8 * slices.size(own)

  /** Sends other members this owner's slice, which is already encoded. */
  def spread(slice: ByteBuffer, to: Seq[Int], content: Any = ()): Unit =
    mail.sendWritten(to.filter(_ != mail.rank), s"slice_${mail.rank}", Packet(content, slice))

  /**
   * Receives the slices that the other owners spread, and puts them into their places in the vector.
   *
   * @param content
   *   called with each owner and the content of its parcel
   */
  def glue(vector: Array[Byte])(content: (Int, Any) => Unit = (_, _) => ()): Unit =
    owners.indices.filter(_ != own).foreach { i =>
      val parcel = mail.receive(s"slice_${owners(i)}")
      content(owners(i), parcel.content)
      place(vector, owners(i), parcel.bytes)
    }
}
