package dwell.bulk

import java.io.{DataInputStream, DataOutputStream, InputStream, OutputStream}
import java.nio.ByteBuffer

import scala.reflect.ClassTag

import org.apache.spark.serializer.{DeserializationStream, SerializationStream, Serializer, SerializerInstance}

/**
 * Spark's serialiser for a shuffle of pieces by numbers: the number, and the piece in its format. The
 * streams remember no piece. (Those of Java's serialiser hold the last hundred objects.)
 */
private[bulk] final class BulkSerializer[P](format: BulkFormat[P]) extends Serializer with Serializable {
  override def newInstance(): SerializerInstance = new BulkSerializer.Instance(format)
}

private[bulk] object BulkSerializer {

  private final class Instance[P](format: BulkFormat[P]) extends SerializerInstance {
    override def serializeStream(stream: OutputStream): SerializationStream = new Writer(format, stream)
    override def deserializeStream(stream: InputStream): DeserializationStream = new Reader(format, stream)

    // A shuffle uses streams of keys and values only.
    override def serialize[T: ClassTag](t: T): ByteBuffer = unsupported
    override def deserialize[T: ClassTag](bytes: ByteBuffer): T = unsupported
    override def deserialize[T: ClassTag](bytes: ByteBuffer, loader: ClassLoader): T = unsupported
  }

  private final class Writer[P](format: BulkFormat[P], stream: OutputStream) extends SerializationStream {
    private val out = new DataOutputStream(stream)
    private val bulk = new BulkOutput(out)

    override def writeKey[T: ClassTag](key: T): SerializationStream = {
      bulk.long(key.asInstanceOf[Long])
      this
    }

    override def writeValue[T: ClassTag](value: T): SerializationStream = {
      format.write(value.asInstanceOf[P], bulk)
      this
    }

    override def writeObject[T: ClassTag](t: T): SerializationStream = unsupported
    override def flush(): Unit = out.flush()
    override def close(): Unit = out.close()
  }

  private final class Reader[P](format: BulkFormat[P], stream: InputStream) extends DeserializationStream {
    private val in = new DataInputStream(stream)
    private val bulk = new BulkInput(in)

    override def readKey[T: ClassTag](): T = bulk.long().asInstanceOf[T]
    override def readValue[T: ClassTag](): T = format.read(bulk).asInstanceOf[T]
    override def readObject[T: ClassTag](): T = unsupported
    override def close(): Unit = in.close()
  }

  private def unsupported: Nothing =
    throw new UnsupportedOperationException("this serialiser writes keys and values to streams")
}
