package dwell.data

import java.io.{ByteArrayInputStream, ByteArrayOutputStream, ObjectInputStream, ObjectOutputStream}
import java.util.concurrent.atomic.AtomicInteger

import org.apache.spark.SparkConf
import org.apache.spark.ml.linalg.Vectors
import org.apache.spark.rdd.RDD
import org.apache.spark.serializer.KryoSerializer

import dwell.{CheckLong, SparkSuite}
import dwell.base.LittleEndian
import dwell.data.block.{ColumnNames, LabeledRow, RowBlockBuilder}
import dwell.data.matrix.{ExcludedFeatures, PartitionForm}
import dwell.data.merge.{MatrixPiece, RowDistribution}
import dwell.data.moments.{MergedMoments, MomentPiece}
import dwell.data.rows._
import dwell.problem.Labels
import dwell.spark.{InputChangedException, TaskFailure}

/** Rows by partition, in the forms that the solvers take. */
class RowDatasetSuite extends SparkSuite {
  import TestData.{row, Values}

  private def rdd(blocks: Seq[Seq[LabeledRow]]): RDD[LabeledRow] =
    sc.parallelize(blocks, blocks.size).flatMap(identity)

  private def read(blocks: Seq[Seq[LabeledRow]]): TrainingRows =
    TrainingReader.read(rdd(blocks).map(_.toInternal), blocks.flatten.head.features.size, "test")

  private def rows[T](blocks: Seq[Seq[LabeledRow]], numPartitions: Int, form: RowForm)(use: RowDataset => T): T = {
    val training = read(blocks)
    try use(training.rows(numPartitions, form))
    finally training.unpersist()
  }

  private def close(a: Double, b: Double): Boolean =
    math.abs(a - b) <= RowDatasetSuite.Rounding * math.max(1.0, math.max(a.abs, b.abs))

  private def close(a: Array[Double], b: Array[Double]): Boolean =
    a.length == b.length && a.zip(b).forall { case (x, y) => close(x, y) }

  private val forms = for {
    scaleFactor <- Seq(0.0, 1.0, 1.25)
    intercept <- Seq(false, true)
    labels <- Seq(Labels.Real, Labels.Signed)
  } yield RowForm(scaleFactor, intercept, labels)

  /** Random rows with labels 0 and 1, those of label 0 first if `sorted`. */
  private def binary(rows: Seq[LabeledRow], sorted: Boolean = false): Seq[LabeledRow] = {
    val labelled = rows.map(r => r.copy(label = if (r.label > 0.3) 1.0 else 0.0))
    if (sorted) labelled.sortBy(_.label) else labelled
  }

