package dwell.solver.choice

import org.scalatest.funsuite.AnyFunSuite

import dwell.problem.{Algorithm, Hinge, Huber, Logistic, Loss, Orientation, Penalty, RowUse, Softmax, Squared, SquaredHinge}
import dwell.solver.TestProblem
import dwell.solver.linear.LinearProblem

/** The table of choices: a change of a cost, or of a rule, shows here. */
class MethodChoiceSuite extends AnyFunSuite {
  import MethodChoiceSuite._

  test("the methods of eighty-eight problems, by shape, loss and penalty") {
    val found = Shapes.map { shape =>
      val methods = Problems.map { case (loss, penalty) =>
        told(MethodChoice(problem(loss, penalty), shape.facts, Plenty, mayTry = true).method)
      }
      (shape.name +: methods).zip(Widths).map { case (text, width) => text.padTo(width, ' ') }.mkString.trim
    }
    assert(found.mkString("\n") == Expected)
  }

  test("a method that is asked for is taken, or refused with the reason") {
    val facts = Shapes.head.facts
    val asked = problem(Logistic, L2)
    def of(problem: LinearProblem): Choice = MethodChoice(problem, facts, Plenty, mayTry = true)
    assert(of(asked.copy(algorithm = Some(Algorithm.LBFGS))) == Choice(Method.Search, "as set"))
    assert(of(asked.copy(algorithm = Some(Algorithm.ModelAveraging))) == Choice(Method.Averaging, "as set"))
    val dual = of(asked.copy(orientation = Some(Orientation.Dual)))
    assert(dual == Choice(Method.Descent(Orientation.Dual), "as set"))
    val refused = Seq(
      asked.copy(loss = Softmax(3), algorithm = Some(Algorithm.CoCoA)) -> "there are 3 classes",
      asked.copy(loss = Hinge, orientation = Some(Orientation.Primal)) -> "a loss with a derivative everywhere",
      asked.copy(penalty = L1, orientation = Some(Orientation.Dual)) -> "orientation=dual needs an L2 penalty",
      asked.copy(loss = Huber(1.35), algorithm = Some(Algorithm.ModelAveraging)) -> "has a scale",
      asked.copy(algorithm = Some(Algorithm.Newton), orientation = Some(Orientation.Primal)) -> "steps are along rows",
      asked.copy(algorithm = Some(Algorithm.ModelAveraging), orientation = Some(Orientation.Primal)) -> "ma-sgd")
    for ((problem, why) <- refused) {
      val e = intercept[IllegalArgumentException](of(problem))
      assert(e.getMessage.contains(why), e.getMessage)
    }
  }

  test("with many features a row the squared hinge is for the dual form, and the logistic loss for the primal one") {
    val words = Shape("", 63540, 903150, 100).facts
    def of(loss: Loss): Method = MethodChoice(problem(loss, L2), words, Plenty, mayTry = true).method
    assert(of(SquaredHinge) == Method.Descent(Orientation.Dual) && of(Logistic) == Method.Descent(Orientation.Primal))
  }

  test("a fit takes what has room") {
    val rows = Shape("", 500000, 100000, 20).facts
    def of(room: Room): Method = MethodChoice(problem(Squared, L2), rows, room, mayTry = true).method
    assert(of(Plenty) == Method.Descent(Orientation.Primal))
    assert(of(Plenty.copy(results = 1000000L)) == Method.Descent(Orientation.Dual))
    assert(of(Plenty.copy(task = 10000000L)) == Method.Descent(Orientation.Dual))
    val e = intercept[IllegalArgumentException](of(Plenty.copy(results = 1000L, gathers = true)))
    assert(e.getMessage.contains("set aggregation to shuffle"), e.getMessage)
    // L-BFGS leaves the fit to coordinate descent where its vectors have no room.
    def curved(room: Room): Method = MethodChoice(problem(Logistic, L2), rows, room, mayTry = true).method
    assert(curved(Plenty) == Method.Search)
    assert(curved(Plenty.copy(driver = 1000000L)).algorithm == Algorithm.CoCoA)
  }
}

