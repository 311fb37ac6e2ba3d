package dwell.data

import scala.util.Random

import org.apache.spark.ShuffleOutputs
import org.apache.spark.ml.linalg.Vectors
import org.apache.spark.rdd.RDD
import org.apache.spark.storage.StorageLevel

import dwell.SparkSuite
import dwell.bulk.Kept
import dwell.data.TestData.Values
import dwell.data.block.{ColumnNames, LabeledRow, ReadFacts, ReadRows, RowBlock, RowBlockBuilder}
import dwell.data.matrix.MatrixBlock
import dwell.data.merge.{DealtBlocks, RowDistribution}
import dwell.data.rows.{BlockArrays, BlockData, BlockDataset}

/** Rows that are dealt to partitions, in blocks. */
class DealtBlocksSuite extends SparkSuite {
  import DealtBlocksSuite._

  private def using[T](source: Seq[Seq[LabeledRow]])(body: ReadRows => T): T = {
    val read = sc.parallelize(source, source.size).mapPartitionsWithIndex { (partition, rows) =>
      RowBlockBuilder.read(partition, Columns, rows.flatten.map(_.toInternal), ColumnNames())
    }
    val blocks = Kept.of(read, "dealt test: rows as read").keep(StorageLevel.MEMORY_AND_DISK)
    val facts = ReadFacts.of(blocks, Columns, classified = false)
    val rows = new ReadRows(blocks, facts, Columns, "dealt test", ColumnNames())
    try body(rows)
    finally rows.unpersist()
  }

  private def dealing[T](rows: ReadRows, partitions: Int, mixed: Boolean)(body: BlockDataset => T): T = {
    val data = MovedBlocks.dealt(rows, partitions, mixed).dataset("dealt")
    try body(data)
    finally data.destroy()
  }

  /** The rows of each block of each partition. */
  private def found(data: RDD[BlockData]): Seq[Seq[Seq[LabeledRow]]] =
    data.map(_.blocks().map(DealtBlocksSuite.rowsOf).toSeq).collect().toSeq

  for ((name, source) <- Sources) test(s"a partition has the rows that are dealt to it, in their order: $name") {
    using(source) { rows =>
      for (partitions <- Seq(1, 2, 3, 40)) dealing(rows, partitions, mixed = false) { data =>
        val blocks = found(data.partitions)
        assert(blocks.map(_.flatten) == expected(source, partitions))
        assert(data.nonzerosPerPartition.toSeq == blocks.map(_.flatten.map(_.features.numNonzeros).sum))
        assert(found(data.forBarrier) == blocks && data.numPartitions == partitions)
        val sizes = blocks.map(_.flatten.size)
        assert(sizes.max - sizes.min <= 1, "rows of a partition")
      }
    }
  }

  for ((name, source) <- Sources) test(s"mixed rows are those of the partition, in another order: $name") {
    using(source) { rows =>
      dealing(rows, 3, mixed = true) { data =>
        expected(source, 3).zip(found(data.partitions).map(_.flatten)).foreach { case (expected, found) =>
          assert(found.sortBy(number) == expected && (found != expected || found.size < 6))
        }
      }
    }
  }

  test("blocks have the forms and widths of the source, and weights where a row of theirs has one") {
    using(source(dense(60), ones(10), weighted(20))) { rows =>
      def forms(mixed: Boolean) = dealing(rows, 2, mixed) { data =>
        val blocks = data.partitions.map(_.blocks().toSeq).collect().toSeq
        blocks.map(_.map(b => (b.features == null, b.values32 == null, b.weights == null)))
      }
      assert(forms(mixed = false) == Seq.fill(2)(Seq((true, false, true), (false, true, true), (true, false, false))))
      assert(forms(mixed = true) == Seq.fill(2)(Seq((true, false, false))))
    }
  }

  test("blocks are of about the size of those that are read") {
    using(source(dense(90000), dense(3))) { rows =>
      for (mixed <- Seq(false, true)) dealing(rows, 2, mixed) { data =>
        val sizes = found(data.partitions).map(_.map(_.size * (Columns + 1)))
        assert(sizes.flatten.max <= MatrixBlock.ValuesAtATime && sizes.forall(_.size <= 4), sizes)
      }
    }
  }

  test("each mixed block is a sample of all rows of its partition") {
    val count = 90000
    using(source(dense(count))) { rows =>
      dealing(rows, 2, mixed = true) { data =>
        val blocks = found(data.partitions).flatten
        assert(blocks.size >= 4)
        blocks.foreach { block =>
          val quarters =
            block.groupBy(row => number(row) * 4 / count).map { case (quarter, rows) => quarter -> rows.size }
          assert(quarters.values.forall(rows => math.abs(rows / block.size.toDouble - 0.25) < 0.02), quarters)
          val near = block.map(number).sliding(2).count(pair => math.abs(pair(1) - pair(0)) < count / 100)
          assert(near < block.size / 20, "rows that were near one another in the source")
        }
      }
    }
  }

