package dwell.data

import org.apache.spark.ml.linalg.Vectors

import dwell.CheckLong
import dwell.data.block.LabeledRow
import dwell.data.moments.{MergedMoments, MomentPiece, ValueMoments}
import dwell.data.rows.RowForm
import dwell.problem.Labels
import dwell.spark.{InputChangedException, TaskFailure}

/** Rows in blocks for steps along rows: where they come to, and the sums and scales that go with them. */
class ScaledRowsSuite extends Reading {
  import Reading.reads
  import TestData.{row, Values}

  private def rows[T](blocks: Seq[Seq[LabeledRow]], workers: Int, form: RowForm)(use: ScaledRows => T): T =
    using(read(blocks))(training => use(training.scaled(workers, form)))

  private def close(a: Double, b: Double): Boolean =
    math.abs(a - b) <= ScaledRowsSuite.Rounding * math.max(1.0, math.max(a.abs, b.abs))

  private def close(a: Array[Double], b: Array[Double]): Boolean =
    a.length == b.length && a.zip(b).forall { case (x, y) => close(x, y) }

  private val forms = for {
    scaleFactor <- Seq(0.0, 1.0, 1.25)
    intercept <- Seq(false, true)
    labels <- Seq(Labels.Real, Labels.Signed)
    mixed <- Seq(false, true)
  } yield RowForm(scaleFactor, intercept, labels, mixed)

  /** Random rows with labels 0 and 1, those of label 0 first if `sorted`. */
  private def binary(rows: Seq[LabeledRow], sorted: Boolean = false): Seq[LabeledRow] = {
    val labelled = rows.map(r => r.copy(label = if (r.label > 0.3) 1.0 else 0.0))
    if (sorted) labelled.sortBy(_.label) else labelled
  }

  /** Features, label and weight. */
  private type Row = (Seq[Double], Double, Double)

  private def partsOf(data: ScaledRows): Seq[RowData] =
    data.partitions.collect().toSeq.map { case part: RowData => part; case other => fail(s"$other") }

  /** The rows of a worker, in their order. */
  private def rowsOf(part: RowData): Seq[Row] = part.blocks.toSeq.flatMap { block =>
    block.labels.indices.map { i =>
      val x = new Array[Double](part.features)
      TestData.stored(block, part.features, i).foreach { case (j, value) => x(j) = value }
      (x.toSeq, block.labels(i), if (block.weights == null) 1.0 else block.weights(i))
    }
  }

  private def rowOf(r: LabeledRow): Row = (r.features.toArray.toSeq, r.label, r.weight)

  private def times(rows: Seq[Row]): Map[Row, Int] = rows.groupBy(identity).map { case (row, same) => row -> same.size }

  /** Compares with the definitions, computed from dense rows. */
  private def check(data: ScaledRows, blocks: Seq[Seq[LabeledRow]], form: RowForm): Unit = {
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
      if (constant(j)) 0.0 else if (form.scaleFactor == 0.0) 1.0 else 1.0 / (form.scaleFactor * variance(j))
    }
    val summary = data.summary
    // A constant of 0 needs no scale.
    if (summary.scale == null)
      assert(form.scaleFactor == 0.0 && (0 until n).forall(j => !constant(j) || x(0)(j) == 0.0))
    else assert(close(summary.scale, scale))
    if (form.intercept) assert(close(summary.mean, mean)) else assert(summary.mean == null)
    val meanScaleMean = if (form.intercept) (0 until n).map(j => scale(j) * mean(j) * mean(j)).sum else 0.0
    assert(close(summary.meanScaleMean, meanScaleMean))
    val norms =
      x.map(r => (0 until n).map(j => scale(j) * math.pow(r(j) - (if (form.intercept) mean(j) else 0.0), 2)).sum)
    assert(close(summary.meanSquareNorm, sum(i => s(i) * norms(i)) / total))
    if (form.labels == Labels.Signed) {
      def classSum(label: Double): Array[Double] =
        Array.tabulate(n)(j => if (constant(j)) 0.0 else sum(i => if (kept(i).label == label) s(i) * x(i)(j) else 0.0))
      assert(close(summary.classSums.positive, classSum(1.0)))
      assert(close(summary.classSums.positiveWeight, sum(i => if (kept(i).label == 1.0) s(i) else 0.0)))
    } else assert(summary.classSums == null)

