package dwell.spark

import org.apache.spark.{SerializableWritable, SparkContext}
import org.apache.spark.broadcast.Broadcast

/**
 * A broadcast of any object that Java can serialise, whatever the user's serialiser takes: see [[Cargo]].
 *
 * @param broadcast
 *   to be destroyed by its owner
 */
private[dwell] final class Sent[T] private (val broadcast: Broadcast[SerializableWritable[Cargo[T]]])
    extends Serializable {

  /** The object. Each executor has it once. */
  def value: T = broadcast.value.value.content

  /** Destroys the broadcast. After SparkContext.stop it is gone, and destroying it would fail. */
  def destroy(sc: SparkContext): Unit = if (!sc.isStopped) broadcast.destroy()
}

private[dwell] object Sent {
  def of[T](sc: SparkContext, value: T): Sent[T] = new Sent(sc.broadcast(Cargo.of(value)))
}
