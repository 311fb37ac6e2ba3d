package dwell.bench

import scala.util.Random

import org.apache.spark.ml.feature.{CountVectorizer, IDF, NGram, Normalizer, RegexTokenizer, StopWordsRemover, StringIndexer}
import org.apache.spark.ml.linalg.{Vector, Vectors}
import org.apache.spark.sql.{DataFrame, SparkSession}
import org.apache.spark.sql.functions.{col, concat, log1p, when}

/** The data of the benchmarks, all cached: columns `label` and `features`. */
private[bench] object BenchData {

  /** Source partitions of the generated data: two for each slot. */
  private val Parts = 4

  /** The vocabularies are kept whole. */
  private val MostWords = 1 << 21

  /** A word has to occur in so many packages before topics are found by it. */
  private val LeastPackages = 5.0

  /**
   * Words of the distribution's package descriptions, tf-idf, against log(1 + installed size).
   *
   * @param share
   *   of the packages
   */
  def packages(spark: SparkSession, path: String, share: Double = 1.0): DataFrame = {
    val words = tokenized(descriptions(spark, path, share).withColumn("label", log1p(col("size"))))
    cached(weighted(words, "words"))
  }

  /**
   * Libraries (1) against all other packages (0): words and pairs of words of the descriptions, tf-idf, rows of unit norm.
   * The classification of bench/python/one_thread.py.
   *
   * @param share
   *   of the packages
   */
  def libraries(spark: SparkSession, path: String, share: Double = 1.0): DataFrame = {
    val isLibrary = col("section").rlike("(^|/)(libs|libdevel)$")
    val words = tokenized(descriptions(spark, path, share).withColumn("label", when(isLibrary, 1.0).otherwise(0.0)))
    val pairs = new NGram().setN(2).setInputCol("words").setOutputCol("pairs").transform(words)
    cached(unitRows(weighted(pairs.withColumn("terms", concat(col("words"), col("pairs"))), "terms")))
  }

  /**
   * The section of each package, classes in order of size: words of the descriptions, tf-idf, rows of unit norm.
   *
   * @param share
   *   of the packages
   */
  def sections(spark: SparkSession, path: String, share: Double): DataFrame = {
    val rows = descriptions(spark, path, share)
    val labeled = new StringIndexer().setInputCol("section").setOutputCol("label").fit(rows).transform(rows)
    cached(unitRows(weighted(tokenized(labeled), "words")))
  }

  /**
   * How often each word is in the description of each package that has any of them: column `features`, not cached. Without
   * words that every text has, and without those of few packages.
   *
   * @param share
   *   of the packages
   */
  def counts(spark: SparkSession, path: String, share: Double): DataFrame = {
    val words = tokenized(descriptions(spark, path, share))
    val telling = new StopWordsRemover().setInputCol("words").setOutputCol("telling").transform(words)
    val counter = new CountVectorizer().setInputCol("telling").setOutputCol("features").setMinDF(LeastPackages)
    val counts = counter.setVocabSize(MostWords).fit(telling).transform(telling).select("features")
    counts.filter(row => row.getAs[Vector](0).numNonzeros > 0)
  }

  private def unitRows(rows: DataFrame): DataFrame =
    new Normalizer()
      .setInputCol("weights")
      .setOutputCol("features")
      .transform(rows.withColumnRenamed("features", "weights"))
      .select("label", "features")

  private def descriptions(spark: SparkSession, path: String, share: Double): DataFrame = {
    val all = spark.read
      .option("sep", "\t")
      .option("quote", "")
      .schema("package string, section string, size double, text string")
      .csv(path)
      .na
      .drop()
    if (share < 1.0) all.sample(share, seed = 1L) else all
  }

  private def tokenized(rows: DataFrame): DataFrame =
    new RegexTokenizer().setInputCol("text").setOutputCol("words").setPattern("[^a-z0-9+]+").transform(rows)

  private def weighted(rows: DataFrame, terms: String): DataFrame = {
    val counter = new CountVectorizer().setInputCol(terms).setOutputCol("counts").setVocabSize(MostWords)
    val counts = counter.fit(rows).transform(rows)
    val idf = new IDF().setInputCol("counts").setOutputCol("features")
    idf.fit(counts).transform(counts).select("label", "features")
  }

  /**
   * Rows shaped like news20's: 429 nonzeros a row (log-normal lengths), feature popularity Zipf (1.02, 20), positive
   * values, rows of unit norm, and a planted model on 5% of the features with 30% noise.
   *
   * @param scale
   *   1 is 20,000 rows x 1,355,191 features
   */
  def wide(spark: SparkSession, scale: Double, seed: Long): DataFrame = {
    val numRows = (20000 * scale).toInt
    val numFeatures = (1355191 * scale).toInt
    val rows = spark.sparkContext.parallelize(0 until Parts, Parts).flatMap { part =>
      val popularity = new Zipf(numFeatures, 1.02, 20.0)
      (part until numRows by Parts).iterator.map { j =>
        val random = new Random(SeedMix * (seed + 1) + j)
        val length = math.max(5, (429 * math.exp(0.8 * random.nextGaussian() - 0.32)).toInt)
        val ids = Array.fill(length)(popularity.sample(random)).distinct.sorted
        val values = ids.map(i => math.exp(0.7 * random.nextGaussian()) * math.log1p(1.0 / popularity.probability(i)))
        val norm = math.sqrt(values.map(v => v * v).sum)
        val unit = values.map(v => (v / norm).toFloat.toDouble)
        val planted = ids.indices.map(k => unit(k) * plantedWeight(ids(k), seed)).sum
        (10.0 * planted + 0.3 * random.nextGaussian(), Vectors.sparse(numFeatures, ids, unit))
      }
    }
    cached(spark.createDataFrame(rows).toDF("label", "features"))
  }

  private val SeedMix = 0x9e3779b97f4a7c15L

  private[bench] def plantedWeight(feature: Int, seed: Long): Double = {
    val random = new Random(seed * 31 + feature * SeedMix)
    if (random.nextDouble() < 0.05) random.nextGaussian() else 0.0
  }

  /** P(i) proportional to 1 / (i + 1 + shift)^exponent. */
  private[bench] final class Zipf(n: Int, exponent: Double, shift: Double) {
    private val cumulative = {
      val c = new Array[Double](n)
      var sum = 0.0
      var i = 0
      while (i < n) {
        sum += math.pow(i + 1 + shift, -exponent)
        c(i) = sum
        i += 1
      }
      c
    }
    def sample(random: Random): Int = {
      val at = java.util.Arrays.binarySearch(cumulative, random.nextDouble() * cumulative(n - 1))
      math.min(n - 1, if (at < 0) -at - 1 else at)
    }
    def probability(i: Int): Double = math.pow(i + 1 + shift, -exponent) / cumulative(n - 1)
  }

  /** The least L1 penalty of the squared loss, not standardised, that leaves no coefficient but the intercept. */
  def largestL1(data: DataFrame): Double = {
    val rows = data.select("label", "features").rdd.map(r => (r.getDouble(0), r.getAs[Vector](1)))
    val mean = rows.map(_._1).mean()
    val correlations = rows
      .treeAggregate(new Array[Double](rows.first()._2.size))(
        { case (sums, (label, features)) =>
          features.foreachActive((i, x) => sums(i) += x * (label - mean))
          sums
        },
        (one, other) => {
          one.indices.foreach(i => one(i) += other(i))
          one
        })
    correlations.map(math.abs(_)).max / rows.count()
  }

  /** Above the median of the label, or not. */
  def twoClasses(data: DataFrame): DataFrame = {
    val Array(median) = data.stat.approxQuantile("label", Array(0.5), 0.001)
    cached(data.withColumn("label", when(col("label") > median, 1.0).otherwise(0.0)))
  }

  private[bench] def cached(data: DataFrame): DataFrame = {
    val c = data.cache()
    c.count()
    c
  }
}
