package dwell.data

import java.util.concurrent.{Callable, Executors}

import scala.jdk.CollectionConverters._
import scala.util.Random

import org.apache.spark.{LocalDirectories, ShuffleDependency, SparkContext}
import org.apache.spark.ml.linalg.Vectors
import org.apache.spark.rdd.RDD

import dwell.SparkSuite
import dwell.data.block.LabeledRow
import dwell.data.columns.ColumnDataset
import dwell.data.rows.RowForm
import dwell.problem.Labels

/** The datasets that fits make of the same rows, and their release. */
class TrainingRowsSuite extends Reading {

  private val form = RowForm(1.0, intercept = true, labels = Labels.Signed)

  private def training(seed: Int = 1, sc: SparkContext = this.sc): TrainingRows = {
    val rows = TestData.random(seed, 60, 8, 0.5).map(r => r.copy(label = if (r.label > 0.0) 1.0 else 0.0))
    read(sc.parallelize(rows, 3), 8)
  }

  /** Names of the RDDs that `body` leaves cached. */
  private def cached(body: => Any): Seq[String] = {
    val before = sc.getPersistentRDDs.keySet
    body
    sc.getPersistentRDDs.filterNot { case (id, _) => before.contains(id) }.values.map(_.name).toSeq.sorted
  }

  /** The shuffles on which an RDD depends. */
  private def shuffles(rdd: RDD[_]): Set[Int] = rdd.dependencies.flatMap {
    case d: ShuffleDependency[_, _, _] => shuffles(d.rdd) + d.shuffleId
    case d => shuffles(d.rdd)
  }.toSet

  test("a dataset is made once for each number of workers and form") {
    using(training()) { rows =>
      val columns = rows.columns(2)
      val byRow = rows.scaled(2, form)
      assert((rows.columns(2) eq columns) && (rows.scaled(2, form.copy()) eq byRow))
      assert((rows.columns(0) eq rows.columns(1)) && (rows.scaled(0, form) eq rows.scaled(1, form)), "0 chooses 1 here")
      assert((rows.columns(3) ne columns) && (rows.scaled(3, form) ne byRow))
      val other = rows.scaled(2, form.copy(scaleFactor = 0.0, intercept = false))
      assert((other ne byRow) && (other.blocks eq byRow.blocks), "another form of the same blocks")
    }
  }

  test("threads that ask at once get the same dataset") {
    val rows = training()
    val threads = Executors.newFixedThreadPool(4)
    try {
      def together[T](ask: => T): Seq[T] =
        threads.invokeAll(Seq.fill(4)(new Callable[T] { def call(): T = ask }).asJava).asScala.map(_.get).toSeq
      assert(cached {
        assert(together(rows.columns(2)).distinct.size == 1)
        assert(together(rows.scaled(2, form)).distinct.size == 1)
      } == Seq("test: columns", "test: rows dealt"))
    } finally {
      threads.shutdown()
      rows.unpersist()
    }
  }

  test("once a dataset holds the rows, the rows as read are in memory still, where there is plenty") {
    for (make <- Seq[TrainingRows => Any](_.columns(2), _.scaled(2, form))) using(training()) { rows =>
      make(rows)
      val info = sc.getRDDStorageInfo.filter(_.name.startsWith("test: rows as ")).toSeq
      assert(info.map(_.name) == Seq("test: rows as read"))
      assert(info.head.numCachedPartitions == 3 && info.head.memSize > 0L && info.head.diskSize == 0L)
    }
  }

  test("once a dataset holds the rows, the rows as read are on disk where memory is short, also for another dataset") {
    for (make <- Seq[TrainingRows => Any](_.columns(2), _.scaled(2, form))) SparkSuite.withMemory(2, 20000000L) {
      session =>
        val sc = session.sparkContext
        val rows = training(sc = sc)
        // Another dataset takes more than a half.
        val other = sc.range(0L, 1L, 1L, 1).map(_ => new Array[Byte](11000000)).cache()
        assert(other.count() == 1L)
        try {
          make(rows)
          val kept = sc.getPersistentRDDs.values.map(_.name).toSeq
          assert(kept.contains("test: rows on disk") && !kept.contains("test: rows as read"))
          assert(rows.columns(3).nonzeros == rows.columns(1).nonzeros)
          val onDisk = sc.getRDDStorageInfo.find(_.name == "test: rows on disk").get
          assert(onDisk.numCachedPartitions == 3 && onDisk.memSize == 0L && onDisk.diskSize > 0L)
        } finally rows.unpersist()
    }
  }

