package dwell.bench.anatomy

import java.nio.file.Files

import scala.jdk.CollectionConverters._

import com.fasterxml.jackson.databind.{JsonNode, ObjectMapper}
import org.apache.spark.ml.linalg.{DenseVector, Vector}
import org.apache.spark.sql.DataFrame
import org.apache.spark.storage.StorageLevel

import dwell.SparkSuite
import dwell.bench.{Bench, NamedArguments}

/** The benchmarks of reading and of whole fits on a few rows: their data, and that what they report is whole. */
class AnatomySuite extends SparkSuite {

  private def results(repetitions: Int)(body: Bench => Unit): Seq[JsonNode] = {
    val file = Files.createTempFile("dwell-bench", ".json")
    try {
      body(new Bench(spark, None, scale = 1e-4, seed = 1L, repetitions, file.toString))
      new ObjectMapper().readTree(file.toFile).elements().asScala.toSeq
    } finally Files.delete(file)
  }

  private def numbers(row: JsonNode, name: String): Seq[Double] = row.get(name).elements().asScala.map(_.asDouble).toSeq

  private def vectors(rows: DataFrame): Seq[Vector] = rows.select("features").collect().map(_.getAs[Vector](0)).toSeq

  test("generated rows have their shape, both classes, and are the same for the same seed") {
    val made = new GeneratedRows(spark, seed = 3L)
    val sparse = vectors(made.sparse(300, 5000, 100))
    assert(sparse.size == 300 && sparse.forall(x => x.size == 5000 && x.numActives <= 100 && x.numActives > 90))
    val hashed = vectors(made.hashed(300, 1 << 16, 20))
    assert(hashed.forall(x => x.numActives <= 20 && x.numActives > 12 && x.toSparse.values.forall(_ == 1.0)))
    val counts = hashed.flatMap(_.toSparse.indices).groupBy(identity).map(_._2.size)
    assert(counts.count(_ == 1) > counts.size / 2 && counts.max > 100, "most features are rare, a few are frequent")
    val dense = made.dense(300, 28)
    assert(vectors(dense).forall(x => x.isInstanceOf[DenseVector] && x.size == 28))
    assert(vectors(new GeneratedRows(spark, seed = 3L).dense(300, 28)) == vectors(dense))
    assert(vectors(new GeneratedRows(spark, seed = 4L).dense(300, 28)) != vectors(dense))
    Seq(dense, made.sparse(300, 5000, 100), made.hashed(300, 1 << 16, 20)).foreach { rows =>
      val classes = rows.select("label", "class").collect().map(r => (r.getDouble(0), r.getDouble(1)))
      assert(classes.forall { case (label, found) => found == (if (label > 0.0) 1.0 else 0.0) })
      assert(classes.map(_._2).sum > 50.0 && classes.map(_._2).sum < 250.0)
    }
  }

  test("the watch counts what is cached while it looks, at the peak and at the end, and nothing from before") {
    val before = sc.parallelize(Seq(new Array[Double](100000)), 1).persist(StorageLevel.MEMORY_ONLY)
    before.count()
    val watch = new StorageWatch(sc)
    assert(watch.now == Held(0L, 0L))
    val (_, peak) = watch.peak {
      val cached = sc.parallelize(Seq(new Array[Double](50000)), 1).persist(StorageLevel.MEMORY_ONLY)
      cached.count()
      Thread.sleep(300L)
      cached.unpersist(blocking = true)
    }
    assert(peak.memory >= 400000L && peak.memory < 500000L && peak.disk == 0L, peak)
    assert(watch.now == Held(0L, 0L))
    before.unpersist(blocking = true)
  }

  test("reading: every step beside the scan of its own columns, in both places, with the bytes that it holds") {
    val asked = new NamedArguments(Seq("data=dense-28,packages,documents"))
    val rows = results(repetitions = 1)(bench => DataTable.foreach(bench, asked)(ReadingBench.measure(bench, _)))
    val steps = rows.map(row => Seq("data", "stored", "step").map(row.get(_).asText))
    val ofRows =
      Seq("reading", "reading, rows for descent", "reading, rows for averages", "reading, columns by shuffle")
    val expected = for {
      (data, of) <- Seq("dense-28" -> ofRows, "documents" -> Seq("reading, documents"))
      stored <- Seq("memory", "parquet")
      step <- of
    } yield Seq(data, stored, step)
    assert(steps == expected, "and without descriptions of packages nothing of them")
    rows.foreach { row =>
      Seq("scanSeconds", "seconds").foreach { name =>
        assert(numbers(row, name).size == 1 && numbers(row, name).forall(_ > 0.0), row)
      }
      assert(row.get("heldBytes").asLong > 0L && row.get("peakMemoryBytes").asLong > 0L, row)
    }
    // No float is these values: all blocks hold doubles.
    val dense = rows.head
    assert(dense.get("rows").asLong == 200L && dense.get("entries").asLong == 5600L)
    assert(dense.get("heldBytes").asDouble >= 8.0 * 5600.0, dense)
  }

  test("whole fits: the phases of each add up, and Spark's own fit is there if it is asked for") {
    val asked = new NamedArguments(Seq("data=hashed", "stored=memory"))
    for ((beside, repetitions) <- Seq(false -> 1, true -> 2)) {
      val rows =
        results(repetitions)(bench => DataTable.foreach(bench, asked)(AnatomyBench.measure(bench, _, beside)))
      assert(rows.map(_.get("estimator").asText) == Seq("LogisticRegression", "LinearRegression, elastic net"))
      rows.foreach { row =>
        val phases = Seq("reading", "setUp", "workers", "leader", "transport", "model", "rest").map(numbers(row, _))
        assert(phases.transpose.map(_.sum).zip(numbers(row, "total")).forall { case (a, b) => math.abs(a - b) < 1e-9 })
        assert(Seq("total", "scanSeconds").forall(numbers(row, _).size == repetitions), row)
        assert(numbers(row, "sparkSeconds").size == (if (beside) repetitions else 0), row)
      }
    }
  }

  test("a row of the table that there is not is refused by name") {
    val e = intercept[IllegalArgumentException] {
      results(repetitions = 1)(bench => DataTable.foreach(bench, new NamedArguments(Seq("data=dense")))(_ => ()))
    }
    assert(e.getMessage.contains("data must be of dense-28, dense-400, hashed, packages, sparse, documents"))
  }
}
