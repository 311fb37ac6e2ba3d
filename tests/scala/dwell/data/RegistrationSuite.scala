package dwell.data

import java.util.Arrays

import scala.reflect.ClassTag

import org.apache.spark.SparkException
import org.apache.spark.ml.linalg.Vectors
import org.apache.spark.rdd.RDD
import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.storage.StorageLevel
import org.scalatest.BeforeAndAfterAll

import dwell.{LimitedSuite, SparkSuite}
import dwell.bulk.Kept
import dwell.data.block.LabeledRow
import dwell.data.columns.ColumnPartition
import dwell.data.documents.{DocumentData, DocumentDataset}
import dwell.data.rows.RowForm
import dwell.ml.classification.LogisticRegression
import dwell.problem.Labels
import dwell.report.FitReport

/** Data in an application whose Kryo refuses classes that are not registered. */
class RegistrationSuite extends LimitedSuite with BeforeAndAfterAll {
  import RegistrationSuite._

  private lazy val spark: SparkSession = SparkSuite.fresh(
    master = "local[2]",
    "spark.serializer" -> "org.apache.spark.serializer.KryoSerializer",
    "spark.kryo.registrationRequired" -> "true")

  override protected def afterAll(): Unit = spark.stop()

  /** The rows that `make` gives. (Spark takes elements of its own to tasks with Kryo as well.) */
  private def source(make: LabeledRow => InternalRow): RDD[InternalRow] =
    spark.sparkContext.parallelize(rows.indices, 3).map(i => make(rows(i)))

  /** Has Spark write the objects of a dataset to disk, and compares what it reads with them. */
  private def throughDisk[P: ClassTag](partitions: RDD[P])(text: P => String): Unit = {
    def texts(partitions: RDD[P]): Seq[String] =
      spark.sparkContext.runJob(partitions, (it: Iterator[P]) => text(it.next())).toSeq
    val onDisk = Kept.of(partitions, "copy").keep(StorageLevel.DISK_ONLY)
    val first = texts(onDisk)
    assert(texts(onDisk) == first && texts(partitions) == first)
    assert(spark.sparkContext.getRDDStorageInfo.exists(i => i.name == "copy" && i.diskSize > 0L && i.memSize == 0L))
    onDisk.drop()
  }

  /** Has Spark keep rows that were dealt on disk alone, and compares what it reads from there. */
  private def dealtThroughDisk(training: TrainingRows): Unit = {
    val data = training.scaled(2, RowForm(1.0, intercept = true, labels = Labels.Signed, mixed = true))
    assert(data.blocks.isMoved)
    def texts: Seq[String] = data.partitions.map(RegistrationSuite.textOf(_)).collect().toSeq
    val first = texts
    val dealt: RDD[_] = spark.sparkContext.getPersistentRDDs.values.find(_.name == "test: rows dealt").get
    dealt.unpersist(blocking = true)
    dealt.persist(StorageLevel.DISK_ONLY)
    assert(texts == first && texts == first)
    assert(spark.sparkContext.getRDDStorageInfo.exists(i => i.id == dealt.id && i.diskSize > 0L && i.memSize == 0L))
  }

  test("Kryo refuses our classes if they are left to it") {
    val plain = source(_.toInternal).mapPartitions(_ => TestData.partitions(Seq(rows), 1).iterator)
    val error = intercept[SparkException](plain.persist(StorageLevel.DISK_ONLY).count())
    assert(error.getMessage.contains("Class is not registered: dwell.data.columns.ColumnPartition"))
    plain.unpersist()
  }

  test("columns and rows are read, moved, and kept on disk") {
    val training = TrainingReader.read(source(_.toInternal), 8, "test")
    throughDisk(training.columns(2).partitions)(textOf(_))
    dealtThroughDisk(training)
    training.unpersist()
  }

  test("documents are read, moved, and kept on disk") {
    val counts = source(r => LabeledRow.ofVector(Vectors.dense(r.features.toArray.map(_.abs))))
    val data = DocumentDataset.read(counts, 8, 2, "test")
    throughDisk(data.partitions)(textOf(_))
    data.unpersist()
  }

  for (mode <- Seq("driver", "shuffle", "gang"); algorithm <- Seq("cocoa", "l-bfgs", "ma-sgd")) {
    test(s"a fit by $algorithm in $mode mode") {
      val frame = spark.createDataFrame(rows.map(r => (r.label, r.features))).toDF("label", "features").repartition(2)
      val model = new LogisticRegression()
        .setRegParam(0.1)
        .setMaxIter(3)
        .setNumWorkers(2)
        .setAggregation(mode)
        .setAlgorithm(algorithm)
        .fit(frame)
      assert(FitReport.of(model).aggregation == mode)
    }
  }
}

object RegistrationSuite {
  private val rows =
    TestData.random(1, 60, 8, 0.5, weighted = true).map(r => r.copy(label = if (r.label > 0.0) 1.0 else 0.0))

  private def textOf(p: ColumnPartition): String = {
    val matrix = Seq(p.columns, p.offsets, p.indices).map(Arrays.toString(_)) :+ Arrays.toString(p.values32)
    (matrix ++ Seq(p.values64, p.mean, p.variance, p.deviation, p.weights, p.labels).map(Arrays.toString(_)))
      .mkString("\n")
  }

  private def textOf(data: LocalData): String = data match {
    case rows: RowData =>
      rows.blocks
        .map { b =>
          val matrix = Seq(b.offsets, b.features).map(Arrays.toString(_)) :+ Arrays.toString(b.values32)
          (matrix ++ Seq(b.values64, b.labels, b.weights).map(Arrays.toString(_))).mkString("\n")
        }
        .mkString("\n")
    case columns: ColumnData => textOf(columns.partition)
  }

  private def textOf(d: DocumentData): String = {
    val blocks = d.offsets.indices.map { b =>
      Seq(d.offsets(b), d.words(b)).map(Arrays.toString(_)) :+ Arrays.toString(d.counts32(b)) :+ Arrays.toString(
        d.counts64(b))
    }
    blocks.flatten.mkString("\n")
  }
}