  test("a dataset is there although the rows as read cannot move to a disk that is full") {
    SparkSuite.withMemory(2, 20000000L) { session =>
      val sc = session.sparkContext
      val rows = training(sc = sc)
      val other = sc.range(0L, 1L, 1L, 1).map(_ => new Array[Byte](11000000)).cache()
      assert(other.count() == 1L)
      LocalDirectories.occupy(sc)
      try {
        val data = rows.scaled(2, form)
        assert(data.partitions.collect().map(_.coordinates.toLong).sum == rows.numRows)
        val kept = sc.getPersistentRDDs.values.map(_.name).toSeq
        assert(kept.contains("test: rows as read") && !kept.contains("test: rows on disk"), kept.toString)
      } finally rows.unpersist()
    }
  }

  test("no shuffle brings columns to one worker, which are those of several") {
    using(training()) { rows =>
      val columns = rows.columns(1)
      def byColumn(data: ColumnDataset) = {
        val partitions = data.partitions.collect().toSeq
        partitions.flatMap { p =>
          p.columns.indices.map(c => p.columns(c) -> ((TestData.stored(p, c), p.mean(c), p.variance(c))))
        }.toMap -> partitions.flatMap(_.labels)
      }
      val expected = byColumn(rows.columns(2))
      assert(byColumn(columns) == expected && shuffles(columns.partitions).isEmpty)
      assert(columns.forBarrier.barrier().mapPartitions(identity).count() == 1L)
      TestData.loseCached(sc)
      assert(byColumn(columns) == expected, "lost and made again")
    }
  }

  test("all that was made is released with the rows, and released once") {
    assert(cached {
      val rows = training()
      val made = Seq(rows.columns(2), rows.columns(3))
      rows.scaled(2, form)
      rows.scaled(1, form.copy(mixed = true))
      made.head.unpersist()
      made.head.unpersist()
      rows.unpersist()
      rows.unpersist()
      made.foreach(_.unpersist())
    } == Nil)
  }

  test("a dataset that was released is made again, one whose rows were released is not") {
    val rows = training()
    val first = rows.columns(2)
    val names = cached(first.nonzeros)
    first.unpersist()
    assert(cached(assert(rows.columns(2) ne first)) == names :+ "test: columns")
    rows.unpersist()
    for (make <- Seq[TrainingRows => Any](_.columns(2), _.scaled(2, form))) {
      assert(intercept[IllegalStateException](make(rows)).getMessage.contains("released"))
    }
  }

  test("class sums are those of the definition, for few classes and for many, sorted or not") {
    val random = new Random(4)
    val shuffled = Seq.fill(500)(
      LabeledRow(random.nextInt(7) * 15000.0, random.nextInt(4) * 0.3, Vectors.dense(random.nextGaussian())))
    for (rows <- Seq(shuffled, shuffled.sortBy(_.label), shuffled.map(_.copy(weight = 1.0)))) {
      using(read(sc.parallelize(rows, 3), 1)) { read =>
        val expected = new Array[Double](100000)
        rows.foreach(r => expected(r.label.toInt) += r.weight)
        val found =
          read.labelFacts(Labels.Classes(100000)).classWeights
        assert(found.length == expected.length)
        found.indices.foreach(c => assert(math.abs(found(c) - expected(c)) <= 1e-12 * expected(c)))
        assert(read.largestLabel == rows.filter(_.weight > 0.0).map(_.label).max && !read.labelConstant)
      }
    }
  }

  test("more rows than an Int counts: the dual form takes them, and the primal one says so") {
    val rows = TestData.claimed(sc, Seq.fill(3)(Int.MaxValue - 16), numFeatures = 4)
    assert(rows.numRows == 3L * (Int.MaxValue - 16) && rows.totalWeight == rows.numRows.toDouble)
    val message = intercept[IllegalArgumentException](rows.columns(2)).getMessage
    assert(message.contains(s"${rows.numRows} rows") && message.contains("orientation=dual"))
  }

  test("refused: a negative number of workers") {
    using(training()) { rows =>
      for (make <- Seq[TrainingRows => Any](_.columns(-1), _.scaled(-1, form))) {
        assert(intercept[IllegalArgumentException](make(rows)).getMessage.contains("-1"))
      }
    }
  }
}