  /** Compares with the definitions, computed from dense rows. */
  private def check(data: RowDataset, blocks: Seq[Seq[LabeledRow]], form: RowForm): Unit = {
    val kept = blocks.flatten.filter(_.weight > 0.0).toArray
    val x = kept.map(_.features.toArray)
    val n = x.head.length
    val s = kept.map(_.weight)
    val total = s.sum
    val constant = Array.tabulate(n)(j => x.map(_(j)).distinct.length == 1)
    def sum(term: Int => Double): Double = kept.indices.map(term).sum
    val mean = Array.tabulate(n)(j => if (constant(j)) 0.0 else sum(i => s(i) * x(i)(j)) / total)
    val variance = Array.tabulate(n)(j => sum(i => s(i) * math.pow(x(i)(j) - mean(j), 2)) / total)
    val scale = Array.tabulate(n) { j =>
      if (form.scaleFactor == 0.0) 1.0 else if (constant(j)) 0.0 else 1.0 / (form.scaleFactor * variance(j))
    }
    if (form.scaleFactor == 0.0) assert(data.summary.scale == null && data.scaleBroadcast == null)
    else {
      assert(close(data.summary.scale, scale) && data.scaleBroadcast.value.sameElements(data.summary.scale))
      assert((0 until n).forall(j => (data.summary.scale(j) == 0.0) == constant(j)))
    }
    if (form.intercept) assert(close(data.summary.mean, mean)) else assert(data.summary.mean == null)
    val meanScaleMean = if (form.intercept) (0 until n).map(j => scale(j) * mean(j) * mean(j)).sum else 0.0
    assert(close(data.summary.meanScaleMean, meanScaleMean))

    val varying = (0 until n).filterNot(constant(_))
    val norms = x.map(r => varying.map(j => scale(j) * r(j) * r(j)).sum)
    val projections = x.map(r => varying.map(j => scale(j) * mean(j) * r(j)).sum)
    val centredNorms =
      kept.indices.map(i => if (form.intercept) norms(i) - 2 * projections(i) + meanScaleMean else norms(i))
    assert(close(data.summary.meanSquareNorm, sum(i => s(i) * centredNorms(i)) / total))
    if (form.labels == Labels.Signed) {
      def classSum(label: Double): Array[Double] =
        Array.tabulate(n)(j => if (constant(j)) 0.0 else sum(i => if (kept(i).label == label) s(i) * x(i)(j) else 0.0))
      assert(
        close(data.summary.classSums.positive, classSum(1.0)) && close(data.summary.classSums.negative, classSum(0.0)))
      assert(close(data.summary.classSums.positiveWeight, sum(i => if (kept(i).label == 1.0) s(i) else 0.0)))
    } else assert(data.summary.classSums == null)

    val partitions = data.partitions.collect()
    assert(data.numPartitions == partitions.length && partitions.map(_.index).sameElements(partitions.indices))
    assert(data.nonzerosPerPartition.sameElements(partitions.map(_.nonzeros.toLong)))
    assert(close(data.summary.weightPerPartition, partitions.map(_.rows.map(r => s(r.toInt)).sum)))
    val holders = Array.tabulate(n) { j =>
      partitions.count(p => p.rows.indices.exists(TestData.stored(p, _).exists(e => e._1 == j && e._2 != 0.0)))
    }
    assert(data.holders.sameElements(holders))
    assert(data.summary.rowsPerPartition.sameElements(partitions.map(_.numRows)))
    assert(data.nonzeros == partitions.map(_.nonzeros.toLong).sum && data.held.data == partitions.map(_.bytes).sum)
    assert(partitions.flatMap(_.rows).sorted.sameElements(kept.indices.map(_.toLong)), "every row is in one partition")
    assert(
      data.summary.rowsPerPartition.max - data.summary.rowsPerPartition.min <= 2,
      "groups of K rows, the last one incomplete")
    partitions.foreach { p =>
      assert(p.features == n && p.offsets.length == p.numRows + 1 && p.offsets.last == p.nonzeros && p.offsets(0) == 0)
      assert(p.rows.sorted.sameElements(p.rows))
      assert((p.weights == null) == s.forall(_ == 1.0) && (p.projections != null) == form.intercept)
      val values = Array.tabulate(p.nonzeros)(p.value)
      assert((p.values32 == null && p.values64 == null) == (!p.isDense && values.forall(_ == 1.0)))
      assert((p.values64 != null) == values.exists(v => v.toFloat.toDouble != v))
      for (i <- 0 until p.numRows) {
        val r = p.rows(i).toInt
        assert(RowDistribution.partitionOf(r, partitions.length) == p.index)
        val entries = (0 until n).map(j => (j, if (constant(j)) 0.0 else x(r)(j)))
        assert(TestData.stored(p, i) == (if (p.isDense) entries else entries.filter(_._2 != 0.0)))
        assert(p.labels(i) == (if (form.labels == Labels.Signed) 2.0 * kept(r).label - 1.0 else kept(r).label))
        if (p.weights != null) assert(p.weights(i) == s(r))
        assert(close(p.norms(i), norms(r)))
        if (form.intercept) assert(close(p.projections(i), projections(r)))
      }
    }
  }

