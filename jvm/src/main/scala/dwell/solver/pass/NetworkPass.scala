package dwell.solver.pass

import dwell.jni.{NativeBridge, ResultHeader}

/**
 * The message of a pass of a network, which goes with its weights: it sums the losses and their gradient by the weights.
 *
 * @param layers
 *   features, the units of each hidden layer, classes
 * @param weights
 *   the number of the weights
 */
private[solver] final case class NetworkPass(layers: Array[Int], weights: Int, threads: Int) extends NativePass {

  private[pass] override def length: Int = ResultHeader.length(weights)

  private[pass] override def room: Long = NativePass.InOrder

  private[pass] override def begin(model: Array[Byte]): Long = NativeBridge.networkBegin(layers, model)
}
