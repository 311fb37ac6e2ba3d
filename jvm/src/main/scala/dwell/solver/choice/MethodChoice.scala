package dwell.solver.choice

import dwell.problem.{Algorithm, MarginLoss, Orientation}
import dwell.solver.cd.leader.Pace
import dwell.solver.linear.LinearProblem

/** The choice of the method of a fit, made once, before the first round. */
private[solver] object MethodChoice {
  import Method._

  /**
   * The method that a problem asks for. If it asks for none, the one that is expected to be fastest, among those that train the model
   * with a proof.
   *
   * @param mayTry
   *   whether a trial of the dual orientation may be made
   * @throws IllegalArgumentException
   *   if what the problem asks for does not train it, or has no room
   */
  def apply(problem: LinearProblem, facts: DataFacts, room: Room, mayTry: Boolean): Choice = {
    val request = new Request(problem, facts.numFeatures, problem.bounds.nonEmpty)
    request.check()
    def descent = byDescent(problem, facts, room, mayTry)
    val choice =
      if (request.isFree) free(problem, request, facts, room).getOrElse(descent)
      else
        problem.algorithm.getOrElse(Algorithm.CoCoA) match {
          case Algorithm.Newton => Choice(Newton, AsSet)
          case Algorithm.LBFGS => Choice(Search, AsSet)
          case Algorithm.ModelAveraging => Choice(Averaging, AsSet)
          case Algorithm.CoCoA => descent
        }
    if (choice.method.orientation.isEmpty) room.check(choice.method.use, problem.loss.outputs, facts)
    choice
  }

  /** The choice of a fit that may choose; None if it is coordinate descent. */
  private def free(problem: LinearProblem, request: Request, facts: DataFacts, room: Room): Option[Choice] = {
    val newton =
      if (request.objection(Algorithm.Newton).isEmpty) Some(NewtonForecast.of(problem.loss, problem.penalty, facts))
      else None
    newton match {
      case Some(forecast) if forecast.isFaster => Some(Choice(Newton, forecast.toString, Some(forecast.newton)))
      case _ =>
        newton
          .flatMap(_.objection)
          .orElse(request.notByDescent)
          .orElse(slowByDescent(problem, facts).filter(_ => room.hasSearch(problem.loss, facts.numFeatures)))
          .map(Choice(Search, _))
    }
  }

  /** Why a fit that Newton's method does not train is for L-BFGS and not for coordinate descent. */
  private def slowByDescent(problem: LinearProblem, facts: DataFacts): Option[String] = {
    val isCurved = problem.loss match {
      case margin: MarginLoss => !margin.isParabola && !margin.saturates
      case _ => false
    }
    if (isCurved && facts.numFeatures <= WideLogistic * facts.numRows)
      Some(s"a pass for the ${problem.loss} loss takes less than its coordinate steps")
    else {
      if (problem.penalty.l2 == 0.0 && facts.numRows > Orientation.PrimalRows)
        Some(s"the penalty has no L2 part, and there are more than ${Orientation.PrimalRows} rows")
      else None
    }
  }

  /** Coordinate descent in the orientation asked for, or else in the one that is expected to be faster, among those with room. */
  private def byDescent(problem: LinearProblem, facts: DataFacts, room: Room, mayTry: Boolean): Choice = {
    val objections =
      Orientation.all.flatMap(of => of.objection(problem.loss, problem.penalty).map(of -> told(_, problem))).toMap
    val possible = problem.orientation.fold(Orientation.all.filterNot(objections.contains))(Seq(_))
    if (possible.isEmpty) {
      throw new IllegalArgumentException(
        s"coordinate descent cannot train this model: ${objections.values.mkString(", and ")}. Use algorithm auto.")
    }
    val fitting = room.orientations(possible, facts)
    if (problem.orientation.nonEmpty) Choice(Descent(fitting.head), AsSet)
    else if (possible.size == 1) Choice(Descent(possible.head), objections.values.head)
    else if (fitting.size == 1) Choice(Descent(fitting.head), "the vectors of the other orientation have no room")
    else if (facts.numRows > Orientation.PrimalRows)
      Choice(Descent(Orientation.Dual), s"there are more than ${Orientation.PrimalRows} rows")
    else if (mayTry && isTried(problem, facts)) {
      val many = s"there are ${facts.numFeatures} features for ${facts.numRows} rows, which may be nearly orthogonal"
      Choice(Descent(Orientation.Dual, onTrial = true), many)
    } else {
      val forecast = OrientationForecast.of(problem.loss, facts)
      Choice(Descent(forecast.faster), forecast.toString)
    }
  }

  private def told(objection: Orientation.Objection, problem: LinearProblem): String = objection match {
    case Orientation.NotSmooth => s"the ${problem.loss} loss is not smooth"
    case Orientation.NoL2 => "the penalty has no L2 part"
  }

  /**
   * Whether a trial of the dual form is worth its seconds. With more features than rows, steps along features leave the span
   * of the rows, and only the L2 penalty brings them back. Steps along rows stay in it, and rows with many features of
   * their own hardly disturb each other.
   */
  private def isTried(problem: LinearProblem, facts: DataFacts): Boolean = {
    val isParabola = problem.loss match {
      case margin: MarginLoss => margin.isParabola
      case _ => false
    }
    isParabola && problem.isAuto && problem.localWork.isEmpty && problem.maxRounds > Pace.TrialRounds &&
    problem.penalty.l1 == 0.0 && facts.numFeatures >= Wide * facts.numRows
  }

  private val AsSet = "as set"

  /** Times as many features as rows from which a trial is made. Rows of random features are nearly orthogonal there. */
  private val Wide = 5L

  /**
   * Times as many features as rows up to which L-BFGS needs fewer seconds for a loss that is curved everywhere: 20,000 x 200,000 and
   * 500,000 x 1,048,576, but not 63,540 x 903,150 (bench/results/2026-11-26-grid). Beyond, there are few dual variables.
   */
  private val WideLogistic = 12L
}