  /** Everything in a dataset, bit by bit. */
  private def content(data: RowDataset): Seq[Any] = {
    def bits(array: Array[Double]): Any =
      if (array == null) "null" else array.toSeq.map(java.lang.Double.doubleToRawLongBits)
    val partitions = data.partitions.collect().toSeq.map { p =>
      val integers = Seq(p.rows, p.offsets, p.indices).map(Option(_).map(_.toSeq))
      val doubles = Seq(Array.tabulate(p.nonzeros)(p.value), p.labels, p.weights, p.norms, p.projections).map(bits)
      (integers, doubles)
    }
    val sums = Option(data.summary.classSums).toSeq.flatMap(c => Seq(c.positive, c.negative))
    partitions ++ (Seq(
      data.summary.scale,
      data.summary.mean,
      Array(data.summary.meanScaleMean, data.summary.meanSquareNorm)) ++ sums).map(bits)
  }

  /** A data set, and what is made of it. */
  private case class Arrangement(
      data: Data,
      numPartitions: Int,
      scaleFactor: Double,
      intercept: Boolean,
      labels: Labels) {
    def form: RowForm = RowForm(scaleFactor, intercept, labels)
  }

  private case class Data(values: Values, weighted: Boolean, dense: Boolean, density: Double)

  /** Every number of partitions, and every value of each part of a form, of every data set. */
  private val arrangements = {
    val all = for {
      values <- Seq[Values](Values.Ones, Values.Singles, Values.Doubles)
      weighted <- Seq(false, true)
      dense <- Seq(false, true)
      // With the second three quarters of the columns are full.
      density <- Seq(0.15, 2.0)
      numPartitions <- Seq(1, 2, 3, 8)
      form <- forms
    } yield Arrangement(
      Data(values, weighted, dense, density),
      numPartitions,
      form.scaleFactor,
      form.intercept,
      form.labels)
    CheckLong.pairsWithin(all)
  }

  for (set @ Data(values, weighted, dense, density) <- arrangements.map(_.data).distinct)
    test(s"rows equal their definition: $values, weighted = $weighted, dense = $dense, density = $density") {
      val seed = 40 + Seq(Values.Ones, Values.Singles, Values.Doubles).indexOf(values)
      val all = binary(TestData.random(seed, 60, 37, density, values, weighted, dense))
      val blocks = Seq(all.take(11), Nil, all.slice(11, 50), all.drop(50), Nil)
      val training = read(blocks)
      try {
        for (arrangement <- arrangements if arrangement.data == set) {
          val data = training.rows(arrangement.numPartitions, arrangement.form)
          if (values != Values.Ones) assert(data.partitions.collect().forall(p => p.isDense == (density > 1.0)))
          check(data, blocks, arrangement.form)
        }
      } finally training.unpersist()
    }

  test("every form of rows equals its definition, in one partition and in several") {
    val blocks = binary(TestData.random(41, 60, 37, 0.15, weighted = true)).grouped(20).toSeq
    val training = read(blocks)
    try for (form <- forms; numPartitions <- Seq(1, 3)) check(training.rows(numPartitions, form), blocks, form)
    finally training.unpersist()
  }

  test("labels are taken as they are where they are no classes") {
    val blocks = TestData.random(7, 40, 9, 0.4, weighted = true).grouped(15).toSeq
    for (form <- forms if form.labels == Labels.Real) rows(blocks, 3, form)(check(_, blocks, form))
  }

