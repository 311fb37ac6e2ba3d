package dwell.data

import org.apache.spark.{ShuffleDependency, ShuffleOutputs}
import org.apache.spark.ml.linalg.Vectors
import org.apache.spark.rdd.RDD

import dwell.data.block.LabeledRow
import dwell.data.rows.{BlockArrays, BlockData}
import dwell.spark.{InputChangedException, TaskFailure}

/** Whole blocks of uneven source partitions, moved to workers. */
class MovedBlocksSuite extends Reading {
  import MovedBlocksSuite._
  import Reading.reads

  /** Row i is (i, 1, ..., 1), with the label i modulo 2. Each source partition begins where the one before it ends. */
  private def source(counts: Int*): RDD[LabeledRow] = {
    val firsts = counts.scanLeft(0)(_ + _)
    sc.parallelize(counts.indices, counts.size).flatMap { p =>
      Reading.reads.incrementAndGet()
      Iterator.range(firsts(p), firsts(p + 1)).map(row(_, 0.0))
    }
  }

  private def using[T](rows: RDD[LabeledRow])(body: TrainingRows => T): T = using(read(rows, Columns))(body)

  private def shuffles(rdd: RDD[_]): Int = rdd.dependencies.map {
    case d: ShuffleDependency[_, _, _] => 1 + shuffles(d.rdd)
    case d => shuffles(d.rdd)
  }.sum

  /** The number of each row, block by block, worker by worker. */
  private def numbers(data: RDD[BlockData]): Seq[Seq[Seq[Int]]] =
    data.map(worker => worker.blocks().map(firsts(_).toSeq).toSeq).collect().toSeq

  test("blocks of one source partition come to all workers, in their order") {
    using(source(90000)) { training =>
      val data = training.blocks(2, even = true)
      val found = numbers(data.partitions)
      assert(found.flatten.flatten == (0 until 90000) && found.forall(_.size >= 2), "whole blocks in their order")
      val shares = found.map(_.map(_.size).sum / 90000.0)
      assert(shares.forall(share => math.abs(share - 0.5) < 0.15), shares)
      assert(data.nonzerosPerPartition.sum == training.nonzeros && data.numPartitions == 2)
      assert(
        data.placement == "whole blocks moved by a shuffle, because numWorkers is 2, and the number of source partitions with rows is 1")
      // A barrier stage needs them without what is before them.
      assert(numbers(data.forBarrier) == found && data.forBarrier.barrier().mapPartitions(identity).count() == 2L)
    }
  }

  test("workers have about equal shares of unequal source partitions, and each a stretch of the rows") {
    val counts = Seq(0, 3000, 160000, 10, 40000, 500)
    using(source(counts: _*)) { training =>
      for (workers <- Seq(2, 3, 4)) {
        val data = training.blocks(workers, even = true)
        val found = numbers(data.partitions)
        assert(found.flatten.flatten == (0 until counts.sum))
        val sizes = found.map(_.map(_.size).sum)
        assert(sizes.max * workers <= 1.4 * counts.sum, sizes)
        assert(data.placement.startsWith("whole blocks moved by a shuffle, because "))
      }
    }
  }

  test("even source partitions stay, and so do all where nobody asks for even ones") {
    using(source(2000, 2000, 2000, 2000)) { training =>
      for (data <- Seq(training.blocks(2, even = true), training.blocks(3, even = false)))
        assert(data.placement.startsWith("where they were read") && shuffles(data.partitions) == 0)
      assert(training.blocks(2, even = true) eq training.blocks(2, even = false))
    }
  }

  test("workers beyond the number of blocks have none") {
    using(source(100)) { training =>
      val data = training.blocks(3, even = true)
      assert(numbers(data.partitions).map(_.size).sorted == Seq(0, 0, 1) && data.numPartitions == 3)
    }
  }

  test("lost blocks are moved anew; rows that changed meanwhile end the fit") {
    for (changes <- Seq(false, true)) {
      reads.set(0)
      val read = sc.parallelize(Seq(0), 1).flatMap { _ =>
        val shift = Reading.reads.getAndIncrement().toDouble
        Iterator.range(0, 60000).map(row(_, if (changes) shift else 0.0))
      }
      using(read) { training =>
        val data = training.blocks(2, even = true)
        val before = numbers(data.partitions)
        assert(reads.get == 1)
        TestData.loseCached(sc)
        if (changes) intercept[InputChangedException](TaskFailure.unwrapped(numbers(data.partitions)))
        else assert(numbers(data.partitions) == before)
        assert(reads.get > 1)
      }
    }
  }

  test("nothing is left once the data is released") {
    val training = read(source(60000), Columns)
    val before = ShuffleOutputs.ids
    training.blocks(2, even = true)
    def kept = sc.getPersistentRDDs.values.flatMap(rdd => Option(rdd.name)).filter(_.startsWith("test: ")).toSeq
    assert(kept.contains("test: rows moved") && (ShuffleOutputs.ids -- before).size == 1, kept)
    training.unpersist()
    assert(kept.isEmpty)
    eventually(assert((ShuffleOutputs.ids -- before).isEmpty))
  }
}

object MovedBlocksSuite {

  private val Columns = 20

  private def row(i: Int, shift: Double): LabeledRow =
    LabeledRow(i % 2.0, 1.0 + shift, Vectors.dense(i.toDouble +: Array.fill(Columns - 1)(1.0)))

  /** The first feature of each row. */
  private def firsts(block: BlockArrays): Array[Int] = {
    def value(at: Int) = if (block.values32 != null) block.values32(at).toDouble else block.values64(at)
    Array.tabulate(block.labels.length)(i => value(i * Columns).toInt)
  }
}
