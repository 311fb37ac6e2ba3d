package dwell.bench.sgd

import scala.util.Random

import org.apache.spark.ml.classification.{MultilayerPerceptronClassificationModel, MultilayerPerceptronClassifier => SparkMultilayerPerceptronClassifier}
import org.apache.spark.ml.evaluation.MulticlassClassificationEvaluator
import org.apache.spark.ml.linalg.Vectors
import org.apache.spark.sql.DataFrame

import dwell.bench.{Bench, NamedArguments}
import dwell.ml.classification.MultilayerPerceptronClassifier
import dwell.report.FitReport

/**
 * Networks on generated images of the shape of MNIST (60,000 x 784, 10 classes), beside Spark's l-bfgs: seconds of whole
 * fits in turn, accuracy on a sixth as many images that are held out, and images a second over all passes.
 *
 * An image is one of the drafts of its class, three tenths of whose pixels are elsewhere. Strokes cover about a fifth
 * of a draft, and grey values are random. A class has several drafts, so that no plane parts the classes.
 *
 * Arguments after those of [[Bench]]: `layers=784-10,784-100-10`, `systems=Dwell` (beginnings of names), see
 * [[NamedArguments]].
 */
object NetworkBench {

  private val Images = 60000
  private val Side = 28
  private val Classes = 10
  private val Drafts = 60

  /** Pixels of a stroke, and strokes of a draft. */
  private val StrokeLength = 9
  private val Strokes = 18

  /** The share of a draft's pixels that an image has elsewhere. */
  private val Moved = 0.3

  private val Parts = 4

  /** The layers of the paper's comparison of systems, features and classes included. */
  private val Shapes = Seq("784-10", "784-100-10", "784-300-100-10")

  private final case class System(name: String, isOurs: Boolean, params: Seq[(String, Any)])

  private val Systems = Seq(
    System("Dwell ma-sgd", isOurs = true, Seq("algorithm" -> "ma-sgd", "blockSize" -> 32, "maxIter" -> 10)),
    System("Dwell l-bfgs", isOurs = true, Seq("maxIter" -> 50)),
    System("Spark l-bfgs", isOurs = false, Seq("maxIter" -> 50)))

  def main(args: Array[String]): Unit = {
    val (own, others) = args.splitAt(Bench.Arguments)
    val asked = new NamedArguments(others.toSeq)
    Bench.run("network bench", own) { bench =>
      val rows = (Images * bench.scale).toInt
      val train = images(bench, 0, rows)
      val heldOut = images(bench, rows, rows + rows / 6)
      val systems = Systems.filter(s => asked.wants(s.name))
      println(s"${Bench.shape(train)}, ${heldOut.count()} held out")
      asked.chosen("layers", Shapes)(identity).foreach(layers => compare(bench, layers, train, heldOut, systems))
    }
  }

  private def compare(
      bench: Bench,
      layers: String,
      train: DataFrame,
      heldOut: DataFrame,
      systems: Seq[System]): Unit = {
    val units = layers.split('-').map(_.toInt)
    def fit(system: System, data: DataFrame) = Bench.timed {
      val estimator =
        if (system.isOurs) new MultilayerPerceptronClassifier() else new SparkMultilayerPerceptronClassifier()
      val params = Seq("layers" -> units, "seed" -> bench.seed, "tol" -> 0.0) ++ system.params
      Bench.fit(estimator, data, params: _*).asInstanceOf[MultilayerPerceptronClassificationModel]
    }
    // Compilers are warm for all of them.
    val some = train.limit(2000).cache()
    systems.foreach(fit(_, some))
    some.unpersist()
    val runs = (1 to bench.repetitions).map(_ => systems.map(fit(_, train)))
    val rows = train.count()
    systems.zipWithIndex.foreach { case (system, k) =>
      val model = runs.last(k).result
      val report = FitReport.find(model)
      report.foreach(r => require(r.solver == "native", r.toText))
      val accuracy =
        new MulticlassClassificationEvaluator().setMetricName("accuracy").evaluate(model.transform(heldOut))
      val seconds = runs.map(_(k).seconds)
      val rounds = report.fold(model.summary.objectiveHistory.length - 1)(_.rounds.last.round)
      println(
        f"$layers%-15s ${system.name}%-13s $rounds%d rounds, median ${Bench.median(seconds)}%.2f s, held-out accuracy $accuracy%.4f")
      bench.add(
        "layers" -> layers,
        "rows" -> rows,
        "system" -> system.name,
        "rounds" -> rounds,
        "seconds" -> seconds,
        "accuracy" -> accuracy)
    }
  }

  private def images(bench: Bench, from: Int, until: Int): DataFrame = {
    val seed = bench.seed
    val rows = bench.spark.sparkContext.parallelize(from until until, Parts).mapPartitions { numbers =>
      val drafts = Array.tabulate(Classes, Drafts)((c, d) => draft(new Random(seed * 1000003L + c * Drafts + d)))
      numbers.map(image(drafts, seed, _))
    }
    val frame = bench.spark.createDataFrame(rows).toDF("label", "features").cache()
    frame.count()
    frame
  }

  private def image(drafts: Array[Array[Set[Int]]], seed: Long, number: Int) = {
    val random = new Random(seed * 7919L + number)
    // The first numbers of nearby seeds are alike.
    (0 until 10).foreach(_ => random.nextInt())
    val label = random.nextInt(Classes)
    val pixels = drafts(label)(random.nextInt(Drafts)).map { pixel =>
      if (random.nextDouble() < Moved) random.nextInt(Side * Side) else pixel
    }
    (label.toDouble, Vectors.sparse(Side * Side, pixels.toSeq.map(_ -> (0.3 + 0.7 * random.nextDouble()))))
  }

  /** The pixels of some strokes, each a walk. */
  private def draft(random: Random): Set[Int] =
    Seq
      .fill(Strokes) {
        val (x, y) = (random.nextInt(Side), random.nextInt(Side))
        val (dx, dy) = (random.nextDouble() * 2.0 - 1.0, random.nextDouble() * 2.0 - 1.0)
        (0 until StrokeLength).map { k =>
          val (column, row) = ((x + dx * k).toInt, (y + dy * k).toInt)
          math.floorMod(row, Side) * Side + math.floorMod(column, Side)
        }
      }
      .flatten
      .toSet
}