  test("one row, no feature, constant features only, more partitions than rows") {
    val sets = Seq(
      Seq(Seq(row(1.0, 3.0, 0.0))),
      Seq(Seq(row(1.0), row(0.0))),
      Seq(Nil, Seq(row(1.0, 1.0, 5.0), row(0.0, 2.0, 5.0), row(1.0, 1.0, 5.0))),
      Seq(Seq(row(1.0, 7.0, 0.0)), Seq(row(1.0, 7.0, 0.0))),
      Seq(Seq(row(1.0, 0.0), row(1.0, 0.0))))
    val all = for {
      set <- sets.indices
      numPartitions <- Seq(1, 4)
      form <- forms
    } yield (set, numPartitions, form.scaleFactor, form.intercept, form.labels)
    for ((set, numPartitions, scaleFactor, intercept, labels) <- CheckLong.pairsWithin(all)) {
      val form = RowForm(scaleFactor, intercept, labels)
      rows(sets(set), numPartitions, form) { data =>
        assert(data.numPartitions == numPartitions)
        check(data, sets(set), form)
      }
    }
  }

  test("rows of weight 0 count for nothing, explicit zeros are not stored") {
    val kept = binary(TestData.random(3, 20, 6, 0.5))
    val left = kept.map(r => r.copy(weight = 0.0, features = Vectors.dense(Array.fill(6)(9.0))))
    val zeros = LabeledRow(1.0, 1.0, Vectors.sparse(6, Array(1, 3, 4), Array(0.0, 2.0, -0.0)))
    val blocks = Seq(left.take(5) ++ kept.take(10), left.drop(5), zeros +: kept.drop(10))
    for (form <- forms) rows(blocks, 2, form) { data =>
      check(data, blocks, form)
      assert(data.nonzeros == kept.map(_.features.numNonzeros.toLong).sum + 1)
    }
  }

  test("each partition gets its share of either class, though labels are sorted") {
    val sorted = binary(TestData.random(5, 1000, 4, 0.5), sorted = true)
    for (numPartitions <- Seq(2, 3, 8)) {
      rows(sorted.grouped(300).toSeq, numPartitions, RowForm(0.0, intercept = false, labels = Labels.Signed)) { data =>
        val positive = data.partitions.collect().map(_.labels.count(_ > 0.0))
        assert(positive.max - positive.min <= 2)
      }
    }
  }

  test("mixed rows are the same rows, always in the same order, and no stretch of them has one class only") {
    val sorted = binary(TestData.random(5, 1000, 4, 0.5), sorted = true).grouped(300).toSeq
    val form = RowForm(1.0, intercept = true, labels = Labels.Signed)
    def entries(p: RowPartition): Seq[Any] = p.rows.indices.map { i =>
      val at = p.offsets(i) until p.offsets(i + 1)
      val values = if (p.values64 != null) at.map(p.values64(_)) else at.map(p.values32(_))
      (p.rows(i), at.map(p.indices(_)), values, p.labels(i), Option(p.weights).map(_(i)), p.norms(i), p.projections(i))
    }
    def parts(form: RowForm) = rows(sorted, 2, form)(_.partitions.collect().toSeq)
    val (plain, mixed) = (parts(form), parts(form.copy(mixed = true)))
    assert(mixed.map(entries) == parts(form.copy(mixed = true)).map(entries))
    plain.zip(mixed).foreach { case (a, b) =>
      assert(a.rows.toSeq != b.rows.toSeq && entries(a).toSet == entries(b).toSet && b.rows.length == a.rows.length)
      assert(b.labels.grouped(64).forall(labels => labels.length < 64 || labels.distinct.length == 2))
      assert(a.labels.grouped(64).exists(_.distinct.length == 1))
    }
  }

  test("a pattern that repeats in the rows does not repeat in a partition") {
    for (numPartitions <- Seq(2, 4, 8); period <- Seq(2, 4, 8, 10)) {
      val ofPattern = (0 until 8000 by period).map(row => RowDistribution.partitionOf(row.toLong, numPartitions))
      val counts = (0 until numPartitions).map(k => ofPattern.count(_ == k))
      val expected = ofPattern.size.toDouble / numPartitions
      // Six deviations of a binomial count.
      assert(
        counts.forall(c => math.abs(c - expected) <= 6.0 * math.sqrt(expected)),
        s"$numPartitions, $period: $counts")
    }
  }

