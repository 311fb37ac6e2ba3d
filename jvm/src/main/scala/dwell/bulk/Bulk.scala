package dwell.bulk

import java.io.{Externalizable, ObjectInput, ObjectOutput}

/** How objects of one class travel: as numbers and arrays of numbers. */
private[dwell] trait BulkFormat[T] extends Serializable {
  def write(value: T, out: BulkOutput): Unit

  /** A copy of the object that was written. */
  def read(in: BulkInput): T
}

/**
 * An object that Java's serialiser writes in its own format. Left to itself the serialiser converts large arrays number
 * by number.
 */
private[dwell] abstract class Bulk[T] extends Serializable { this: T =>
  protected def format: BulkFormat[T]

  private[dwell] final def writeReplace(): AnyRef = new BulkProxy[T](format, this)
}

/** Takes the place of a [[Bulk]] object in a stream of objects. */
private[bulk] final class BulkProxy[T](private var format: BulkFormat[T], private var value: T) extends Externalizable {

  /** For Java's serialiser, which then calls `readExternal`. */
  def this() = this(null, null.asInstanceOf[T])

  override def writeExternal(out: ObjectOutput): Unit = {
    out.writeObject(format)
    format.write(value, new BulkOutput(out))
  }

  override def readExternal(in: ObjectInput): Unit = {
    format = in.readObject().asInstanceOf[BulkFormat[T]]
    value = format.read(new BulkInput(in))
  }

  private def readResolve(): Any = value
}
