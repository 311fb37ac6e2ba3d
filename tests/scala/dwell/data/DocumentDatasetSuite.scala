package dwell.data

import org.apache.spark.SparkEnv
import org.apache.spark.ml.linalg.{Vector, Vectors}

import dwell.SparkSuite
import dwell.data.block.LabeledRow
import dwell.data.documents.{DocumentData, DocumentDataset}
import dwell.data.matrix.MatrixBlock

/** Documents from vectors of counts. */
class DocumentDatasetSuite extends SparkSuite {
  private def read(numWorkers: Int, vectors: Vector*): DocumentDataset =
    DocumentDataset.read(
      sc.parallelize(vectors, 2).map(LabeledRow.ofVector),
      vocabulary = 4,
      numWorkers,
      "test",
      "words")

  /** The result of `body` on the partitions. */
  private def partitions[T](data: DocumentDataset)(body: Seq[DocumentData] => T): T =
    try body(data.partitions.collect().toSeq)
    finally data.unpersist()

  private def documents(data: DocumentData): Seq[Seq[(Int, Double)]] =
    data.offsets.indices.flatMap { b =>
      val (offsets, words, counts32, counts64) = (data.offsets(b), data.words(b), data.counts32(b), data.counts64(b))
      offsets.indices.init.map { d =>
        (offsets(d) until offsets(d + 1)).map { at =>
          val count = if (counts64 != null) counts64(at) else if (counts32 != null) counts32(at).toDouble else 1.0
          (words(at), count)
        }
      }
    }

  private def refused(vectors: Vector*): String =
    intercept[IllegalArgumentException](read(1, vectors: _*)).getMessage

  test("zeros and empty documents are left out, and constant words are not") {
    val data = read(
      1,
      Vectors.dense(2.0, 0.0, 1.0, 1.0),
      Vectors.sparse(4, Array(0, 1), Array(0.0, 0.0)),
      Vectors.sparse(4, Array(2, 3), Array(0.0, 1.0)),
      Vectors.dense(0.0, 3.0, 0.0, 1.0))
    assert(data.documents == 3L && data.documentsPerPartition.toSeq == Seq(3) && data.nonzeros == 6L)
    partitions(data) { case Seq(p) =>
      assert(documents(p) == Seq(Seq(0 -> 2.0, 2 -> 1.0, 3 -> 1.0), Seq(3 -> 1.0), Seq(1 -> 3.0, 3 -> 1.0)))
      assert(p.vocabulary == 4 && p.documents == 3)
    }
  }

  test("counts are as narrow as loses nothing") {
    def counts(vector: Vector) =
      partitions(read(1, vector)) { case Seq(p) =>
        (p.counts32.toSeq.map(Option(_).map(_.toSeq)), p.counts64.toSeq.map(Option(_).map(_.toSeq)))
      }
    assert(counts(Vectors.dense(1.0, 1.0, 0.0, 1.0)) == ((Seq(None), Seq(None))))
    assert(counts(Vectors.dense(1.0, 2.0, 1.0, 1.0)) == ((Seq(Some(Seq(1.0f, 2.0f, 1.0f, 1.0f))), Seq(None))))
    assert(counts(Vectors.dense(1.0, 0.1, 0.0, 1.0)) == ((Seq(None), Seq(Some(Seq(1.0, 0.1, 1.0))))))
  }

  test("every document is in one partition, and partitions are equally large") {
    val vectors = (1 to 101).map(i => Vectors.sparse(4, Array(i % 4), Array(i.toDouble)))
    val data = read(3, vectors: _*)
    assert(data.documentsPerPartition.sorted.toSeq == Seq(33, 34, 34))
    partitions(data) { parts =>
      assert(parts.map(_.index) == Seq(0, 1, 2))
      assert(parts.flatMap(documents).flatten.map(_._2).sorted == (1 to 101).map(_.toDouble))
    }
  }

