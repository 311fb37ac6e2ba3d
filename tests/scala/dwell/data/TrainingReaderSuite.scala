package dwell.data

import java.io.{ByteArrayInputStream, ByteArrayOutputStream, ObjectInputStream, ObjectOutputStream}

import scala.util.Random

import org.apache.spark.{SparkConf, SparkException}
import org.apache.spark.ml.linalg.{SparseVector, Vectors}
import org.apache.spark.serializer.KryoSerializer

import dwell.base.SliceBounds
import dwell.data.block.{ColumnNames, DataLimits, LabeledRow, RowBlockBuilder}
import dwell.data.columns.{ColumnDataset, ColumnPartition}
import dwell.data.matrix.{MatrixBlock, NarrowValues}
import dwell.data.rows.RowForm
import dwell.jni.ResultHeader
import dwell.problem.Labels
import dwell.spark.{InputChangedException, TaskFailure}

/** Rows as read, and their columns by partition. */
class TrainingReaderSuite extends Reading {
  import Reading.reads
  import TestData.{row, Values}

  private def close(a: Double, b: Double): Boolean = math.abs(a - b) <= 1e-12 * math.max(1.0, math.max(a.abs, b.abs))

  private def columns[T](blocks: Seq[Seq[LabeledRow]], numPartitions: Int)(use: ColumnDataset => T): T =
    using(read(blocks))(rows => use(rows.columns(numPartitions)))

  /** Reads and transposes the rows, and compares with columns built directly from the definition. */
  private def check(blocks: Seq[Seq[LabeledRow]], numPartitions: Int): Unit =
    using(read(blocks))(rows => check(rows, rows.columns(numPartitions), blocks.flatten.filter(_.weight > 0.0).toArray))

  private def check(read: TrainingRows, data: ColumnDataset, rows: Array[LabeledRow]): Unit = {
    val m = rows.length
    assert(read.numRows == m && read.sc == sc)
    val weights = rows.map(_.weight)
    val total = weights.sum
    assert(close(read.totalWeight, total) && close(read.weightSquareSum, weights.map(s => s * s).sum))
    val labelMean = rows.map(r => r.weight * r.label).sum / total
    assert(close(read.labelMean, labelMean))
    assert(close(read.labelVariance, rows.map(r => r.weight * math.pow(r.label - labelMean, 2)).sum / total))
    assert(read.labelConstant == (rows.map(_.label).distinct.length == 1))
    assert(read.nonzeros == rows.map(_.features.numNonzeros.toLong).sum)

    val partitions = data.partitions.collect()
    assert(partitions.flatMap(_.labels).sameElements(rows.map(_.label)))
    partitions.map(_.weights).foreach { ofRows =>
      if (weights.forall(_ == 1.0)) assert(ofRows == null) else assert(ofRows.sameElements(weights))
    }
    assert(partitions.map(_.index).sameElements(partitions.indices))
    assert(data.nonzerosPerPartition.sameElements(partitions.map(_.nonzeros.toLong)))
    assert(data.columnsPerPartition.sameElements(partitions.map(_.numColumns)))
    assert(data.nonzeros == partitions.map(_.nonzeros.toLong).sum && data.held.data == partitions.map(_.bytes).sum)

    val expected = (0 until read.numFeatures).filter(i => rows.map(_.features(i)).distinct.length > 1)
    assert(partitions.flatMap(_.columns).sorted.sameElements(expected))
    partitions.foreach { p =>
      assert(p.rows == m)
      val slices = SliceBounds(m, partitions.length)
      assert(p.labels.toSeq == rows.slice(slices.start(p.index), slices.start(p.index + 1)).map(_.label).toSeq)
      if (weights.forall(_ == 1.0)) assert(p.weights == null) else assert(p.weights.sameElements(weights))
      val lengths = Array.tabulate(p.numColumns)(i => p.offsets(i + 1) - p.offsets(i))
      assert(p.columns.indices.sortBy(i => (math.min(lengths(i), 9), p.columns(i))).sameElements(p.columns.indices))
      val values = Array.tabulate(p.nonzeros)(p.value)
      assert((p.values32 == null && p.values64 == null) == (!p.isDense && values.forall(_ == 1.0)))
      assert((p.values64 != null) == values.exists(v => v.toFloat.toDouble != v))
      for (i <- 0 until p.numColumns) {
        val column = rows.map(_.features(p.columns(i)))
        val entries = column.toSeq.zipWithIndex.map(_.swap)
        assert(TestData.stored(p, i) == (if (p.isDense) entries else entries.filter(_._2 != 0.0)))
        val mean = column.zip(weights).map { case (c, s) => c * s }.sum / total
        val variance = column.zip(weights).map { case (c, s) => s * (c - mean) * (c - mean) }.sum / total
        assert(close(p.mean(i), mean) && close(p.variance(i), variance))
        assert(p.deviation(i) == math.sqrt(p.variance(i)) && p.variance(i) > 0.0)
      }
    }
  }