private object MethodChoiceSuite {
  val L2: Penalty = Penalty(l1 = 0.0, l2 = 0.01)
  val L1: Penalty = Penalty(l1 = 0.01, l2 = 0.0)
  private val Both = Penalty(l1 = 0.005, l2 = 0.005)
  private val Unpenalised = Penalty(l1 = 0.0, l2 = 0.0)

  /** @param entries of a row; rows with all features are stored with their zeros */
  final case class Shape(name: String, rows: Long, features: Int, entries: Int) {
    def facts: DataFacts = {
      val pairs = 0.5 * rows * entries * entries
      val dense = entries == features
      DataFacts(rows, features, rows * entries, if (dense) pairs else 0.0, if (dense) 0.0 else pairs)
    }
  }

  private val Shapes = Seq(
    Shape("1,000,000 x 28", 1000000, 28, 28),
    Shape("100,000 x 400", 100000, 400, 400),
    Shape("20,000 x 4,000", 20000, 4000, 4000),
    Shape("600 x 4,000", 600, 4000, 4000),
    Shape("300,000 x 206, 14", 300000, 206, 14),
    Shape("500,000 x 2^20, 30", 500000, 1 << 20, 30),
    Shape("63,540 x 903,150, 80", 63540, 903150, 80),
    Shape("3,000,000 x 50,000, 20", 3000000, 50000, 20))

  private val Problems: Seq[(Loss, Penalty)] = Seq(
    Squared -> Unpenalised,
    Squared -> L2,
    Squared -> Both,
    Squared -> L1,
    Logistic -> Unpenalised,
    Logistic -> L2,
    Logistic -> L1,
    Hinge -> Unpenalised,
    Hinge -> L2,
    Softmax(10) -> L2,
    Huber(1.35) -> L2)

  private val Widths = 23 +: Seq.fill(Problems.size)(8)

  /**
   * The columns are those of `Problems`. With a question mark the orientation is on trial.
   */
  private val Expected =
    """1,000,000 x 28         newton  newton  newton  newton  newton  newton  newton  l-bfgs  newton  l-bfgs  newton
        |100,000 x 400          newton  newton  newton  newton  l-bfgs  newton  newton  l-bfgs  dual    l-bfgs  l-bfgs
        |20,000 x 4,000         newton  primal  primal  primal  l-bfgs  l-bfgs  l-bfgs  l-bfgs  dual    l-bfgs  l-bfgs
        |600 x 4,000            l-bfgs  dual?   dual    primal  l-bfgs  l-bfgs  l-bfgs  l-bfgs  dual    l-bfgs  l-bfgs
        |300,000 x 206, 14      newton  newton  newton  newton  newton  newton  newton  l-bfgs  newton  l-bfgs  newton
        |500,000 x 2^20, 30     l-bfgs  primal  primal  primal  l-bfgs  l-bfgs  l-bfgs  l-bfgs  dual    l-bfgs  l-bfgs
        |63,540 x 903,150, 80   l-bfgs  dual?   primal  primal  l-bfgs  primal  primal  l-bfgs  dual    l-bfgs  l-bfgs
        |3,000,000 x 50,000, 20 l-bfgs  dual    dual    l-bfgs  l-bfgs  l-bfgs  l-bfgs  l-bfgs  dual    l-bfgs  l-bfgs""".stripMargin

  private def told(method: Method): String = method match {
    case Method.Newton => "newton"
    case Method.Search => "l-bfgs"
    case Method.Averaging => "ma-sgd"
    case Method.Descent(in, onTrial) => in.name + (if (onTrial) "?" else "")
  }

  /** Room for everything. */
  private val Plenty = Room(1L << 40, 1L << 40, 1L << 40, (_: RowUse) => 4, gathers = false)

  private def problem(loss: Loss, penalty: Penalty) =
    TestProblem.linear.copy(loss = loss, penalty = penalty, numWorkers = 0)
}
