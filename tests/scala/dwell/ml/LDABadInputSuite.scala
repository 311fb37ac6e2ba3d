package dwell.ml

import org.apache.spark.ml.clustering.{LDA => SparkLDA, LDAModel}
import org.apache.spark.ml.linalg.{Vector, Vectors}
import org.apache.spark.sql.DataFrame

import dwell.{Logged, SparkSuite}
import dwell.ml.clustering.LDA
import dwell.report.FitReport
import dwell.solver.lda.worker.LdaSchedule

/** Odd or wrong documents and Params of LDA: Spark's answer where Spark has a rule, else an exception that names the
 * fix. */
class LDABadInputSuite extends SparkSuite {

  private val Vocabulary = 4
  private val Topics = 3
  private val Iterations = 3
  private val Tau0 = 10.0
  private val Kappa = 0.7

  /** Rounding of `f32`, in sums of a few dozen numbers. */
  private val Single = 1e-5

  /** Twelve documents of seven words each. */
  private val good: Seq[Vector] =
    Seq
      .tabulate(12)(i =>
        Vectors.dense(Array.tabulate(Vocabulary)(j => Seq(4.0, 0.0, 2.0, 1.0)((i + j * (1 + i % 2)) % 4))))
      .map(v => Vectors.dense(v.toArray.updated(0, 7.0 - v.toArray.tail.sum)))

  private def frame(vectors: Seq[Vector]): DataFrame =
    spark.createDataFrame(vectors.map(Tuple1(_))).toDF("words").coalesce(1)

  private def set(lda: SparkLDA): SparkLDA = lda
    .setFeaturesCol("words")
    .setK(Topics)
    .setMaxIter(Iterations)
    .setSubsamplingRate(0.5)
    .setLearningOffset(Tau0)
    .setLearningDecay(Kappa)
    .setSeed(1L)

  /** One step of one worker in each iteration. */
  private def estimator: LDA = {
    val lda = new LDA().setNumWorkers(1)
    set(lda)
    lda
  }

  private def rejected(lda: SparkLDA, data: DataFrame, expected: String*): Unit = {
    val said = messages(intercept[Exception](lda.fit(data)))
    expected.foreach(text => assert(said.contains(text), said))
  }

  /** Spark's estimator refuses the data, and Dwell's with the same words. */
  private def asSpark(data: DataFrame, expected: String*)(change: SparkLDA => Any): Unit =
    Seq(set(new SparkLDA), estimator).foreach { lda =>
      val said = messages(intercept[Exception] { change(lda); lda.fit(data) })
      expected.foreach(text => assert(said.contains(text), said))
    }

  private def topics(model: LDAModel): Seq[Double] = model.topicsMatrix.toArray.toSeq

  /** Checks the sum of lambda for documents with this sum of counts each: lambda contains all counts, whatever the
   * topics are. */
  private def assertMass(lda: LDA, vectors: Seq[Vector], counts: Double): Unit = {
    val model = lda.fit(frame(vectors))
    val nobody = lda.copy(org.apache.spark.ml.param.ParamMap(lda.maxIter -> 0)).fit(frame(vectors))
    val documents = vectors.count(_.numNonzeros > 0)
    val each = math.ceil(0.5 * documents)
    val schedule = LdaSchedule(Tau0, Kappa, base = each)
    val kept = (0 until Iterations).map(t => 1.0 - schedule.rho(t * each)).product
    // Both sums contain the prior, 1/K.
    val expected = kept * topics(nobody).sum + (1.0 - kept) * (documents * counts + nobody.vocabSize)
    assert(math.abs(topics(model).sum / expected - 1.0) < Single, s"${topics(model).sum}, expected $expected")
    assert(topics(model).forall(_ > 0.0) && FitReport.of(model).solver == "native")
    assert((model.vocabSize, model.topicsMatrix.numCols) == ((vectors.head.size, lda.getK)))
  }

  test("what is no count is refused, with its column, row and fix") {
    // Spark has no rule here: its inference may never end.
    for ((count, what) <- Seq(-2.0 -> "count -2.0", 1e10 -> "count 1.0E10", 1e-7 -> "count 1.0E-7"))
      rejected(
        estimator,
        frame(good :+ Vectors.dense(1.0, count, 0.0, 0.0)),
        "'words', row 12 of partition 0",
        s"$what at index 1",
        "CountVectorizer")
    for (count <- Seq(Double.NaN, Double.PositiveInfinity, Double.NegativeInfinity))
      rejected(
        estimator,
        frame(good :+ Vectors.sparse(Vocabulary, Seq((1, count)))),
        "'words', row 12 of partition 0",
        s"value $count at index 1",
        "must be finite")
  }

  test("vectors of unequal length, and rows without one") {
    for (length <- Seq(3, 5))
      rejected(
        estimator,
        frame(good :+ Vectors.dense(Array.fill(length)(1.0))),
        "'words', row 12 of partition 0",
        s"a vector of length $length where 4 was expected",
        "assemble them with the same stage")
    rejected(estimator, frame(good :+ null), "'words', row 12 of partition 0", "the vector is null", "na.drop")
    rejected(estimator, frame(null +: good), "'words'", "the first one has no vector", "na.drop")
  }