  for {
    (values, seed) <- Seq[Values](Values.Ones, Values.Singles, Values.Doubles).zipWithIndex
    weighted <- Seq(false, true)
    dense <- Seq(false, true)
    // With the second three quarters of the columns are full.
    density <- Seq(0.15, 2.0)
  } test(
    s"columns equal a transposition by definition: $values, weighted = $weighted, dense = $dense, density = $density") {
    val rows = TestData.random(seed, 60, 37, density, values, weighted, dense)
    val blocks = Seq(rows.take(11), Nil, rows.slice(11, 50), rows.drop(50), Nil)
    check(blocks, 3)
    if (values != Values.Ones) columns(blocks, 3) { data =>
      assert(data.partitions.collect().forall(p => p.isDense == (density > 1.0)))
    }
  }

  test("one row, no column, one partition, more partitions than columns") {
    for {
      blocks <- Seq(
        Seq(Seq(row(2.0, 3.0, 0.0))),
        Seq(Seq(row(1.0), row(2.0))),
        Seq(Nil, Seq(row(1.0, 1.0, 5.0), row(2.0, 2.0, 5.0), row(1.0, 1.0, 5.0))),
        Seq(Seq(row(1.0, 0.0), row(1.0, 0.0))))
      numPartitions <- Seq(1, 4)
    } {
      columns(blocks, numPartitions) { data =>
        assert(data.numPartitions == numPartitions && data.partitions.count() == numPartitions)
      }
      check(blocks, numPartitions)
    }
  }

  test("the most bytes held are those as read and those of the dataset") {
    val random = new Random(7)
    val rows = Seq.fill(100)(TestData.row(random.nextDouble(), Seq.fill(4)(random.nextGaussian()): _*))
    using(read(Seq(rows.take(40), rows.drop(40)))) { read =>
      val asRead = 8L * 400L + 8L * 100L
      for (held <- Seq(
          read.columns(2).held,
          read.scaled(2, RowForm(1.0, intercept = true, labels = Labels.Real)).blocks.held))
        assert(held.data > 8L * 400L && held.most == held.data + asRead)
    }
  }

  test("each partition has the labels of its slice of rows, and the weights of all") {
    for (weighted <- Seq(false, true)) {
      val rows = TestData.random(6, 13000, 3, 0.1, Values.Ones, weighted)
      val blocks = Seq(rows.take(5000), Nil, rows.slice(5000, 5001), rows.drop(5001))
      using(read(blocks)) { read =>
        val kept = rows.filter(_.weight > 0.0)
        for (numPartitions <- Seq(1, 2, 5)) {
          val data = read.columns(numPartitions)
          val partitions = data.partitions.collect()
          assert(partitions.flatMap(_.labels).toSeq == kept.map(_.label))
          assert(partitions.map(_.labels.length).forall(length => length <= 4096 * (5 - numPartitions).max(1)))
          partitions.map(_.weights).foreach { weights =>
            if (weighted) assert(weights.toSeq == kept.map(_.weight)) else assert(weights == null)
          }
        }
      }
    }
  }