  test("the same pieces make the same blocks, in whatever order they arrive") {
    for ((_, source) <- Sources; mixed <- Seq(false, true)) {
      val blocks = source.zipWithIndex.flatMap { case (rows, p) =>
        RowBlockBuilder.read(p, Columns, rows.iterator.map(_.toInternal), ColumnNames())
      }
      val firsts = blocks.scanLeft(0L)(_ + _.rows)
      val pieces = blocks.zip(firsts).flatMap { case (block, first) => DealtBlocks.cut(block, first, 2, RowBlock) }
      def together(pieces: Seq[(Int, RowBlock)]) =
        (0 until 2).map(k =>
          DealtBlocks.together(pieces.iterator.collect { case (`k`, piece) => piece }, k, 2, mixed, RowBlock).toSeq)
      def prints(blocks: Seq[Seq[RowBlock]]) = blocks.map(_.map(block => (block.matrix.fingerprint, block.fingerprint)))
      val inOrder = together(pieces)
      for (seed <- 0 until 5) {
        val other = together(new Random(seed).shuffle(pieces))
        assert(prints(other) == prints(inOrder))
      }
    }
  }

  test("lost blocks are dealt anew; nothing is left once the data is released") {
    using(source(dense(2000), sparse(3000))) { rows =>
      val before = ShuffleOutputs.ids
      def kept = sc.getPersistentRDDs.values.flatMap(rdd => Option(rdd.name)).toSeq
      dealing(rows, 3, mixed = true) { data =>
        val first = found(data.partitions)
        TestData.loseCached(sc)
        assert(found(data.partitions) == first)
        assert(kept.contains("dealt test: rows dealt") && (ShuffleOutputs.ids -- before).size == 1, kept)
      }
      assert(!kept.contains("dealt test: rows dealt"))
      eventually(assert((ShuffleOutputs.ids -- before).isEmpty))
    }
  }
}

private object DealtBlocksSuite {

  private val Columns = 20

  private val Sources: Seq[(String, Seq[Seq[LabeledRow]])] = Seq(
    "dense" -> source(dense(50), dense(7)),
    "sparse" -> source(sparse(50), sparse(31)),
    "weighted" -> source(weighted(30), sparse(45)),
    "of all forms" -> source(dense(11), ones(60), doubles(9), sparse(1)),
    "uneven and empty source partitions" -> source(Nil, dense(3), Nil, sparse(400), dense(1)),
    "fewer rows than partitions" -> source(dense(2)))

  private def dense(rows: Int) = TestData.random(1, rows, Columns, 1.0, Values.Singles)
  private def doubles(rows: Int) = TestData.random(2, rows, Columns, 1.0)
  private def weighted(rows: Int) = TestData.random(3, rows, Columns, 1.0, Values.Singles, weighted = true)
  private def sparse(rows: Int) = TestData.random(4, rows, Columns, 0.1, Values.Singles)
  private def ones(rows: Int) = TestData.random(5, rows, Columns, 0.1, Values.Ones)

  /** Rows by source partition. The label of each row of positive weight is its number. */
  private def source(partitions: Seq[LabeledRow]*): Seq[Seq[LabeledRow]] = {
    var number = -1
    partitions.map(_.map { row =>
      if (row.weight > 0.0) number += 1
      row.copy(label = number.toDouble, features = row.features.toSparse)
    })
  }

  private def number(row: LabeledRow): Int = row.label.toInt

  private def expected(source: Seq[Seq[LabeledRow]], partitions: Int): Seq[Seq[LabeledRow]] = {
    val kept = source.flatten.filter(_.weight > 0.0)
    (0 until partitions).map(k => kept.filter(row => RowDistribution.partitionOf(number(row).toLong, partitions) == k))
  }

  private def rowsOf(block: BlockArrays): Seq[LabeledRow] = block.labels.indices.map { i =>
    val (from, until) =
      if (block.offsets == null) (i * Columns, (i + 1) * Columns) else (block.offsets(i), block.offsets(i + 1))
    val features = (from until until).map { at =>
      val value =
        if (block.values32 != null) block.values32(at).toDouble
        else if (block.values64 != null) block.values64(at)
        else 1.0
      (if (block.features == null) at - from else block.features(at), value)
    }
    val weight = if (block.weights == null) 1.0 else block.weights(i)
    LabeledRow(block.labels(i), weight, Vectors.sparse(Columns, features).toSparse)
  }
}
