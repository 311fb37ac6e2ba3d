package dwell.spark

import java.io.{DataInput, DataOutput, ObjectInput, ObjectOutput}

import org.apache.hadoop.io.Writable
import org.apache.spark.SerializableWritable

/**
 * An object on its way through the user's serialiser: in a broadcast, as the result of a task, or as an element that Spark keeps.
 * Kryo may have been told to refuse classes that are not registered, and takes all but the largest arrays element by element.
 * Spark registers `SerializableWritable` with every Kryo, and serialises it by Java.
 */
private[dwell] final class Cargo[T](private[dwell] var content: T) extends Writable {

  /** For Hadoop, which then calls `readFields`. */
  def this() = this(null.asInstanceOf[T])

  // The streams of `SerializableWritable` are Java's streams of objects.
  override def write(out: DataOutput): Unit = out.asInstanceOf[ObjectOutput].writeObject(content)

  override def readFields(in: DataInput): Unit = content = in.asInstanceOf[ObjectInput].readObject().asInstanceOf[T]
}

private[dwell] object Cargo {
  def of[T](content: T): SerializableWritable[Cargo[T]] = new SerializableWritable(new Cargo(content))
}