  test("partitions hold equal nonzeros, and constant columns do not weigh in") {
    val rows = TestData.random(5, 400, 300, 0.05)
    columns(rows.grouped(100).toSeq, 4) { data =>
      val mean = data.nonzeros / 4.0
      assert(data.nonzerosPerPartition.max <= 1.05 * mean)
      assert(data.nonzeros == rows.map(_.features.numNonzeros.toLong).sum - 400, "column 0 is constant")
    }
  }

  test("a column is constant only if all rows have exactly the same value") {
    val almost = Math.nextUp(0.1)
    val blocks = Seq(Seq(row(0, 0.1, 0.1, 7.0)), Seq(row(1, 0.1, almost, 7.0), row(2, 0.1, 0.1, 0.0)))
    columns(blocks, 1) { data =>
      assert(data.partitions.first().columns.sameElements(Array(1, 2)))
    }
  }

  test("rows of weight 0 count for nothing, not even for what is constant") {
    val kept = TestData.random(3, 20, 6, 0.5)
    val left = kept.map(r => r.copy(weight = 0.0, label = 100.0, features = Vectors.dense(Array.fill(6)(9.0))))
    check(Seq(left.take(5) ++ kept.take(10), left.drop(5), kept.drop(10)), 2)
  }

  test("a row of weight 2 is a row that occurs twice") {
    val rows = TestData.random(11, 30, 8, 0.4)
    val weighted = read(Seq(rows.map(_.copy(weight = 2.0)).take(10) ++ rows.drop(10)))
    val repeated = read(Seq(rows.take(10) ++ rows.take(10) ++ rows.drop(10)))
    assert(weighted.totalWeight == repeated.totalWeight)
    assert(close(weighted.labelMean, repeated.labelMean) && close(weighted.labelVariance, repeated.labelVariance))
    val (a, b) = (weighted.columns(1).partitions.first(), repeated.columns(1).partitions.first())
    val local = b.columns.zipWithIndex.toMap
    a.columns.zipWithIndex.foreach { case (column, i) =>
      assert(close(a.mean(i), b.mean(local(column))) && close(a.variance(i), b.variance(local(column))))
    }
    weighted.unpersist()
    repeated.unpersist()
  }

  test("values are stored as narrow as loses nothing") {
    val wide = Seq(0.1, 1e300, Double.MinPositiveValue, 16777217.0)
    wide.foreach(v => assert(NarrowValues.width(v) == NarrowValues.Double))
    Seq(0.5, -3.25, 16777216.0, Float.MaxValue.toDouble, Float.MinPositiveValue.toDouble).foreach { v =>
      assert(NarrowValues.width(v) == NarrowValues.Single && v.toFloat.toDouble == v)
    }
    assert(NarrowValues.width(1.0) == NarrowValues.Ones)
    val one = Array(1.0, 1.0, 0.5, 0.1)
    def narrow(length: Int) = {
      val values = NarrowValues.allocate(one.take(length).map(NarrowValues.width).max, length)
      new NarrowValues(null, one).copyTo(0, length, values, 0)
      values
    }
    assert(narrow(2).values32 == null && narrow(2).values64 == null)
    assert(narrow(3).values32.sameElements(Array(1.0f, 1.0f, 0.5f)))
    assert(narrow(4).values64.sameElements(one))
  }

  test("a sparse partition stores no explicit zeros and no negative zeros") {
    val sparse = Vectors.sparse(3, Array(0, 1, 2), Array(0.0, 2.0, -0.0))
    val empty = row(0.0, 0.0, 0.0, 0.0)
    val p = TestData.partitions(Seq(Seq(LabeledRow(1.0, 1.0, sparse), empty, empty)), 1).head
    assert(p.columns.sameElements(Array(1)) && p.nonzeros == 1)
  }

