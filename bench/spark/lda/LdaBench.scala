package dwell.bench.lda

import java.nio.file.{Files, Path}

import scala.concurrent.duration.FiniteDuration

import dwell.bench.Bench
import dwell.bench.sgd.SgdProgram

/**
 * LDA by model averaging beside Spark's online LDA and programs on one node, as in tables 2 and 5 and figure 6 of Guo et al. 2021:
 * perplexity against CPU seconds, seconds and rounds of communication. All systems run one after the other on the same documents,
 * with the same priors. [[DocumentCompletion]] judges all topics, outside the seconds that are compared. Each repetition has its own
 * seed, the same for all systems.
 *
 * The same kernels without averaging show the gain of averaging. By the averaging identity one step of each worker between two
 * averages is one step on the documents of all workers. So fits with one step a round, whose updates go through the driver, do
 * what MLlib does, with these kernels: they sum the sufficient statistics of a mini-batch. (The mini-batch has 1000 documents with
 * Spark's step sizes, and 16000 with those of the averages beside it.) An iteration is a round, unless workers would drift apart
 * in it; with the offset of 256 they do not within 16000 documents. [[LdaTables]] lists the tables.
 *
 * Seconds of Dwell and Spark are those of whole fits, from a cached DataFrame, and CPU seconds those of driver and executors,
 * compilers and garbage collectors included. Those of programs begin with the documents in their own form, and are of all their
 * processes; they have one core, and Spark has two.
 *
 * Arguments after those of [[Bench]]: [[LdaArguments]].
 */
object LdaBench {

  /** Documents of a mini-batch. */
  private val Batch = 1000
  private val LongBatch = 4000

  /** Documents of a worker's step. Without a choice it has 500 of them, with two workers. */
  private val LocalBatches = Seq(125, 2000, 8000)

  /** Documents that Spark visits, and others. */
  private val SparkDocuments = 30000
  private val Visits = Seq(4000, 8000, 16000, 24000, 32000, 64000)

  /** Of all documents, for Gibbs sampling. */
  private val Sweeps = Seq(5, 10, 20, 30, 40, 80)

  /** Iterations of systems on Spark that warm up. */
  private val WarmUp = 3

  private val OneWorker = "Dwell, one worker"
  private val OneStep = "Dwell, one step a round of"
  private val LongRound = 16000
  private val Gibbs = "tomotopy"

  /** How many times as much a peer has to need, or to have. */
  private final case class Goal(measure: String, least: Double)

  private val Cpu = "CPU seconds"
  private val Seconds = "seconds"
  private val Rounds = "rounds"
  private val Throughput = "documents a CPU second"
  private val Perplexity = "perplexity"

  /** The goals, by the peer. */
  private val Goals = Map(
    s"Spark online, batch $Batch" -> Seq(
      Goal(Cpu, 30.0),
      Goal(Seconds, 15.0),
      Goal(Rounds, 7.0),
      Goal(Throughput, 30.0)),
    s"Spark online, batch $LongBatch" -> Seq(Goal(Throughput, 20.0)),
    "gensim LdaModel" -> Seq(Goal(Cpu, 1.0), Goal(Throughput, 15.0)),
    "gensim LdaMulticore" -> Seq(Goal(Cpu, 1.0), Goal(Throughput, 30.0)),
    "scikit-learn" -> Seq(Goal(Cpu, 1.0), Goal(Throughput, 15.0)),
    "Vowpal Wabbit" -> Seq(Goal(Cpu, 1.0), Goal(Throughput, 8.0)),
    Gibbs -> Seq(Goal(Cpu, 1.0)),
    OneWorker -> Seq(Goal(Perplexity, 1.0)),
    s"$OneStep $LongRound" -> Seq(Goal(Perplexity, 1.0)))

  def main(args: Array[String]): Unit = {
    val (own, others) = args.splitAt(Bench.Arguments)
    val asked = new LdaArguments(others.toSeq)
    Bench.run("LDA bench", own) { bench =>
      val tiny = bench.documents(LdaShape.Tiny)
      asked.corpora.flatMap(bench.documents).foreach { corpus =>
        val files = Files.createTempDirectory("dwell-lda-rows")
        try {
          println(s"\n== ${corpus.about}")
          LdaProgram.write(corpus, files)
          asked.topics.foreach { k =>
            onSpark(tiny, k, WarmUp).filter(s => asked.wants(s.name)).foreach(_.run(bench.seed))
            val systems =
              onSpark(corpus, k, Int.MaxValue) ++ asked.python.toSeq.flatMap(programs(corpus, k, _, files, asked.limit))
            compare(bench, corpus, k, systems.filter(s => asked.wants(s.name)))
          }
        } finally {
          SgdProgram.delete(files)
          corpus.unpersist()
        }
      }
    }
  }