  test("nothing to train on") {
    rejected(estimator, frame(good).filter("false"), "'words'", "There are no rows to train on")
  }

  test("documents of which none has a word, or no words to have: Spark's model after one WARN") {
    for (empty <- Seq(Vectors.sparse(Vocabulary, Seq.empty), Vectors.dense(Array.emptyDoubleArray))) {
      val data = frame(Seq.fill(3)(empty))
      val (model, warnings) = Logged.warnings(estimator.fit(data))
      assert(topics(model) == topics(set(new SparkLDA).fit(data)))
      assert(FitReport.of(model).reason.exists(_.contains("has a word")))
      assert(warnings.count(_.contains("no document of column 'words' has a word")) == 1, warnings)
    }
  }

  test("Spark's own answers to Params and columns") {
    val data = frame(good)
    asSpark(data, "parameter k given invalid value 1")(_.setK(1))
    asSpark(data, "docConcentration was of length 2, but k = 3")(_.setDocConcentration(Array(0.1, 0.2)))
    asSpark(data, "docConcentration given invalid value")(_.setDocConcentration(Array(0.1, -0.2, 0.3)))
    asSpark(data, "topicConcentration given invalid value")(_.setTopicConcentration(-0.5))
    asSpark(data, "subsamplingRate given invalid value")(_.setSubsamplingRate(1.5))
    asSpark(data, "learningOffset given invalid value")(_.setLearningOffset(0.0))
    asSpark(data.selectExpr("'words' as words"), "words must be of type", "type string")(identity)
    asSpark(data, "nothing")(_.setFeaturesCol("nothing"))
  }

  test("counts need not be whole numbers") {
    assertMass(estimator, good, 7.0)
    assertMass(estimator, good.map(v => Vectors.dense(v.toArray.map(_ * 0.3))), 2.1)
    // Counts with more digits than single precision holds.
    assertMass(estimator, good.map(v => Vectors.dense(v.toArray.map(_ / 7.0))), 1.0)
  }

  test("documents without words and explicit zeros change nothing") {
    val expected = topics(estimator.fit(frame(good)))
    val empty = Vectors.sparse(Vocabulary, Seq.empty)
    val blank = Vectors.sparse(Vocabulary, Array(0, 3), Array(0.0, -0.0))
    val among = estimator.fit(frame(good.flatMap(v => Seq(empty, v, blank))))
    assert(topics(among) == expected && FitReport.of(among).numRows == good.size)
    val explicit = good.map(v => Vectors.sparse(Vocabulary, v.toArray.indices.toArray, v.toArray))
    assert(topics(estimator.fit(frame(explicit))) == expected)
  }

  test("arrays are vectors, as in Spark") {
    val expected = topics(estimator.fit(frame(good)))
    val doubles = spark.createDataFrame(good.map(v => Tuple1(v.toArray))).toDF("words").coalesce(1)
    val singles = spark.createDataFrame(good.map(v => Tuple1(v.toArray.map(_.toFloat)))).toDF("words").coalesce(1)
    Seq(doubles, singles).foreach(data => assert(topics(estimator.fit(data)) == expected))
  }

  test("a vocabulary of one word, and more topics than words and documents") {
    val one = Seq.fill(5)(Vectors.dense(3.0))
    assertMass(estimator, one, 3.0)
    val many = estimator
    many.setK(40)
    assertMass(many, good, 7.0)
    assertMass(estimator, good.take(1), 7.0)
  }

  test("more workers than documents") {
    val data = frame(good.take(3))
    val model = estimator.setNumWorkers(7).fit(data)
    assert(FitReport.of(model).numPartitions == 7 && topics(model).forall(x => x > 0.0 && !x.isInfinite))
    assert(model.logPerplexity(data) > 0.0)
  }

  test("more topics of more words than an array holds") {
    val words = 60 * 1000 * 1000
    val data = frame(good.map(v => Vectors.sparse(words, Array(0, words - 1), Array(1.0, 2.0))))
    val lda = estimator
    lda.setK(10)
    val before = sc.getPersistentRDDs.size
    val e = intercept[IllegalArgumentException](lda.fit(data))
    assert(e.getMessage.startsWith(s"k = 10 topics of the $words words of column 'words' take "), e.getMessage)
    assert(e.getMessage.contains("more than an array holds. Lower k") && sc.getPersistentRDDs.size == before)
  }

  test("topics that the driver has no memory for") {
    def limit(k: Int): Option[String] =
      LDA.limit(vocabulary = 1000000, k, maxResultBytes = 1L << 30, heap = 1L << 30)._2
    assert(limit(89).isEmpty && limit(90).exists(_.contains("spark.driver.memory")))
    assert(limit(268).exists(_.contains("heap")) && limit(269).exists(_.contains("spark.driver.maxResultSize")))
  }
}
