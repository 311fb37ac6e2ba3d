package dwell.comm.wire

import java.nio.ByteBuffer

import org.apache.spark.SparkEnv
import org.apache.spark.serializer.SerializerInstance

/** An object and bytes that travel together. The bytes are copied, not serialised. */
private[comm] final case class Packet(content: Any, bytes: ByteBuffer) {

  /** The length of the serialised object (4 bytes), the object, and the bytes. */
  def write(): ByteBuffer = {
    val written = Packet.serializer.serialize(content)
    val parcel = ByteBuffer.allocate(4 + written.remaining() + bytes.remaining())
    parcel.putInt(written.remaining()).put(written).put(bytes.duplicate())
    parcel.flip()
    parcel
  }

  /** A copy of the bytes. */
  def toArray: Array[Byte] = {
    val array = new Array[Byte](bytes.remaining())
    bytes.duplicate().get(array)
    array
  }
}

private[comm] object Packet {

  def apply(content: Any, bytes: Array[Byte] = Array.emptyByteArray): Packet = Packet(content, ByteBuffer.wrap(bytes))

  /** Reads what [[Packet.write]] wrote. A parcel that is shorter than it says throws an `IllegalArgumentException`. */
  def read(parcel: ByteBuffer): Packet = {
    val length = parcel.getInt()
    val written = parcel.slice().limit(length)
    parcel.position(parcel.position() + length)
    // The system class loader does not know jars that were added to a running application.
    val loader = Thread.currentThread().getContextClassLoader
    Packet(serializer.deserialize[Any](written, loader), parcel.slice())
  }

  /** Java's serialiser, independent of the user's choice for data. */
  private def serializer: SerializerInstance = SparkEnv.get.closureSerializer.newInstance()
}