  test("documents stay where they are if each worker has its share of any stretch of them") {
    val all = (1 to 400).map(i => Vectors.sparse(4, Array(i % 4), Array(i.toDouble)): Vector)
    def read(slices: Int, workers: Int): DocumentDataset = {
      val documents = sc.parallelize(all, slices).map(LabeledRow.ofVector)
      DocumentDataset.read(documents, vocabulary = 4, workers, "test", "words")
    }
    def counts(p: DocumentData): Seq[Int] = documents(p).flatten.map(_._2.toInt)

    val left = read(slices = 40, workers = 2)
    assert(left.placement == "rows left where Spark has them" && left.documentsPerPartition.toSeq == Seq(200, 200))
    // Blocks of ten documents go to the workers in turn.
    val inTurn =
      (1 to 400).grouped(10).toSeq.zipWithIndex.groupBy(_._2 % 2).map { case (turn, of) => turn -> of.map(_._1) }
    val before = left.partitions.collect().map(counts).toSeq
    assert(before == Seq(inTurn(0).flatten, inTurn(1).flatten))
    def kept = sc.getPersistentRDDs.values.flatMap(rdd => Option(rdd.name)).filter(_.startsWith("test: ")).toSeq
    assert(kept == Seq("test: documents as read"))
    TestData.loseCached(sc)
    assert(left.forBarrier.barrier().mapPartitions(identity).collect().map(counts).toSeq == before)
    left.unpersist()

    val one = read(slices = 2, workers = 0)
    assert(one.placement.startsWith("rows left"))
    partitions(one) { case Seq(p) => assert(counts(p) == (1 to 400)) }

    // Each worker would have one half of the documents, in which one subject may stand.
    val dealt = read(slices = 2, workers = 2)
    assert(dealt.placement.contains("dealt by a shuffle") && dealt.placement.contains("subject"))
    partitions(dealt)(parts => assert(parts.forall(p => counts(p).exists(_ < 50) && counts(p).exists(_ > 350))))
  }

  test("the blocks of a source partition come together, in their order") {
    val vocabulary = 4096
    val source = sc.parallelize(0 until 4, 4).flatMap { partition =>
      Iterator.tabulate(150) { i =>
        LabeledRow.ofVector(Vectors.dense(Array.tabulate(vocabulary)(word => 1.0 + (partition * 150 + i + word) % 500)))
      }
    }
    assert(150 * vocabulary > MatrixBlock.ValuesAtATime, "one block has no room for a source partition")
    val data = DocumentDataset.read(source, vocabulary, 1, "test", "words")
    assert(data.placement == "rows left where Spark has them")
    partitions(data) { case Seq(p) =>
      assert(p.documents == 600 && p.offsets.length == 8, "two blocks of each source partition, as they were read")
      val counts = documents(p).map(_.map(_._2.toInt))
      assert(counts == (0 until 600).map(i => (0 until vocabulary).map(word => 1 + (i + word) % 500)))
    }
  }

  test("what is no count is refused, with its row") {
    val good = Vectors.dense(1.0, 0.0, 0.0, 1.0)
    Seq(Double.NaN, Double.PositiveInfinity, -1.0, 1e-7, 1e10).foreach { count =>
      val message = refused(good, Vectors.dense(0.0, count, 0.0, 1.0))
      assert(message.contains("'words', row 0 of partition 1") && message.contains(s"$count at index 1"), message)
    }
    assert(refused(good, Vectors.dense(1.0)).contains("a vector of length 1 where 4 was expected"))
    assert(refused(good, null).contains("the vector is null"))
  }

  test("without documents there is nothing to train on") {
    assert(refused().contains("There are no documents to train on (column 'words')"))
    assert(refused(Vectors.dense(0.0, 0.0, 0.0, 0.0)).contains("no document of column 'words' has a word"))
  }

  test("what documents were read through is removed with them, and does not wait for the driver's garbage") {
    def files = SparkEnv.get.blockManager.diskBlockManager.getAllBlocks().filter(_.isShuffle).toSet
    def cached = sc.getPersistentRDDs.keySet.toSet
    // The user's own shuffle must stay.
    val vectors = sc
      .parallelize((1 to 20).map(i => (i % 5, Vectors.sparse(4, Array(i % 4), Array(i.toDouble)): Vector)), 2)
      .groupByKey(2)
      .flatMap(_._2)
    val others = files
    vectors.count()
    val (earlierFiles, earlierCached) = (files, cached)
    val own = earlierFiles -- others
    assert(own.nonEmpty)
    val data = DocumentDataset.read(vectors.map(LabeledRow.ofVector), vocabulary = 4, numWorkers = 3, "test", "words")
    assert((files -- earlierFiles).nonEmpty && (cached -- earlierCached).size == 2)
    data.unpersist()
    // What earlier suites have left may go meanwhile.
    eventually(assert((files -- earlierFiles).isEmpty && (cached -- earlierCached).isEmpty))
    assert(own.subsetOf(files))
    // Keeps both alive until here: Spark would remove the files of garbage, too.
    assert(vectors.count() == 20L && data.partitions.getNumPartitions == 3)
  }
}