  test("any K rows from a multiple of K on go to K partitions, up to the last row that can be numbered") {
    for (numPartitions <- Seq(1, 2, 7, 64, 1000);
      first <- Seq(0L, 1000000L, Int.MaxValue.toLong, Long.MaxValue - 3000L)) {
      val start = first / numPartitions * numPartitions
      val partitions = (start until start + numPartitions).map(RowDistribution.partitionOf(_, numPartitions))
      assert(partitions.sorted == (0 until numPartitions))
    }
    assert(RowDistribution.partitionOf(Long.MaxValue, Int.MaxValue) >= 0)
  }

  test("the same data gives the same bits in every run, whatever the order in which the shuffle delivers") {
    val blocks = binary(TestData.random(8, 300, 50, 0.3, weighted = true)).grouped(20).toSeq
    val form = RowForm(1.0, intercept = true, labels = Labels.Signed)
    val first = rows(blocks, 3, form)(content)
    for (_ <- 0 until 4) assert(rows(blocks, 3, form)(content) == first)
  }

  test("rows in any order of their pieces give the same bits") {
    val blocks = binary(TestData.random(9, 90, 20, 0.4, weighted = true)).grouped(10).toSeq
    val read = blocks.zipWithIndex.map { case (b, index) =>
      RowBlockBuilder.read(index, 20, b.iterator.map(_.toInternal), ColumnNames()).next()
    }
    val firstRows = read.scanLeft(0L)(_ + _.matrix.rows)
    val none = ExcludedFeatures.None
    val facts =
      read.flatMap(b => RowFacts.of(b, firstRows(b.at.partition).toLong, none, 2)).collect { case (0, f) => f }
    val pieces =
      read.flatMap(b => MatrixPiece.cut(b.matrix, firstRows(b.at.partition).toLong, none, 2)).collect { case (0, p) =>
        p
      }
    def rowsOf(facts: Seq[RowFacts], pieces: Seq[MatrixPiece]): RowPartition = {
      val merge =
        new RowMerge(20, weighted = true, labels = Labels.Signed, mixed = false, PartitionForm.Choice.Smallest)
      merge.dealt(0, 2, firstRows.last.toLong, facts.iterator, pieces.iterator, null, null)
    }
    val (a, b) = (rowsOf(facts, pieces), rowsOf(facts.reverse, pieces.reverse))
    assert(a.rows.sameElements(b.rows) && a.indices.sameElements(b.indices) && a.norms.sameElements(b.norms))
    assert(a.labels.sameElements(b.labels) && a.weights.sameElements(b.weights))
  }

  test("rows beyond those that an Int numbers keep their numbers and their partitions") {
    val first = 3L * Int.MaxValue
    val block =
      RowBlockBuilder.read(5, 2, Iterator.tabulate(40)(j => row(j % 2, j + 1.0, 1.0).toInternal), ColumnNames()).next()
    val facts = RowFacts.of(block, first, new ExcludedFeatures(Array.emptyIntArray, 2), 3).toSeq
    assert(facts.map(_._2.labels.length).sum == 40)
    facts.foreach { case (k, f) =>
      val own = (0 until 40).filter(j => RowDistribution.partitionOf(first + j, 3) == k)
      assert(f.labels.sameElements(own.map(_ % 2.0)))
      val numbered = Seq.newBuilder[Long]
      RowDistribution.eachRow(k, 3, first, first + 40)((row, _) => numbered += row)
      assert(numbered.result() == own.map(first + _))
      assert(RowDistribution.size(k, 3, first) == first / 3)
    }
  }

