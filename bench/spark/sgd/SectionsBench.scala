package dwell.bench.sgd

import org.apache.spark.ml.{Estimator, Model}
import org.apache.spark.ml.classification.{LinearSVC => SparkLinearSVC, LogisticRegression => SparkLogisticRegression, LogisticRegressionModel}
import org.apache.spark.ml.evaluation.MulticlassClassificationEvaluator
import org.apache.spark.sql.DataFrame

import dwell.bench.{Bench, NamedArguments}
import dwell.ml.classification.{LinearSVC, LogisticRegression}
import dwell.report.FitReport

/**
 * MA-SGD on real text, beside Spark's l-bfgs: the section of each of the distribution's packages (softmax over all sections),
 * and libraries against the rest (logistic and hinge loss). Accuracy on a fifth of the packages, which are held out, to three
 * digits, and seconds of whole fits, in turn. Without standardisation, and with a penalty of 1 for the sum of the losses.
 *
 * Model averaging followed by L-BFGS is two fits, the second from the model of the first; rounds are those of the second.
 *
 * The stopping rules are not the same: Spark stops by the change of the objective at its default `tol`, or after its default
 * of 100 iterations, MA-SGD by the progress of the objective in a round. What comes out is therefore compared. A scale below 1
 * takes such a share of the packages.
 *
 * Arguments after those of [[Bench]]: `losses=softmax,hinge`, `systems=Dwell` (beginnings of names), see [[NamedArguments]].
 */
object SectionsBench {

  private val HeldOut = 0.2

  /** Relative progress below which more rounds do not pay. */
  private val Progress = 1e-3
  private val MostRounds = 50

  /** Of `ma-sgd` before `l-bfgs`. */
  private val FirstRounds = 10

  private final case class Case(
      labels: String,
      loss: String,
      data: DataFrame,
      ours: () => Estimator[_],
      theirs: () => Estimator[_]) {
    def task: String = s"$labels, $loss"
  }

  /**
   * @param refines
   *   whether `l-bfgs` goes on from the model
   */
  private final case class System(
      name: String,
      estimator: Case => Estimator[_],
      params: Seq[(String, Any)],
      refines: Boolean = false)

  private val Averaging =
    System("Dwell ma-sgd", _.ours(), Seq("algorithm" -> "ma-sgd", "tol" -> Progress, "maxIter" -> MostRounds))
  private val Refined =
    Averaging.copy(
      name = "Dwell ma-sgd, then l-bfgs",
      params = Averaging.params :+ ("maxIter" -> FirstRounds),
      refines = true)

  private val Spark = System("Spark l-bfgs", _.theirs(), Seq.empty)
  private val Systems = Seq(Averaging, Refined, Spark)

  def main(args: Array[String]): Unit = {
    val (own, others) = args.splitAt(Bench.Arguments)
    val asked = new NamedArguments(others.toSeq)
    Bench.run("sections bench", own) { bench =>
      require(bench.sections.isDefined, "no package descriptions: this benchmark needs a machine with apt")
      def logistic(labels: String, loss: String)(data: DataFrame) =
        Case(labels, loss, data, () => new LogisticRegression(), () => new SparkLogisticRegression())
      def hinge(data: DataFrame) =
        Case("libraries", "hinge", data, () => new LinearSVC(), () => new SparkLinearSVC())
      val libraries = bench.scaledLibraries.toSeq
      val cases =
        bench.sections.map(logistic("sections", "softmax")).toSeq ++ libraries.map(logistic("libraries", "logistic")) ++
          libraries.map(hinge)
      val systems = Systems.filter(s => asked.wants(s.name))
      asked.chosen("losses", cases)(_.loss).foreach { c =>
        // Spark's hinge takes no model to begin with.
        compare(bench, c, systems.filterNot(_.refines && c.loss == "hinge"))
      }
    }
  }

  private def compare(bench: Bench, c: Case, systems: Seq[System]): Unit = {
    val parts = c.data.randomSplit(Array(1.0 - HeldOut, HeldOut), bench.seed).map(_.cache())
    val Array(train, heldOut) = parts
    val rows = train.count()
    val classes = train.select("label").distinct().count()
    println(s"\n== ${c.task}: $classes classes, ${Bench.shape(train)}, ${heldOut.count()} rows held out")
    val params = Seq("regParam" -> 1.0 / rows, "standardization" -> false)
    def fit(system: System) = Bench.timed[Model[_]] {
      val model = Bench.fit(system.estimator(c), train, params ++ system.params: _*)
      (system.estimator(c), model) match {
        case (next: LogisticRegression, first: LogisticRegressionModel) if system.refines =>
          Bench.fit(next.setInitialModel(first), train, params ++ Seq("algorithm" -> "l-bfgs", "tol" -> Progress): _*)
        case _ => model
      }
    }
    val fits = (1 to bench.repetitions).map(_ => systems.map(fit))
    val accuracies = fits.last.map(f => accuracy(f.result, heldOut))
    val spark = systems.zip(accuracies).find(_._1 == Spark).map(_._2)
    systems.indices.foreach { k =>
      val model = fits.last(k).result
      val seconds = fits.map(_(k).seconds)
      val report = FitReport.find(model)
      report.foreach(r => require(r.solver == "native", r.toText))
      val rounds = report.fold(Bench.history(model).length - 1)(_.rounds.last.round)
      // Two models that agree to three digits are as good as each other.
      val met = spark.filter(_ => systems(k) != Spark).map(digits(accuracies(k)) >= digits(_))
      println(
        f"${systems(k).name}%-22s held-out accuracy ${accuracies(k)}%.4f, $rounds%d rounds, median " +
          f"${Bench.median(seconds)}%.2f s${met.fold("")(m =>
              s", goal (at least that of Spark) ${if (m) "met" else "MISSED"}")}")
      bench.add(
        "task" -> c.task,
        "classes" -> classes,
        "rows" -> rows,
        "system" -> systems(k).name,
        "rounds" -> rounds,
        "seconds" -> seconds,
        "accuracy" -> accuracies(k),
        "met" -> met)
    }
    parts.foreach(_.unpersist())
  }

  private def digits(accuracy: Double): Long = math.round(accuracy * 1000.0)

  private def accuracy(model: Model[_], data: DataFrame): Double =
    new MulticlassClassificationEvaluator().setMetricName("accuracy").evaluate(model.transform(data))
}