  test("a partition survives Java's and Kryo's serialisers") {
    val p = TestData.partitions(Seq(TestData.random(1, 20, 9, 0.3, Values.Singles)), 1).head
    val bytes = new ByteArrayOutputStream()
    new ObjectOutputStream(bytes).writeObject(p)
    val java =
      new ObjectInputStream(new ByteArrayInputStream(bytes.toByteArray)).readObject().asInstanceOf[ColumnPartition]
    val serializer = new KryoSerializer(new SparkConf()).newInstance()
    val kryo = serializer.deserialize[ColumnPartition](serializer.serialize(p))
    for (copy <- Seq(java, kryo)) {
      assert(copy.columns.sameElements(p.columns) && copy.offsets.sameElements(p.offsets))
      assert(copy.indices.sameElements(p.indices) && copy.values32.sameElements(p.values32) && copy.values64 == null)
      assert(copy.mean.sameElements(p.mean) && copy.variance.sameElements(p.variance))
    }
  }

  test("lost columns are computed again, unless the source has changed meanwhile") {
    val rows = TestData.random(4, 30, 6, 0.5)
    for (changing <- Seq(false, true)) {
      reads.set(0)
      val source = sc.parallelize(Seq(0), 1).flatMap { _ =>
        val read = Reading.reads.getAndIncrement()
        if (changing) rows.map(r => r.copy(label = r.label + read)) else rows
      }
      val all = read(source, 6)
      val data = all.columns(2)
      assert(reads.get == 1, "rows are read once")
      val first = data.partitions.collect()
      TestData.loseCached(sc)
      data.partitions.cleanShuffleDependencies(blocking = true)
      if (changing) {
        val error = intercept[InputChangedException](TaskFailure.unwrapped(data.partitions.count()))
        assert(error.getMessage.contains("Partition 0") && error.getMessage.contains("checkpoint"))
      } else {
        val again = data.partitions.collect()
        assert(
          first.zip(again).forall { case (a, b) => a.indices.sameElements(b.indices) && a.mean.sameElements(b.mean) })
      }
      // Neither of the two shuffles finds the rows that the other has read if they have changed.
      assert(if (changing) reads.get == 2 || reads.get == 3 else reads.get == 2)
      all.unpersist()
    }
  }

  test("fingerprints tell blocks apart by every part of a row and by the order of rows") {
    val base = Seq(row(1.0, 2.0, 0.0), row(2.0, 0.0, 3.0))
    def fingerprint(rows: Seq[LabeledRow]): Long =
      RowBlockBuilder.read(0, 2, rows.iterator.map(_.toInternal), ColumnNames()).next().fingerprint
    val others = Seq(
      base.reverse,
      base.init,
      base.updated(0, row(1.5, 2.0, 0.0)),
      base.updated(0, row(1.0, 2.5, 0.0)),
      base.updated(0, row(1.0, 0.0, 2.0)),
      base.updated(0, base.head.copy(weight = 3.0)))
    assert((base +: others).map(fingerprint).distinct.size == others.size + 1)
    assert(fingerprint(base) == fingerprint(base.map(r => r.copy(features = r.features.toSparse))))
  }

  test("hashes of arrays depend on each element, on the length and on whether there is an array") {
    for (length <- 0 to 20) {
      val (ints, floats, doubles) = (new Array[Int](length), new Array[Float](length), new Array[Double](length))
      val changed = (0 until length).flatMap { i =>
        Seq(
          MatrixBlock.hash(1L, ints.updated(i, 1)),
          MatrixBlock.hash(1L, floats.updated(i, -0.0f)),
          MatrixBlock.hash(1L, doubles.updated(i, -0.0)))
      }
      val others = Seq(
        MatrixBlock.hash(1L, ints),
        MatrixBlock.hash(2L, ints),
        MatrixBlock.hash(1L, null: Array[Double]),
        MatrixBlock.hash(1L, new Array[Float](length + 1)))
      assert((changed ++ others).distinct.size == 3 * length + others.size, length)
    }
  }

