package dwell.solver.rows.search

import java.nio.ByteBuffer

import org.apache.spark.TaskContext

import dwell.base.LittleEndian
import dwell.comm.{Peers, Workers}
import dwell.comm.wire.Contribution
import dwell.data.rows.BlockData
import dwell.jni.{PassLayout, ResultHeader}
import dwell.solver.pass.PassMessage
import dwell.spark.NativeLibrary

/** A worker's part of a search. It keeps no state where the leader has the vectors. */
private[solver] final class SearchStep(pass: Workers.Step[BlockData, PassMessage, Unit])
    extends Workers.SharingStep[BlockData, SearchMessage, SearchAnswer] {

  override def apply(data: BlockData, message: SearchMessage, model: Array[Byte]): Contribution[SearchAnswer] =
    message match {
      case SearchMessage.Pass(asked) => pass(data, asked, model).copy(scalars = SearchStep.Nothing)
      case other => throw new IllegalArgumentException(s"$other needs workers that keep slices of vectors")
    }

  override def among(data: BlockData, peers: Peers): Workers.Member[SearchMessage, SearchAnswer] =
    new SearchMember(pass(data, _, _), peers)
}

private object SearchStep {
  val Nothing: SearchAnswer = SearchAnswer(Array.emptyDoubleArray)
}

/** A worker that keeps a slice of the vectors of a search. */
private final class SearchMember(pass: (PassMessage, Array[Byte]) => Contribution[Unit], peers: Peers)
    extends Workers.Member[SearchMessage, SearchAnswer] {
  import SearchMessage._

  private var begin: BeginSearch = _
  private var slice: SearchSlice = _
  Option(TaskContext.get()).foreach(_.addTaskCompletionListener[Unit](_ => free()))

  /** Time spent on the slice since the last step. */
  private var nanos = 0L

  override def apply(message: SearchMessage, slices: ByteBuffer): Contribution[SearchAnswer] = message match {
    case message: BeginSearch =>
      NativeLibrary.require()
      begin = message
      free()
      slice = begun(slices)
      answer(Array.emptyDoubleArray)
    case StepAlong(step, message) => stepped(step, message)
    case Accept(moved) => answer(timed(slice.accept(moved)))
    case Turn(factor, factors) => answer(timed(slice.turn(factor, factors)))
    case Pass(_) => throw new IllegalArgumentException("a pass at a model of the leader needs no slices")
  }

  private def free(): Unit = Option(slice).foreach(_.close())

  private def answer(sums: Array[Double]): Contribution[SearchAnswer] =
    Contribution(Array.emptyByteArray, SearchAnswer(sums))

  private def begun(slices: ByteBuffer): SearchSlice = {
    val vectors = if (begin.intercept) 4 else 3
    val size = slices.remaining() / 8 / vectors
    val numbers = LittleEndian.buffer(slices).asDoubleBuffer()
    def next(): Array[Double] = {
      val vector = new Array[Double](size)
      numbers.get(vector)
      vector
    }
    val (scales, factors, start) = (next(), next(), next())
    val mean = if (begin.intercept) next() else null
    val space = SearchSpace(scales, mean, factors, begin.l1, begin.l2)
    new SearchSlice(space, begin.blocks.ends(mine), start, begin.memory, begin.threads)
  }

  /** The blocks of this worker. */
  private def mine: Range = {
    val dealt = begin.blocks.dealt(peers.size)
    dealt.start(peers.rank) until dealt.start(peers.rank + 1)
  }

  private def stepped(step: Double, message: PassMessage): Contribution[SearchAnswer] = {
    val blocks = begin.blocks
    val slices = blocks.slices(peers.size)
    val (part, centres) = timed(slice.trial(step))
    val (model, allCentres) = peers.gather(slices, part, centres)
    blocks.uncentre(model, allCentres.flatten)
    val own = pass(message, model)
    val (sum, notes) = peers.reduce(slices, own, SearchMember.note(own, blocks))
    val totals = notes.transpose.map(_.foldLeft(0.0)(_ + _)).toArray
    // A line search shortens a step to a model with predictions that are not finite.
    val isFinite = java.lang.Double.isFinite(totals.head / begin.total)
    val intercepts = if (isFinite) totals.tail else new Array[Double](blocks.outputs)
    val found = timed {
      val gradient = if (isFinite) LittleEndian.doubles(sum) else new Array[Double](sum.length / 8)
      slice.evaluated(gradient, begin.total, mine.map(b => intercepts(blocks.outputOf(b)) / begin.total).toArray)
    }
    val header = Contribution.withoutVector(own, ResultHeader.BYTES).update
    ResultHeader.put(header, ResultHeader.SOLVER_NANOS, ResultHeader.get(header, ResultHeader.SOLVER_NANOS) + nanos)
    nanos = 0L
    val known = if (peers.rank == 0) model else Array.emptyByteArray
    Contribution(header, SearchAnswer(found, intercepts, known))
  }

  private def timed[T](work: => T): T = {
    val started = System.nanoTime()
    try work
    finally nanos += System.nanoTime() - started
  }
}

private object SearchMember {

  /** What all workers have to know of one's losses: their sum, and the derivatives by the intercepts. */
  private def note(own: Contribution[Unit], blocks: SearchBlocks): Array[Double] = {
    val vector = LittleEndian.buffer(Contribution.entries(own, ResultHeader.BYTES, 0, blocks.length)).asDoubleBuffer()
    ResultHeader.get(own.update, PassLayout.LOSS_SUM) +:
      Array.tabulate(blocks.outputs)(c => vector.get(blocks.intercept(c)))
  }
}