    val parts = partsOf(data)
    val own = parts.map(rowsOf)
    assert(times(own.flatten) == times(kept.toSeq.map(rowOf)), "each row is with one worker")
    assert(parts.map(_.index) == parts.indices && summary.numPartitions == parts.size)
    assert(summary.rowsPerPartition.toSeq == own.map(_.size) && parts.map(_.coordinates) == own.map(_.size))
    assert(close(summary.weightPerPartition, own.map(_.map(_._3).sum).toArray))
    assert(summary.nonzerosPerPartition.toSeq == own.map(_.map(_._1.count(_ != 0.0)).sum))
    assert(data.holders.toSeq == (0 until n).map(j => own.count(_.exists(_._1(j) != 0.0))))
    parts.foreach { part =>
      assert(part.features == n && part.isClassified == (form.labels == Labels.Signed))
      assert(Option(part.scale).map(_.toSeq) == Option(summary.scale).map(_.toSeq))
      assert(Option(part.mean).map(_.toSeq) == (if (form.mixed) None else Option(summary.mean).map(_.toSeq)))
    }
  }

  /** A data set, and what is made of it. */
  private case class Arrangement(
      data: Data,
      workers: Int,
      scaleFactor: Double,
      intercept: Boolean,
      labels: Labels,
      mixed: Boolean) {
    def form: RowForm = RowForm(scaleFactor, intercept, labels, mixed)
  }

  private case class Data(values: Values, weighted: Boolean, dense: Boolean, density: Double)

  /** Every number of workers, and every value of each part of a form, of every data set. */
  private val arrangements = {
    val all = for {
      values <- Seq[Values](Values.Ones, Values.Singles, Values.Doubles)
      weighted <- Seq(false, true)
      dense <- Seq(false, true)
      // With the second three quarters of the columns are full.
      density <- Seq(0.15, 2.0)
      workers <- Seq(1, 2, 3, 8)
      form <- forms
    } yield Arrangement(
      Data(values, weighted, dense, density),
      workers,
      form.scaleFactor,
      form.intercept,
      form.labels,
      form.mixed)
    CheckLong.pairsWithin(all)
  }

  for (set @ Data(values, weighted, dense, density) <- arrangements.map(_.data).distinct)
    test(s"rows equal their definition: $values, weighted = $weighted, dense = $dense, density = $density") {
      val seed = 40 + Seq(Values.Ones, Values.Singles, Values.Doubles).indexOf(values)
      val all = binary(TestData.random(seed, 60, 37, density, values, weighted, dense))
      val blocks = Seq(all.take(11), Nil, all.slice(11, 50), all.drop(50), Nil)
      using(read(blocks)) { training =>
        for (arrangement <- arrangements if arrangement.data == set)
          check(training.scaled(arrangement.workers, arrangement.form), blocks, arrangement.form)
      }
    }

  test("labels are taken as they are where they are no classes") {
    val blocks = TestData.random(7, 40, 9, 0.4, weighted = true).grouped(15).toSeq
    for (form <- forms if form.labels == Labels.Real) rows(blocks, 3, form)(check(_, blocks, form))
  }

  test("one row, no feature, constant features only, more workers than rows") {
    val sets = Seq(
      Seq(Seq(row(1.0, 3.0, 0.0))),
      Seq(Seq(row(1.0), row(0.0))),
      Seq(Nil, Seq(row(1.0, 1.0, 5.0), row(0.0, 2.0, 5.0), row(1.0, 1.0, 5.0))),
      Seq(Seq(row(1.0, 7.0, 0.0)), Seq(row(1.0, 7.0, 0.0))),
      Seq(Seq(row(1.0, 0.0), row(1.0, 0.0))))
    val all = for {
      set <- sets.indices
      workers <- Seq(1, 4)
      form <- forms
    } yield (set, workers, form.scaleFactor, form.intercept, form.labels, form.mixed)
    for ((set, workers, scaleFactor, intercept, labels, mixed) <- CheckLong.pairsWithin(all)) {
      val form = RowForm(scaleFactor, intercept, labels, mixed)
      rows(sets(set), workers, form) { data =>
        assert(data.summary.numPartitions == workers)
        check(data, sets(set), form)
      }
    }
  }

  test("rows of weight 0 count for nothing") {
    val kept = binary(TestData.random(3, 20, 6, 0.5))
    val left = kept.map(r => r.copy(weight = 0.0, features = Vectors.dense(Array.fill(6)(9.0))))
    val zeros = LabeledRow(1.0, 1.0, Vectors.sparse(6, Array(1, 3, 4), Array(0.0, 2.0, -0.0)))
    val blocks = Seq(left.take(5) ++ kept.take(10), left.drop(5), zeros +: kept.drop(10))
    for (form <- forms) rows(blocks, 2, form) { data =>
      check(data, blocks, form)
      assert(data.summary.nonzeros == kept.map(_.features.numNonzeros.toLong).sum + 1)
    }
  }

  private val signed = RowForm(1.0, intercept = true, labels = Labels.Signed)
  private val averages = signed.copy(mixed = true)

  test("each worker gets its share of either class, though labels are sorted") {
    val sorted = binary(TestData.random(5, 1000, 4, 0.5), sorted = true)
    for (workers <- Seq(2, 3, 8); form <- Seq(signed, averages)) rows(sorted.grouped(300).toSeq, workers, form) {
      data =>
        val positive = partsOf(data).map(_.blocks.flatMap(_.labels).count(_ > 0.0))
        assert(positive.max - positive.min <= 2)
    }
  }

  test("averages of one worker, too, take sorted rows in random order, always the same, and others as they are") {
    val sorted = binary(TestData.random(5, 1000, 4, 0.5), sorted = true)
    def labels(part: RowData): Seq[Double] = part.blocks.toSeq.flatMap(_.labels)
    for (workers <- Seq(1, 2)) {
      def parts(form: RowForm, all: Seq[LabeledRow]) = rows(all.grouped(500).toSeq, workers, form) { data =>
        (data.blocks.placement, partsOf(data).map(rowsOf), partsOf(data).map(labels))
      }
      val (placement, mixed, mixedLabels) = parts(averages, sorted)
      assert(placement.contains("follow one another in the source are alike") && placement.contains("0.0"), placement)
      assert(mixed == parts(averages, sorted)._2)
      assert(mixedLabels.forall(_.grouped(64).forall(own => own.length < 64 || own.distinct.length == 2)))
      val (_, plain, plainLabels) = parts(signed, sorted)
      assert(plain.map(times) == mixed.map(times) && plain != mixed)
      assert(plainLabels.forall(_.grouped(64).exists(_.distinct.length == 1)))
      // In random order they stay, where groups are alike.
      val many = binary(TestData.random(6, 4000, 4, 0.5)).grouped(2000).toSeq
      rows(many, workers, averages) { data =>
        assert(!data.blocks.isMoved && partsOf(data).flatMap(rowsOf) == many.flatten.map(rowOf))
      }
    }
  }

  test("rows for averages stay where labels are alike, and one label is") {
    val all = binary(TestData.random(2, 4000, 8, 0.5))
    def isMoved(blocks: Seq[Seq[LabeledRow]]) = rows(blocks, 2, averages)(_.blocks.isMoved)
    assert(!isMoved(all.grouped(2000).toSeq) && isMoved(all.sortBy(_.label).grouped(2000).toSeq))
    assert(!isMoved(all.map(_.copy(label = 1.0)).grouped(2000).toSeq))
    // Blocks from everywhere make groups alike, and leave neighbours alike.
    assert(isMoved(all.sortBy(_.label).grouped(100).toSeq))
  }

  test("rows for steps along coordinates stay with one worker only") {
    val all = binary(TestData.random(2, 4000, 8, 0.5)).grouped(2000).toSeq
    rows(all, 1, signed)(data => assert(!data.blocks.isMoved))
    rows(all, 2, signed)(data => assert(data.blocks.placement.contains("rows of every kind")))
  }

  test("too few partitions of the source, and one far too large, are for a shuffle") {
    val all = binary(TestData.random(2, 300, 8, 0.5))
    rows(all.grouped(150).toSeq, 3, averages) { data =>
      assert(data.summary.numPartitions == 3 && data.blocks.placement.contains("numWorkers is 3"))
    }
    val huge = Seq(all.take(10), all.slice(10, 280), all.drop(280))
    rows(huge, 3, averages)(data => assert(data.blocks.placement.contains("times the mean")))
  }

  test("a feature with a nonzero in each of more rows than an Int counts has no zeros") {
    // The sums of the weights differ by rounding, and the mean would make much of it.
    val most = Int.MaxValue
    val Seq(weight, mean, none) = Seq(0.1 * most, 1e9, 0.0).map(Array(_))
    val piece =
      new MomentPiece(Array(0), Array(most.toLong), none, new ValueMoments(Array[Byte](1), weight, mean, none))
    val merged = Seq.fill(3)(piece).foldLeft(new MergedMoments(0, 1))(_ add _).result
    val (means, variances) = merged.overRows(3L * most, 0.3 * most * (1.0 + 1e-12))
    assert(variances.toSeq == Seq(0.0) && means.toSeq == Seq(1e9))
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
    val blocks = wide.grouped(9).toSeq
    rows(blocks, 2, signed)(check(_, blocks, signed))
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
        assert(data.summary.mean(0) == 0.0 && data.summary.mean(2) == 0.0 && data.summary.classSums.positive(2) == 0.0)
        assert(data.summary.scale(0) == 0.0 && data.summary.scale(1) > 0.0 && data.summary.scale(2) == 0.0)
    }
  }

  test("a feature whose variance is lost to underflow is as good as constant") {
    val blocks = Seq(Seq(row(0, 1e-170, 1.0), row(1, -1e-170, 2.0)))
    for (form <- forms)
      rows(blocks, 2, form)(data => assert(data.summary.scale(0) == 0.0 && data.summary.scale(1) > 0.0))
  }

  test("the number of workers is chosen where it is not said") {
    for (form <- Seq(signed, averages))
      rows(Seq(binary(TestData.random(1, 20, 5, 0.5))), 0, form)(data => assert(data.summary.numPartitions == 1))
  }

  test("lost rows are read again and come out the same, unless the source has changed meanwhile") {
    val base = binary(TestData.random(4, 400, 6, 0.5))
    for {
      sorted <- Seq(false, true)
      form <- Seq(signed, averages)
      changing <- Seq(false, true)
    } {
      reads.set(0)
      val all = if (sorted) base.sortBy(_.label) else base
      val source = sc.parallelize(all.grouped(200).toSeq, 2).flatMap { block =>
        val again = Reading.reads.getAndIncrement() >= 2
        if (changing && again) block.map(r => r.copy(label = 1.0 - r.label)) else block
      }
      using(read(source, 6)) { training =>
        val data = training.scaled(2, form)
        val first = partsOf(data).map(rowsOf)
        assert(reads.get == 2, "rows are read once")
        TestData.loseCached(sc)
        if (changing) {
          val error = intercept[InputChangedException](TaskFailure.unwrapped(data.partitions.count()))
          assert(error.getMessage.contains("checkpoint"))
          // Rows other than those with known labels give no new data either.
          intercept[InputChangedException](TaskFailure.unwrapped(training.scaled(3, form).partitions.count()))
        } else {
          assert(partsOf(data).map(rowsOf) == first)
          assert(reads.get == 4, "rows are read again once")
          assert(data.forBarrier.barrier().mapPartitions(identity).count() == 2L)
        }
      }
    }
  }

  test("refused: signed labels where there are no two classes, numbers that leave the range of a double") {
    def failure(form: RowForm, rows: LabeledRow*): String =
      using(read(Seq(rows)))(rows => intercept[IllegalArgumentException](rows.scaled(2, form)).getMessage)
    val labels = failure(RowForm(0.0, false, Labels.Signed), row(1, 1, 2), row(2, 3, 4))
    assert(labels.contains("'size'") && labels.contains("label 2.0 in row 1") && labels.contains("StringIndexer"))
    val far =
      failure(RowForm(0.0, false, Labels.Signed), row(1, 1e150, 2), row(1, 1e155, 2), row(0, 1e155 * (1.0 + 1e-10), 3))
    assert(far.contains("'terms', index 0"))
    val flat = failure(RowForm(1.0, false, Labels.Signed), row(1, 1e-155, 2), row(0, 0, 3))
    assert(flat.contains("'terms', index 0") && flat.contains("Scale"))
    for (factor <- Seq(-1.0, Double.NaN, Double.PositiveInfinity)) {
      assert(
        intercept[IllegalArgumentException](RowForm(factor, true, Labels.Signed)).getMessage.contains("scaleFactor"))
    }
  }
}

object ScaledRowsSuite {

  /** Sums of a few hundred terms in another order, and variances by another formula, differ by some ulps. */
  private val Rounding = 1e-11
}