  // ---- bad input ----

  private def mutated(change: SparseVector => Unit): SparseVector = {
    val vector = new SparseVector(4, Array(0, 2), Array(1.0, 2.0))
    change(vector)
    vector
  }

  for {
    (what, bad, column, parts) <- Seq[(String, LabeledRow, String, Seq[String])](
      ("NaN in a dense vector", row(1, 0, 0, 0, Double.NaN), "terms", Seq("NaN", "index 3", "Imputer")),
      ("infinity in a dense vector", row(1, 0, Double.PositiveInfinity, 0, 0), "terms", Seq("Infinity", "index 1")),
      ("NaN in a sparse vector", LabeledRow(1, 1, mutated(_.values(1) = Double.NaN)), "terms", Seq("NaN", "index 2")),
      ("an index out of range", LabeledRow(1, 1, mutated(_.indices(1) = 4)), "terms", Seq("index 4", "length 4")),
      ("a negative index", LabeledRow(1, 1, mutated(_.indices(0) = -1)), "terms", Seq("index -1", "length 4")),
      (
        "a repeated index",
        LabeledRow(1, 1, mutated(_.indices(1) = 0)),
        "terms",
        Seq("index 0 after index 0", "ascend")),
      (
        "unsorted indices",
        LabeledRow(1, 1, mutated(_.indices(0) = 3)),
        "terms",
        Seq("index 2 after index 3", "ascend")),
      ("a shorter vector", row(1, 0, 0), "terms", Seq("length 2", "4 was expected")),
      ("a longer vector", row(1, 0, 0, 0, 0, 1), "terms", Seq("length 5", "4 was expected")),
      ("no vector", LabeledRow(1, 1, null), "terms", Seq("null", "Drop")),
      ("a NaN label", row(Double.NaN, 0, 0, 0, 0), "size", Seq("label NaN", "finite")),
      ("an infinite label", row(Double.NegativeInfinity, 0, 0, 0, 0), "size", Seq("label -Infinity", "finite")),
      ("a negative weight", row(1, 0, 0, 0, 0).copy(weight = -0.5), "importance", Seq("weight -0.5", "not negative")),
      ("a NaN weight", row(1, 0, 0, 0, 0).copy(weight = Double.NaN), "importance", Seq("weight NaN")),
      (
        "a bad value in a row of weight 0",
        row(1, 0, Double.NaN, 0, 0).copy(weight = 0.0),
        "terms",
        Seq("NaN", "index 1")))
  } test(s"refused with column, row and fix: $what") {
    val good = row(1, 0, 1, 2, 3)
    val data = rdd(Seq(Seq(good), Seq(good, good, bad, good), Seq(good, bad)))
    val error = intercept[IllegalArgumentException](read(data, 4))
    for (part <- s"Column '$column'" +: "row 2 of partition 1" +: parts) {
      assert(error.getMessage.contains(part), error.getMessage)
    }
    assert(error.getMessage.count(_ == '\n') == 0)
  }

  test("a bad row behind the first block is named by its number in the source partition, and ends the reading") {
    val n = 4096
    val rows = Iterator.tabulate(200) { i =>
      LabeledRow(if (i == 150) Double.NaN else 1.0, 1.0, Vectors.dense(Array.fill(n)(i + 1.0))).toInternal
    }
    val blocks = RowBlockBuilder.read(3, n, rows, ColumnNames()).toSeq
    assert(blocks.size == 2 && blocks.head.problem == null && blocks.head.rows == 128 && blocks.last.rows == 0)
    assert(blocks.last.problem.contains("row 150 of partition 3") && rows.size == 49)
  }