  /** @param most iterations */
  private def onSpark(corpus: LdaCorpus, k: Int, most: Int): Seq[LdaSystem] = {
    def dwell(name: String, documents: Int, averages: Boolean, params: Seq[(String, Any)]) = {
      val checkpoints = Visits.filter(_ >= documents).map(_ / documents)
      new DwellLda(name, corpus, k, documents, averages, params, checkpoints.map(math.min(_, most)).distinct)
    }
    def averaging(name: String, documents: Int, params: (String, Any)*) =
      dwell(s"Dwell, $name", documents, averages = true, params)
    def oneStep(documents: Int, params: Seq[(String, Any)]) =
      dwell(
        s"$OneStep $documents",
        documents,
        averages = false,
        // More than a worker has in a round: it takes all that it has.
        params ++ Seq("localBatch" -> documents, "aggregation" -> "driver"))
    def spark(batch: Int) = {
      val batches = SparkDocuments / batch
      val checkpoints = Visits.filter(_ < SparkDocuments).map(_ / batch) :+ batches
      new SparkOnlineLda(corpus, k, batch, checkpoints.map(math.min(_, most)).distinct)
    }
    val longOffset = Seq("learningOffset" -> 256.0)
    Seq(
      averaging(s"rounds of $LongRound", LongRound),
      averaging("rounds of 8000", 8000),
      averaging("rounds of 4000", 4000),
      averaging(s"offset 256, rounds of $LongRound", LongRound, longOffset: _*),
      averaging(s"mean, rounds of $LongRound", LongRound, "topicEstimate" -> "mean")) ++ LocalBatches.map(n =>
      averaging(s"local batches of $n", LongRound, "localBatch" -> n)) ++ Seq(
      dwell("Dwell, Params of Spark", Batch, averages = false, LdaProblems.Sequential),
      dwell(OneWorker, Batch, averages = false, LdaProblems.Sequential :+ ("numWorkers" -> 1)),
      oneStep(Batch, LdaProblems.Sequential),
      oneStep(LongRound, longOffset),
      spark(Batch),
      spark(LongBatch))
  }

  private def programs(
      corpus: LdaCorpus,
      k: Int,
      command: Seq[String],
      files: Path,
      limit: FiniteDuration): Seq[LdaSystem] = {
    val pass = Visits.map(math.min(_, corpus.size)).distinct
    def program(name: String, short: String, checkpoints: Seq[Long]) =
      new LdaProgram(name, corpus, k, command :+ short, files, checkpoints, limit)
    Seq(
      program("gensim LdaModel", "gensim", pass),
      program("gensim LdaMulticore", "multicore", pass.takeRight(1)),
      program("scikit-learn", "sklearn", pass),
      program("Vowpal Wabbit", "vw", pass),
      program(Gibbs, "tomotopy", Sweeps.map(_ * corpus.size)))
  }

  private def compare(bench: Bench, corpus: LdaCorpus, k: Int, systems: Seq[LdaSystem]): Unit =
    for (seed <- bench.seed until bench.seed + bench.repetitions) {
      println(s"\n-- ${corpus.name}, $k topics, seed $seed")
      val about = Seq(
        "corpus" -> corpus.name,
        "documents" -> corpus.size,
        "vocabulary" -> corpus.vocabulary,
        "words" -> corpus.words,
        "nonzeros" -> corpus.nonzeros,
        "oracle" -> corpus.oracle,
        "topics" -> k,
        "seed" -> seed)
      val histories = systems.flatMap { system =>
        val found = bench.unlessEndless(system.name, about)(LdaHistory.of(system, seed, corpus.completion))
        found.foreach { history =>
          println(history.describe)
          bench.add(about ++ history.results: _*)
        }
        found
      }
      for {
        peer <- histories
        dwell <- histories
        if dwell.system.startsWith("Dwell") && !dwell.system.startsWith(OneStep) && dwell != peer
        goal <- Goals.getOrElse(peer.system, Seq.empty)
      } reach(bench, about, peer, dwell, goal)
      if (histories.nonEmpty) {
        LdaTables.add(bench, about, histories, histories.filter(h => h.exchange.nonEmpty && Goals.contains(h.system)))
      }
    }

  /** How much the peer needs to get to where Dwell gets, too. */
  private def reach(bench: Bench, about: Seq[(String, Any)], peer: LdaHistory, dwell: LdaHistory, goal: Goal): Unit = {
    // Gibbs sampling goes on to where variational inference does not come.
    val target = if (peer.system == Gibbs) math.max(peer.best, dwell.best) else peer.perplexities.last
    def needed(number: LdaCheckpoint => Double) =
      for (theirs <- peer.first(target); ours <- dwell.first(target)) yield (number(theirs), number(ours))
    val numbers = goal.measure match {
      case Cpu => needed(_.spent.cpu)
      case Seconds => needed(_.spent.seconds)
      case Rounds => needed(_.rounds.get.toDouble)
      // What is more is better: of Dwell's, then.
      case Throughput => Some((dwell.documentsACpuSecond, peer.documentsACpuSecond))
      case Perplexity => Some((peer.perplexities.last, dwell.perplexities.last))
    }
    val ratio = numbers.map { case (more, less) => more / less }
    val met = ratio.exists(_ >= goal.least)
    println(
      f"goal ${if (met) "met   " else "MISSED"} ${dwell.system} beside ${peer.system}, ${goal.measure}: " +
        ratio.fold(f"perplexity $target%.1f not reached")(r => f"$r%.2f times (goal ${goal.least}%.0f)"))
    bench.add(
      about ++ Seq(
        "measure" -> goal.measure,
        "peer" -> peer.system,
        "system" -> dwell.system,
        "target" -> target,
        "numbers" -> numbers.map { case (more, less) => Seq(more, less) },
        "ratio" -> ratio,
        "goal" -> goal.least,
        "met" -> met): _*)
  }
}