  test("a feature with a nonzero in each of more rows than an Int counts has no zeros") {
    // The sums of the weights differ by rounding, and the mean would make much of it.
    val most = Int.MaxValue
    val pieces = Iterator.fill(3) {
      val values = Seq(0.1 * most, 1e9, 0.0).map(Array(_))
      new MomentPiece(Array(0), Array(most.toLong), values(0), values(1), values(2), null, null)
    }
    val total = 0.3 * most * (1.0 + 1e-12)
    val packed = new MergedMoments(0, 1, pieces, 3L * most, total, binary = false).packed
    assert(LittleEndian.doubles(packed.variance).head == 0.0 && LittleEndian.doubles(packed.mean).head == 1e9)
  }

  test("moments are merged by ranges of columns") {
    // Two ranges need more columns than one task merges, and more than one block.
    val n = 10000
    val wide = Seq.tabulate(40) { i =>
      LabeledRow(
        i % 2,
        1.0 + i % 3,
        Vectors.sparse(n, Array(i, 4095, 4096, 5000, 5001, n - 1), Array.tabulate(6)(i * 0.1 + _)))
    }
    val form = RowForm(1.0, intercept = true, labels = Labels.Signed)
    val blocks = wide.grouped(9).toSeq
    rows(blocks, 2, form)(check(_, blocks, form))
  }

  test("the variance of a dense feature far from zero is exact") {
    val far = (0 until 1000).map(j => LabeledRow(j, 0.1 + j % 7, Vectors.dense(1e9 + j % 2, j % 3)))
    val total = far.map(_.weight).sum
    val ones = far.filter(_.features(0) != 1e9).map(_.weight).sum / total
    rows(far.grouped(100).toSeq, 1, RowForm(1.0, intercept = true, labels = Labels.Real)) { data =>
      assert(math.abs(1.0 / data.summary.scale(0) - ones * (1 - ones)) < 1e-9)
    }
  }

  test("a feature is constant only if all rows have exactly the same value; huge constants do no harm") {
    val almost = Math.nextUp(0.1)
    val blocks = Seq(Seq(row(0, 0.1, 0.1, 1e300)), Seq(row(1, 0.1, almost, 1e300), row(0, 0.1, 0.1, 1e300)))
    for (form <- Seq(RowForm(0.0, true, Labels.Signed), RowForm(1.0, true, Labels.Signed))) rows(blocks, 1, form) {
      data =>
        assert(data.partitions.first().indices.sameElements(Array(1, 1, 1)))
        assert(data.summary.mean(0) == 0.0 && data.summary.mean(2) == 0.0 && data.summary.classSums.negative(2) == 0.0)
        if (data.summary.scale != null)
          assert(data.summary.scale(0) == 0.0 && data.summary.scale(1) > 0.0 && data.summary.scale(2) == 0.0)
    }
  }

  test("a feature whose variance is lost to underflow is as good as constant") {
    val blocks = Seq(Seq(row(0, 1e-170, 1.0), row(1, -1e-170, 2.0)))
    for (form <- forms) rows(blocks, 2, form) { data =>
      val partitions = data.partitions.collect().toSeq
      assert(partitions.flatMap(TestData.stored(_, 0)).filter(_._2 != 0.0) == Seq((1, 1.0), (1, 2.0)))
    }
  }

  test("the number of partitions is chosen where it is not said") {
    rows(Seq(binary(TestData.random(1, 20, 5, 0.5))), 0, forms.head)(data => assert(data.numPartitions == 1))
  }

