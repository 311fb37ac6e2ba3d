package dwell.data

import java.io.{ByteArrayOutputStream, ObjectOutputStream}
import java.util.concurrent.atomic.AtomicInteger

import org.apache.spark.{PersistedBlocks, ShuffleDependency, SparkEnv, SparkException, UnpromisedRDD}
import org.apache.spark.ml.linalg.{SQLDataTypes, Vectors}
import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection
import org.apache.spark.sql.types.{DataType, DoubleType}

import dwell.SparkSuite
import dwell.data.block.{ColumnNames, LabeledRow, RowBlockBuilder}
import dwell.data.columns.ColumnDataset
import dwell.data.rows.{RowForm, RowPartition}
import dwell.problem.Labels
import dwell.spark.{InputChangedException, TaskFailure}

/** Rows that stay where Spark has them. */
class LeftRowsSuite extends SparkSuite {

  private val coordinates = RowForm(1.0, intercept = true, labels = Labels.Signed)
  private val averages = coordinates.copy(mixed = true)

  private val numFeatures = 8

  private def binary(count: Int): Seq[LabeledRow] =
    TestData.random(2, count, numFeatures, 0.5).map(r => r.copy(label = if (r.label > 0.0) 1.0 else 0.0))

  private def read(rows: RDD[LabeledRow]): TrainingRows =
    TrainingReader.read(rows.map(_.toInternal), numFeatures, "test")

  private def source(rows: Seq[LabeledRow], slices: Int): RDD[LabeledRow] = sc.parallelize(rows, slices)

  private def using[T](rows: RDD[LabeledRow])(body: TrainingRows => T): T = usingRead(read(rows))(body)

  private def usingRead[T](training: TrainingRows)(body: TrainingRows => T): T =
    try body(training)
    finally training.unpersist()

  /** Rows as most plans of Spark SQL give them. */
  private def unsafe(rows: RDD[LabeledRow]): RDD[InternalRow] = rows.mapPartitions { it =>
    val projection = UnsafeProjection.create(Array[DataType](DoubleType, DoubleType, SQLDataTypes.VectorType))
    it.map(row => projection(row.toInternal))
  }

  /** The shuffles on which an RDD depends. */
  private def shuffles(rdd: RDD[_]): Set[Int] = rdd.dependencies.flatMap {
    case d: ShuffleDependency[_, _, _] => shuffles(d.rdd) + d.shuffleId
    case d => shuffles(d.rdd)
  }.toSet

  /** Names of the RDDs of the test that Spark keeps. */
  private def kept: Seq[String] =
    sc.getPersistentRDDs.values.flatMap(rdd => Option(rdd.name)).filter(_.startsWith("test: ")).toSeq.sorted

  /** Each row of a partition by its number. */
  private def content(p: RowPartition): Seq[(Long, Seq[(Int, Double)], Double, Double, Double)] =
    p.rows.indices.map { i =>
      val at = p.offsets(i) until p.offsets(i + 1)
      (p.rows(i), at.map(k => (p.indices(k), p.value(k))), p.labels(i), p.norms(i), p.projections(i))
    }

  test("rows of a use that lets them stay are those of a shuffle, and no shuffle brings them") {
    val rows = binary(900)
    using(source(rows, 9)) { training =>
      val dealt = training.rows(3, coordinates)
      val expected = dealt.partitions.collect().toSeq.flatMap(content).sortBy(_._1)
      assert(shuffles(dealt.partitions).size == 2 && dealt.placement.startsWith("rows dealt by a shuffle, because "))
      val left = training.rows(3, averages)
      assert(shuffles(left.partitions).isEmpty && left.placement == "rows left where Spark has them")
      val partitions = left.partitions.collect().toSeq
      assert(partitions.flatMap(content).sortBy(_._1) == expected && partitions.map(_.index) == Seq(0, 1, 2))
      assert(left.summary.rowsPerPartition.toSeq == partitions.map(_.numRows))
      // Nine blocks of about one size.
      assert(left.summary.rowsPerPartition.sorted.toSeq.map(r => math.round(r / 900.0 * 9)) == Seq(3, 3, 3))
      assert(left.summary.meanSquareNorm == dealt.summary.meanSquareNorm && left.holders.sameElements(dealt.holders))
      assert(left.summary.classSums.positive.sameElements(dealt.summary.classSums.positive))
    }
  }

  test("as many source partitions as workers are partitions as they are") {
    val rows = binary(4000)
    using(source(rows, 4)) { training =>
      val left = training.rows(4, averages)
      assert(left.partitions.collect().map(_.rows.sorted.toSeq).toSeq == (0L until 4000L).grouped(1000).toSeq)
    }
  }

