package dwell.comm.gang

import scala.collection.mutable

/**
 * The members of a gang that have said that they wait for a message, while all that they sent has arrived. If all of them
 * wait, a message was lost: nothing is under way that could end it.
 */
private[gang] final class IdleMembers(members: Int) {
  private val idle = mutable.Set.empty[Int]
  private var since = 0L

  def heard(note: IdleMembers.Note): Unit = synchronized {
    note match {
      case IdleMembers.Waits(rank) => idle += rank
      case IdleMembers.GoesOn(rank) => idle -= rank
    }
    if (idle.size == members) since = System.nanoTime()
  }

  /** For how long all members have waited. */
  def nanos: Long = synchronized(if (idle.size == members) System.nanoTime() - since else 0L)
}

private[gang] object IdleMembers {

  /** What a member tells the driver. */
  sealed trait Note extends Serializable
  final case class Waits(rank: Int) extends Note
  final case class GoesOn(rank: Int) extends Note
}
