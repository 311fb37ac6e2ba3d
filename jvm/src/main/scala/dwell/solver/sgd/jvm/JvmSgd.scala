package dwell.solver.sgd.jvm

import dwell.base.{BucketOrder, Finite, LittleEndian, Patience}
import dwell.data.RowData
import dwell.jni.{Cancellation, ResultHeader}
import dwell.solver.sgd.contract.{Descend, Evaluate, Search, SgdSolver}

/**
 * The local solver of stochastic gradient descent without native code. It runs where the library cannot load, and the
 * tests compare the native solver with it. It does the same arithmetic in the same order.
 */
private[solver] object JvmSgd extends SgdSolver {

  override def descend(
      data: RowData,
      r: Descend,
      shared: Array[Byte],
      result: Array[Byte],
      cancellation: Cancellation): Unit = {
    val header = new SgdHeader(result)
    SgdArguments.check(data, r, shared, result)
    val rows = new SgdRows(data, r.problem.loss.outputs)
    val start = load(rows, shared, header)
    val model = DescentModel(rows, r.problem, start, r.running)
    val descent = new LocalDescent(rows, r.problem, r.schedule, r.steps, model, new Patience(cancellation))
    val sequence = new RowSequence(new BucketOrder(rows.count, r.seed, data.index), r.cursor)
    var finite = true
    while (finite && rows.count > 0 && (descent.visited.rows < r.budget || sequence.insideBucket)) {
      finite = descent.step(sequence.next())
    }
    val reached = model.result()
    header.visited(descent.visited)
    header.place(sequence.cursor, r.steps + descent.visited.rows)
    val converges = finite && Finite.all(reached)
    val made = if (converges) reached else start
    if (!converges) header.diverged()
    header.reached(rows.norms(made))
    (if (converges) model.decay else Some(Nil)).foreach(factors => header.decay(factors :+ r.share))
    write(made, r.share, result)
    header.write()
  }

  override def search(
      data: RowData,
      r: Search,
      shared: Array[Byte],
      result: Array[Byte],
      cancellation: Cancellation): Unit = {
    val header = new SgdHeader(result)
    SgdArguments.check(data, r, shared, result)
    val rows = new SgdRows(data, r.problem.loss.outputs)
    val start = load(rows, shared, header)
    val sequence = new RowSequence(new BucketOrder(rows.count, r.seed, data.index), r.cursor)
    new StepSearch(rows, r, start, sequence, new Patience(cancellation)).run(header)
    header.place(r.cursor, r.steps)
    header.write()
  }

  override def evaluate(
      data: RowData,
      r: Evaluate,
      shared: Array[Byte],
      result: Array[Byte],
      cancellation: Cancellation): Unit = {
    val header = new SgdHeader(result)
    SgdArguments.check(data, r, shared, result)
    val rows = new SgdRows(data, r.problem.loss.outputs)
    val model = load(rows, shared, header)
    val evaluation = new Evaluation(rows, r, model, new Patience(cancellation))
    val vector = evaluation.run()
    evaluation.write(header)
    if (vector.isEmpty) header.diverged()
    write(vector.getOrElse(new Array[Double](model.length)), 1.0, result)
    header.write()
  }

  /** Reads the shared model, and writes its norms into the header. */
  private def load(rows: SgdRows, shared: Array[Byte], header: SgdHeader): Array[Double] = {
    val model = new Array[Double](rows.intercepts + rows.outputs)
    LittleEndian.view(shared).get(model)
    model.indices.foreach { k =>
      require(Finite(model(k)), s"shared has ${model(k)} at entry $k of the model: must be finite")
    }
    header.norms(rows.norms(model))
    model
  }

  private def write(model: Array[Double], share: Double, result: Array[Byte]): Unit = {
    val vector = ResultHeader.vector(result)
    model.indices.foreach(k => vector.put(k, share * model(k)))
  }
}