  test("the blocks of a source partition come together, in their order") {
    import LeftRowsSuite.{value, wide, WideFeatures => n}
    val blocks = RowBlockBuilder.read(0, n, wide(0).map(_.toInternal), ColumnNames()).map(_.rows).toSeq
    assert(blocks == Seq(128, 128, 0))
    val source = sc.parallelize(0 until 3, 3).flatMap(LeftRowsSuite.wide).map(_.toInternal)
    val training = TrainingReader.read(source, n, "test")
    try {
      val dealt = training.rows(2, coordinates)
      def bits(p: RowPartition) = p.rows.indices.map(i => (p.rows(i), (p.labels(i), p.norms(i), p.projections(i))))
      val expected = dealt.partitions.collect().flatMap(bits).toMap
      assert(training.numRows == 768L && expected.size == 768 && training.labelMean == 0.5)
      for ((workers, groups) <- Seq(1 -> Seq(0L until 768L), 3 -> (0L until 768L).grouped(256).toSeq)) {
        val left = training.rows(workers, averages)
        assert(left.placement == "rows left where Spark has them")
        val partitions = left.partitions.collect().toSeq
        assert(partitions.map(_.rows.sorted.toSeq) == groups)
        partitions.foreach { p =>
          assert(p.isDense && bits(p).forall { case (row, bits) => expected(row) == bits })
          assert(p.rows.indices.forall(i => (0 until n).forall(f => p.value(p.offsets(i) + f) == value(p.rows(i), f))))
        }
      }
      val deviations = training.features(0.0, intercept = true).deviation
      for (feature <- Seq(0, 1, n - 1)) {
        val values = (0L until 768L).map(value(_, feature))
        val mean = values.sum / 768.0
        assert(
          math.abs(deviations(feature) / math.sqrt(values.map(x => (x - mean) * (x - mean)).sum / 768.0) - 1.0) < 1e-12)
      }
    } finally training.unpersist()
  }

  test("rows stay where labels are alike") {
    val rows = binary(4000)
    for ((sorted, placed) <- Seq(false -> "left", true -> "dealt")) {
      using(source(if (sorted) rows.sortBy(_.label) else rows, 2)) { training =>
        assert(training.rows(2, averages).placement.startsWith(s"rows $placed"))
        if (sorted) assert(training.rows(2, averages).placement.contains("labels"))
      }
    }
    // Blocks from everywhere make groups alike.
    using(source(rows.sortBy(_.label), 40))(t => assert(t.rows(2, averages).placement.startsWith("rows left")))
  }

  test("too few partitions of the source, and one far too large, are for a shuffle") {
    val rows = binary(300)
    using(source(rows, 2)) { training =>
      val data = training.rows(3, averages)
      assert(data.numPartitions == 3 && data.placement.contains("numWorkers is 3"))
    }
    val huge = sc.parallelize(Seq(rows.take(10), rows.slice(10, 280), rows.drop(280)), 3).flatMap(identity)
    using(huge)(training => assert(training.rows(3, averages).placement.contains("times the mean")))
  }

  test("what was read is dropped once partitions hold it, and is read again for another dataset") {
    val reads = LeftRowsSuite.reads
    reads.set(0)
    val rows = source(binary(200), 2).mapPartitions { it =>
      LeftRowsSuite.reads.incrementAndGet()
      it
    }
    using(rows) { training =>
      training.rows(2, averages)
      assert(kept == Seq("test: rows") && reads.get == 2)
      // Spark removes blocks some time after it was told to.
      val blocks = SparkEnv.get.blockManager
      eventually(
        assert(blocks.getMatchingBlockIds(_.asRDDId.exists(b => !sc.getPersistentRDDs.contains(b.rddId))).isEmpty))
      // The source is read once for both passes over the rows that columns take.
      val columns = training.columns(2)
      assert(reads.get == 4 && columns.nonzeros > 0 && kept == Seq("test: columns", "test: rows", "test: rows as read"))
      training.rows(2, averages.copy(scaleFactor = 0.0))
      assert(reads.get == 4 && kept.count(_ == "test: rows") == 2 && kept.contains("test: rows as read"))
    }
    assert(kept.isEmpty)
  }

  test("a source that may give other rows is kept as it was read, one that may give them in another order is not") {
    // Spark may deliver what a shuffle brings in any order.
    val shuffled = source(binary(200), 2).repartition(3)
    using(shuffled) { training =>
      training.rows(3, averages)
      assert(kept == Seq("test: rows"))
    }
    using(new UnpromisedRDD(shuffled, change = true)) { training =>
      training.rows(3, averages)
      assert(kept == Seq("test: rows", "test: rows as read"))
    }
    // The user's own shuffle has not been cleaned.
    assert(shuffled.count() == 200L)
  }

