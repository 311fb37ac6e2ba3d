package dwell.solver.pass

import java.nio.{ByteBuffer, ByteOrder}

import org.apache.spark.SparkException

import dwell.SparkSuite
import dwell.base.LittleEndian
import dwell.data.rows.{BlockArrays, BlockData}
import dwell.jni.{NativeBridge, PassLayout, ResultHeader}
import dwell.problem.{Logistic, Loss, Softmax}

/** A worker's pass over its rows. */
class PassStepSuite extends SparkSuite {
  import PassStepSuite._

  /** Only a task can be killed, and a step asks whether it is. */
  private def inTask(step: () => Array[Byte]): Array[Byte] =
    spark.sparkContext.parallelize(Seq(0), 1).map(_ => step()).collect().head

  test("any number of threads: the same bits") {
    val passes = Seq[(BlockData, Int) => Array[Byte]](pass(_, Logistic, _), pass(_, Softmax(3), _), network)
    for { (pass, kind) <- passes.zipWithIndex; count <- Seq(0, 1, 7, 8, 21) } {
      val Seq(one, two, many) = Seq(1, 2, 16).map(threads => inTask(() => pass(blocks(count), threads)))
      for (other <- Seq(two, many)) {
        for (slot <- Seq(ResultHeader.STARTED, ResultHeader.SOLVER_NANOS)) {
          ByteBuffer.wrap(other).order(ByteOrder.LITTLE_ENDIAN).putDouble(8 * slot, ResultHeader.get(one, slot))
        }
        assert(other.sameElements(one), s"$kind $count")
      }
      assert(NativeBridge.stateEntries() == 0L)
    }
  }

  test("an error in a thread is the error of the step, and nothing is left") {
    for (threads <- Seq(1, 3)) {
      val e = intercept[SparkException](inTask(() => pass(withBad(blocks(9)), Logistic, threads)))
      assert(e.getMessage.contains("values64"))
      assert(NativeBridge.stateEntries() == 0L)
    }
  }
}

private object PassStepSuite {

  private val features = 6

  def blocks(count: Int): BlockData = {
    val made = Seq.tabulate(count) { b =>
      val rows = 5 + 37 * (b % 4)
      val random = new scala.util.Random(b)
      def doubles(length: Int) = Array.fill(length)(random.nextGaussian())
      val labels = Array.fill(rows)(random.nextInt(2).toDouble)
      BlockArrays(
        null,
        null,
        null,
        doubles(rows * features),
        labels,
        if (b % 2 == 0) null else doubles(rows).map(_.abs))
    }
    BlockData(0, () => made.iterator)
  }

  def pass(data: BlockData, loss: Loss, threads: Int): Array[Byte] = {
    val n = loss.outputs * (features + 1)
    val message = PassMessage(
      loss,
      intercept = true,
      features,
      Array.fill(features)(0.25),
      PassLayout.entries(features, 1, loss.outputs),
      PassSums(gradient = true, hessian = true, moments = true),
      threads)
    PassStep(data, message, LittleEndian.bytes(Array.tabulate(n)(j => 0.1 * (j - 2)))).update
  }

  def network(data: BlockData, threads: Int): Array[Byte] = {
    val weights = (features + 1) * 5 + (5 + 1) * 2
    val message = NetworkPass(Array(features, 5, 2), weights, threads)
    PassStep(data, message, LittleEndian.bytes(Array.tabulate(weights)(j => math.sin(j.toDouble)))).update
  }

  def withBad(data: BlockData): BlockData = {
    val bad = BlockArrays(null, null, null, new Array[Double](5), Array(0.0), null)
    BlockData(0, () => data.blocks() ++ Iterator(bad))
  }
}