  test("a partition survives Java's and Kryo's serialisers") {
    val blocks = Seq(binary(TestData.random(1, 20, 9, 0.3, Values.Singles, weighted = true)))
    val p = rows(blocks, 1, RowForm(1.0, true, Labels.Signed))(_.partitions.first())
    val bytes = new ByteArrayOutputStream()
    new ObjectOutputStream(bytes).writeObject(p)
    val java =
      new ObjectInputStream(new ByteArrayInputStream(bytes.toByteArray)).readObject().asInstanceOf[RowPartition]
    val serializer = new KryoSerializer(new SparkConf()).newInstance()
    val kryo = serializer.deserialize[RowPartition](serializer.serialize(p))
    for (copy <- Seq(java, kryo)) {
      assert(copy.rows.sameElements(p.rows) && copy.offsets.sameElements(p.offsets))
      assert(copy.indices.sameElements(p.indices) && copy.values32.sameElements(p.values32) && copy.values64 == null)
      assert(copy.labels.sameElements(p.labels) && copy.weights.sameElements(p.weights))
      assert(copy.norms.sameElements(p.norms) && copy.projections.sameElements(p.projections))
    }
  }

  test("lost rows are computed again, unless the source has changed meanwhile") {
    val base = binary(TestData.random(4, 30, 6, 0.5))
    val reads = RowDatasetSuite.reads
    val form = RowForm(1.0, intercept = true, labels = Labels.Signed)
    for (changing <- Seq(false, true)) {
      reads.set(0)
      val source = sc.parallelize(Seq(0), 1).flatMap { _ =>
        val read = RowDatasetSuite.reads.getAndIncrement()
        if (changing && read > 0) base.map(r => r.copy(label = 1.0 - r.label)) else base
      }
      val training = TrainingReader.read(source.map(_.toInternal), 6, "test")
      val data = training.rows(2, form)
      val first = content(data)
      assert(reads.get == 1, "rows are read once")
      TestData.loseCached(sc)
      if (changing) {
        val error = intercept[InputChangedException](TaskFailure.unwrapped(data.partitions.count()))
        assert(error.getMessage.contains("Partition 0") && error.getMessage.contains("checkpoint"))
        // Rows other than those with known labels give no new data either.
        intercept[InputChangedException](training.rows(3, form))
        intercept[InputChangedException](training.columns(2))
      } else {
        assert(content(data) == first)
        assert(reads.get == 2, "rows are read again once")
      }
      training.unpersist()
    }
  }

  test("refused: signed labels where there are no two classes, numbers that leave the range of a double") {
    def failure(form: RowForm, rows: LabeledRow*): String = {
      val training =
        TrainingReader.read(rdd(Seq(rows)).map(_.toInternal), 2, "test", ColumnNames("terms", "size", "importance"))
      try intercept[IllegalArgumentException](training.rows(2, form)).getMessage
      finally training.unpersist()
    }
    val labels = failure(RowForm(0.0, false, Labels.Signed), row(1, 1, 2), row(2, 3, 4))
    assert(labels.contains("'size'") && labels.contains("label 2.0 in row 1") && labels.contains("StringIndexer"))
    val far =
      failure(RowForm(0.0, false, Labels.Signed), row(1, 1e150, 2), row(1, 1e155, 2), row(0, 1e155 * (1.0 + 1e-10), 3))
    assert(far.contains("'terms', index 0"))
    // The squares of the values leave the range; the squares of their differences do not.
    val near = failure(RowForm(0.0, false, Labels.Signed), row(1, 1e155, 2), row(0, 1e155 * (1.0 + 1e-10), 3))
    assert(near.contains("'terms', row ") && near.contains("squared norm") && near.contains("Scale"))
    val flat = failure(RowForm(1.0, false, Labels.Signed), row(1, 1e-155, 2), row(0, 0, 3))
    assert(flat.contains("'terms', index 0") && flat.contains("Scale"))
    for (factor <- Seq(-1.0, Double.NaN, Double.PositiveInfinity)) {
      assert(
        intercept[IllegalArgumentException](RowForm(factor, true, Labels.Signed)).getMessage.contains("scaleFactor"))
    }
  }
}

object RowDatasetSuite {

  /** Sums of a few hundred terms in another order, and variances by another formula, differ by some ulps. */
  private val Rounding = 1e-11

  /** How often the source of a test was read; the tasks of local mode share this counter. */
  val reads = new AtomicInteger()
}
