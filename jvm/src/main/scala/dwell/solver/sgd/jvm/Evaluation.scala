package dwell.solver.sgd.jvm

import dwell.jni.SgdLayout
import dwell.base.{Finite, Patience}
import dwell.solver.problem.{DualFeasibility, MarginLoss, Softmax}
import dwell.solver.sgd.contract.{Evaluate}

/** The losses of all rows of a partition and their gradient, or the dual counterparts of both. */
private[sgd] final class Evaluation(rows: SgdRows, r: Evaluate, model: Array[Double], patience: Patience) {
  private val function = r.dual match {
    case None => RowLoss(r.problem.loss)
    case Some(numbers) => RowConjugate(r.problem.loss, numbers)
  }
  private val pass = new ModelPass(rows, function, model, patience)
  private val sum = new Array[Double](model.length)

  /** The loss, if the correction of its dual variables needs sums over the rows of each label. */
  private val shrinking: Option[MarginLoss] = r.problem.loss match {
    case loss: MarginLoss =>
      loss.feasibility match {
        case DualFeasibility.ShrinkClass => Some(loss)
        case DualFeasibility.Shift | DualFeasibility.MixClasses(_) => None
      }
    case Softmax(_) => None
  }

  /** Sum of s_i p_i over the rows of each label. */
  private var positive, negative = 0.0

  /** Visits all rows and returns the vector of the result; None if something is not finite. */
  def run(): Option[Array[Double]] = {
    var finite = true
    var i = 0
    while (finite && i < rows.count) {
      finite = pass.visit(i)
      if (finite) {
        rows.add(i, pass.multiples, sum)
        shrinking.foreach(count(_, i))
      }
      i += 1
    }
    val vector = sum.map(r.factor * _)
    if (finite && Finite.all(vector)) Some(vector) else None
  }

  private def count(loss: MarginLoss, i: Int): Unit = {
    val y = rows.label(i)
    val p = -y * loss.derivative(pass.z(0), y)
    if (y > 0.0) positive += rows.weight(i) * p else negative += rows.weight(i) * p
  }

  /** Writes the sums into the header. */
  def write(header: SgdHeader): Unit = {
    header.visited(pass.visited)
    header.put(SgdLayout.POSITIVE_SUM, positive)
    header.put(SgdLayout.NEGATIVE_SUM, negative)
  }
}