  test("rows that come in another order when they are read again are the same data, in every form") {
    val rows = binary(300)
    // What a shuffle brings, in an order that differs at each reading.
    val shuffled = source(rows, 3).repartition(4)
    LeftRowsSuite.reads.set(0)
    val turned = shuffled.mapPartitions { it =>
      val all = it.toIndexedSeq
      val first = (7 * LeftRowsSuite.reads.getAndIncrement()) % math.max(1, all.size)
      (all.drop(first) ++ all.take(first)).iterator
    }
    usingRead(TrainingReader.read(unsafe(turned), numFeatures, "test")) { training =>
      for (form <- Seq(averages, coordinates)) {
        val data = training.rows(2, form)
        val before = data.partitions.collect().toSeq.map(content)
        val read = LeftRowsSuite.reads.get
        TestData.loseCached(sc)
        assert(data.partitions.collect().toSeq.map(content) == before)
        if (form.mixed) assert(LeftRowsSuite.reads.get > read, "the source was not read again")
      }
      val columns = training.columns(2)
      val before = columns.partitions.collect().toSeq.map(p => (p.columns.toSeq, p.labels.toSeq))
      TestData.loseCached(sc)
      assert(columns.partitions.collect().toSeq.map(p => (p.columns.toSeq, p.labels.toSeq)) == before)
    }
  }

  test("a lost partition comes out the same, or the fit ends") {
    val rows = binary(300)
    for (changing <- Seq(false, true)) {
      LeftRowsSuite.reads.set(0)
      val read = sc.parallelize(rows.grouped(75).toSeq, 4).flatMap { block =>
        val first = LeftRowsSuite.reads.getAndIncrement() < 4
        if (changing && !first) block.map(r => r.copy(label = 1.0 - r.label)) else block
      }
      using(read) { training =>
        val data = training.rows(2, averages)
        val before = data.partitions.collect().toSeq.map(content)
        assert(LeftRowsSuite.reads.get == 4)
        TestData.loseCached(sc)
        if (changing) intercept[InputChangedException](TaskFailure.unwrapped(data.partitions.count()))
        else {
          assert(data.partitions.collect().toSeq.map(content) == before && LeftRowsSuite.reads.get == 8)
          TestData.loseCached(sc)
          // A barrier stage over groups needs them without what is before them, and finds them computed.
          intercept[SparkException](data.partitions.barrier().mapPartitions(identity).collect())
          val held = data.forBarrier
          def root(rdd: RDD[_]): RDD[_] = rdd.dependencies.headOption.map(before => root(before.rdd)).getOrElse(rdd)
          assert(LeftRowsSuite.reads.get == 12 && root(held).isInstanceOf[PersistedBlocks[_]])
          assert(held.barrier().mapPartitions(identity).collect().toSeq.map(content) == before)
        }
      }
    }
  }

  test("tasks on the partitions do not carry the source's data") {
    using(source(binary(20000), 2)) { training =>
      val data = training.rows(2, averages)
      data.partitions.partitions.foreach { partition =>
        val bytes = new ByteArrayOutputStream()
        new ObjectOutputStream(bytes).writeObject(partition)
        assert(bytes.size < 10000)
      }
    }
  }

  test("nothing is shuffled for one worker") {
    using(source(binary(100), 5)) { training =>
      val averaged = training.rows(0, averages)
      assert(averaged.numPartitions == 1 && averaged.placement.startsWith("rows left"))
      val all = training.rows(1, coordinates)
      val dealt = training.rows(2, coordinates).partitions.collect().toSeq.flatMap(content).sortBy(_._1)
      assert(all.partitions.collect().toSeq.flatMap(content) == dealt, "in the order of the dataset")
      assert(Seq(averaged, all).forall(data => shuffles(data.partitions).isEmpty))
      val columns = training.columns(1)
      def byColumn(data: ColumnDataset) = {
        val partitions = data.partitions.collect().toSeq
        partitions.flatMap { p =>
          p.columns.indices.map(c => p.columns(c) -> ((TestData.stored(p, c), p.mean(c), p.variance(c))))
        }.toMap -> partitions.flatMap(_.labels)
      }
      val expected = byColumn(training.columns(2))
      assert(byColumn(columns) == expected && shuffles(columns.partitions).isEmpty)
      assert(columns.forBarrier.barrier().mapPartitions(identity).count() == 1L)
      TestData.loseCached(sc)
      assert(byColumn(columns) == expected, "lost and made again")
    }
    assert(kept.isEmpty)
  }
}

object LeftRowsSuite {

  private val WideFeatures = 4096

  private def value(row: Long, feature: Int): Double = ((row * 31L + feature * 7L) % 1009L).toDouble / 8.0

  /** 256 rows of a source partition, in two blocks, and one of weight 0, in a block without rows. */
  private def wide(partition: Int): Iterator[LabeledRow] = Iterator.tabulate(257) { i =>
    val row = partition * 256L + i
    val features = Vectors.dense(Array.tabulate(WideFeatures)(value(row, _)))
    LabeledRow((row % 2L).toDouble, if (i < 256) 1.0 else 0.0, features)
  }

  /** How often partitions of a source were read; the tasks of local mode share this counter. */
  val reads = new AtomicInteger()
}