  test("refused: no rows, and no rows of positive weight") {
    for (empty <- Seq(sc.emptyRDD[LabeledRow], rdd[LabeledRow](Seq(Nil, Nil)))) {
      val error = intercept[IllegalArgumentException](read(empty, 4))
      assert(error.getMessage.contains("no rows"))
    }
    val weightless = rdd(Seq(Seq(row(1, 2).copy(weight = 0.0)), Nil, Seq(row(1, 2).copy(weight = 0.0))))
    val error = intercept[IllegalArgumentException](read(weightless, 1))
    assert(error.getMessage.contains("all weights are zero") && error.getMessage.contains("importance"))
  }

  test("refused: more rows or more features than an array or a shared vector has room for") {
    DataLimits.checkAnyRow(5000000000L, 4000000000L, ColumnNames())
    val room = ResultHeader.MAX_ENTRIES
    assert(DataLimits.checkSharedRows(room.toLong) == room)
    for (rows <- Seq(room + 1L, 4000000000L)) {
      val shared = intercept[IllegalArgumentException](DataLimits.checkSharedRows(rows))
      assert(shared.getMessage.contains(s"$rows rows") && shared.getMessage.contains("orientation=dual"))
    }
    DataLimits.checkSharedFeatures(room, ColumnNames())
    val wide = intercept[IllegalArgumentException](DataLimits.checkSharedFeatures(room + 1, ColumnNames()))
    assert(wide.getMessage.contains(s"length ${room + 1}") && wide.getMessage.contains("orientation=primal"))
    for (numFeatures <- Seq(Int.MaxValue, -1)) {
      val one = rdd(Seq(Seq(LabeledRow(1, 1, Vectors.sparse(Int.MaxValue, Array(5), Array(1.0))))))
      val features = intercept[IllegalArgumentException](read(one, numFeatures))
      assert(features.getMessage.contains(s"$numFeatures") && features.getMessage.contains("'terms'"))
    }
  }

  test("refused: numbers whose moments leave the range of a double") {
    def failure(rows: LabeledRow*): String =
      intercept[IllegalArgumentException](read(Seq(rows))).getMessage
    using(read(Seq(Seq(row(1, 1, 1e200), row(2, 2, 0))))) { large =>
      for (make <- Seq[TrainingRows => Any](_.columns(2), _.scaled(2, RowForm(0.0, true, Labels.Real)))) {
        val huge = intercept[IllegalArgumentException](make(large)).getMessage
        assert(huge.contains("'terms', index 1") && huge.contains("Scale"))
      }
    }
    assert(failure(row(1e200, 1, 2), row(2, 2, 1)).contains("'size'"))
    val heavy = row(1, 1, 2).copy(weight = 1e300)
    assert(failure(heavy, heavy.copy(label = 2)).contains("'importance'"))
    assert(failure(row(1, 1, 2).copy(weight = 1e-200)).contains("'importance'"))
  }

  test("a failed fit leaves nothing cached") {
    val before = sc.getPersistentRDDs.keySet
    intercept[IllegalArgumentException](read(Seq(Seq(row(Double.NaN, 1)))))
    val rows = read(Seq(Seq(row(1, 1e200), row(2, 1))))
    val cached = sc.getPersistentRDDs.keySet
    intercept[IllegalArgumentException](rows.columns(1))
    intercept[IllegalArgumentException](rows.scaled(1, RowForm(0.0, intercept = true, labels = Labels.Real)))
    assert(sc.getPersistentRDDs.keySet == cached, "the rows, and nothing else")
    rows.unpersist()
    assert(sc.getPersistentRDDs.keySet == before)
  }

  test("only exceptions that are meant for the user are taken out of Spark's wrapper") {
    def failing(e: => Exception): Unit = sc.parallelize(Seq(1), 1).foreach(_ => throw e)
    val mine = intercept[InputChangedException](TaskFailure.unwrapped(failing(new InputChangedException("mine"))))
    assert(mine.getMessage == "mine" && mine.getSuppressed.head.isInstanceOf[SparkException])
    intercept[SparkException](TaskFailure.unwrapped(failing(new IllegalStateException("other"))))
  }
}
