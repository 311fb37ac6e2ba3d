package dwell.comm.gang

import java.io.Serializable
import java.nio.ByteBuffer

import dwell.comm.{GeneratedModel, ModelLostException, ModelStore}
import dwell.comm.wire.{Contribution, Packet, VectorFormat}

/**
 * One member's view of the models that the members of a gang hold. On each executor one member, the keeper, puts them
 * into the [[ModelStore]] for all members there. The leader is a keeper.
 *
 * Large vectors travel in slices, one for each member: every member adds its slice of all contributions, and sends the
 * sum to the keepers. With small vectors every member sends its whole contribution to the keepers, and each keeper adds
 * all of them, which saves one hop. [[dwell.comm.wire.SliceCodec]] encodes all vectors. It can, because both ends hold
 * the model that the members go on from.
 *
 * @param fit
 *   id of the fit that the models belong to
 * @param gang
 *   name of the gang, unique within the application
 */
private[comm] final class GangModels(mail: Mailbox, fit: Long, gang: String, format: VectorFormat) {
  import GangModels._

  private val members = 0 until mail.members
  private val others = members.filter(_ != mail.rank)
  private val keepers = mail.byExecutor.map(_.min)
  private val keeps = keepers.contains(mail.rank)
  private val sliced =
    mail.members > 1 && format.bytes >= (if (mail.members == 2) PairBytes else Mailbox.SmallBytes)
  private val exchange = new SliceExchange(mail, members, format)
  private val codec = format.codec

  /** A model of this gang. Waits for it, since the keeper may be one message behind. */
  def model(version: Long): Array[Byte] = ModelStore.await(fit, version, gang)(mail.checkEnd())

  /**
   * Gives all members a model, on the leader's side. `send` sends the order to members, with the bytes that they need.
   */
  def distribute(version: Long, model: Array[Byte], note: Option[Serializable])(
      send: (Seq[Int], ByteBuffer) => Unit): Unit = {
    if (sliced) {
      others.foreach(k => send(Seq(k), exchange.encoded(model, k)))
      exchange.spread(exchange.encoded(model, mail.rank), keepers)
    } else {
      val (keeping, using) = others.partition(keepers.contains)
      send(keeping, codec.encode(ByteBuffer.wrap(model)))
      send(using, ByteBuffer.allocate(0))
    }
    put(version, model.clone, note)
  }

  /** The other members' side of [[distribute]], with the bytes of the order. */
  def take(version: Long, note: Option[Serializable], bytes: ByteBuffer): Unit = {
    if (sliced) exchange.spread(bytes, keepers.filter(_ != Mailbox.Leader))
    if (keeps) {
      val model = format.zeros
      if (sliced) {
        exchange.place(model, mail.rank, bytes)
        exchange.glue(model)()
      } else codec.decode(bytes, format.length).duplicate().get(model)
      put(version, model, note)
    }
  }

  /** Makes a generated model for the members of this executor. */
  def begin(version: Long, origin: GeneratedModel): Unit =
    if (keeps) put(version, origin.entries(0, format.length), None)

  /**
   * Adds the contributions of all members to model `to`, and drops all models but `kept`.
   *
   * @param shared
   *   the model that the members went on from
   * @param answer
   *   this member's answer to the leader
   * @param answered
   *   called on the leader with the number and the answer of each other member
   * @return
   *   seconds that this member spent on adding
   */
  def reduce(
      c: Contribution[_],
      shared: Array[Byte],
      to: Long,
      kept: Set[Long],
      note: Option[Serializable],
      answer: Any)(answered: (Int, Any) => Unit): Double = {
    val (following, leading) = keepers.partition(_ != Mailbox.Leader)
    val model = if (keeps) format.zeros else Array.emptyByteArray
    val addSeconds =
      if (sliced) {
        val slice = if (keeps) exchange.of(model, mail.rank) else ByteBuffer.allocate(exchange.ownBytes)
        val addSeconds = exchange.reduceScatter(c, shared, slice)()
        val sum = codec.encode(slice)
        exchange.spread(sum, following)
        exchange.spread(sum, leading, answer)
        if (keeps) exchange.glue(model)(answered)
        addSeconds
      } else {
        val vector = Contribution.entries(c, format.headerBytes, 0, format.length)
        lazy val encoded = codec.encode(vector, c.factors, ByteBuffer.wrap(shared))
        def send(keepers: Seq[Int], content: Any): Unit = {
          val to = keepers.filter(_ != mail.rank)
          if (to.nonEmpty) mail.sendWritten(to, s"part_${mail.rank}", Packet(content, encoded))
        }
        send(following, ())
        send(leading, answer)
        if (!keeps) 0.0
        else {
          exchange.addAll(ByteBuffer.wrap(model), ByteBuffer.wrap(shared)) { k =>
            if (k == mail.rank) vector
            else {
              val parcel = mail.receive(s"part_$k")
              answered(k, parcel.content)
              parcel.bytes
            }
          }
        }
      }
    if (keeps) {
      put(to, model, note)
      retain(kept)
    }
    addSeconds
  }

  /** The highest version with a note on this executor, and the note. Any gang of the fit may have made it. */
  def newest: Option[(Long, Serializable)] = ModelStore.newest(fit)

  /**
   * A model on this executor, of any gang of the fit.
   *
   * @throws ModelLostException
   *   if it is not there
   */
  def left(version: Long): Array[Byte] =
    ModelStore.get(fit, version).getOrElse(throw new ModelLostException(s"model $version is gone")).model

  /** Drops all models of the fit but these, of any gang. */
  def retain(versions: Set[Long]): Unit = ModelStore.retain(fit, versions)

  private def put(version: Long, model: Array[Byte], note: Option[Serializable]): Unit =
    ModelStore.put(fit, version, ModelStore.Entry(gang, model, note))
}

private object GangModels {

  /** From this size on, slices are quicker between two members: no more bytes travel, and each adds only one half. */
  private val PairBytes = 4L * 1024 * 1024
}
