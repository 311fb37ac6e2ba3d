package dwell.comm.wire

import java.nio.ByteBuffer

import org.apache.spark.SparkEnv
import org.apache.spark.serializer.SerializerInstance

/** An object and bytes that go with it: the bytes are not serialised, only copied. */
private[comm] final case class Packet(content: Any, bytes: ByteBuffer) {

  def write(): ByteBuffer = {
    val written = Packet.serializer.serialize(content)
    val parcel = ByteBuffer.allocate(4 + written.remaining() + bytes.remaining())
    parcel.putInt(written.remaining()).put(written).put(bytes.duplicate())
    parcel.flip()
    parcel
  }

  /** The bytes as an array of their own. */
  def toArray: Array[Byte] = {
    val array = new Array[Byte](bytes.remaining())
    bytes.duplicate().get(array)
    array
  }
}

private[comm] object Packet {

  def apply(content: Any, bytes: Array[Byte] = Array.emptyByteArray): Packet = Packet(content, ByteBuffer.wrap(bytes))

  def read(parcel: ByteBuffer): Packet = {
    val written = new Array[Byte](parcel.getInt())
    parcel.get(written)
    // Classes of jars that were added to a running application are not the system loader's.
    val loader = Thread.currentThread().getContextClassLoader
    Packet(serializer.deserialize[Any](ByteBuffer.wrap(written), loader), parcel.slice())
  }

  /** Java's, whatever the user has set for data. */
  private def serializer: SerializerInstance = SparkEnv.get.closureSerializer.newInstance()
}
