package dwell.bench.sgd

import java.nio.{ByteBuffer, ByteOrder}
import java.nio.file.{Files, Path, Paths}

import org.apache.spark.TaskContext
import org.apache.spark.mllib.linalg.{SparseVector, Vector => OldVector}
import org.apache.spark.rdd.RDD

/**
 * Writes the rows of a problem as files that programs without Spark read: raw little-endian arrays, and `problem.json` with
 * their sizes. For partition k:
 *
 * | file | numbers |
 * |:--|:--|
 * | part-k.offsets.i32 | rows + 1, from 0 |
 * | part-k.indices.i32 | a feature for each entry, ascending in a row |
 * | part-k.values.f32 | one for each entry; no file where all are 1 |
 * | part-k.labels.f64 | -1 or 1 for each row |
 *
 * Tasks write them, so executors and driver have to be on one machine.
 */
private[bench] object RowFiles {

  private final case class Part(index: Int, rows: Int, nonzeros: Int, values: String)

  /** The arrays, which are those of every problem on this data: `problem` has to be called before they are read. */
  def write(points: RDD[(Double, OldVector)], directory: Path): String = {
    Files.createDirectories(directory)
    val path = directory.toString
    val parts = points
      .mapPartitions(rows => Iterator(part(Paths.get(path), TaskContext.getPartitionId(), rows.toArray)))
      .collect()
      .sortBy(_.index)
    parts
      .map(p => s"""{"rows": ${p.rows}, "nonzeros": ${p.nonzeros}, "values": "${p.values}"}""")
      .mkString("[", ", ", "]")
  }

  /**
   * `problem.json`.
   *
   * @param parts
   *   as [[write]] returned them
   */
  def problem(problem: SgdProblem, parts: String, seed: Long, directory: Path): Unit = {
    val data = problem.data
    Files.writeString(
      directory.resolve("problem.json"),
      s"""{"rows": ${data.numRows}, "features": ${data.numFeatures}, "loss": "${problem.loss}", "l2": ${problem.l2},
         | "seed": $seed, "parts": $parts}
         |""".stripMargin)
    ()
  }

  private def part(directory: Path, index: Int, rows: Array[(Double, OldVector)]): Part = {
    val vectors = rows.map(_._2.asInstanceOf[SparseVector])
    val nonzeros = vectors.map(_.indices.length).sum
    val ones = vectors.forall(_.values.forall(_ == 1.0))
    def write(what: String, bytes: Int)(fill: ByteBuffer => Unit): Unit = {
      val buffer = ByteBuffer.allocate(bytes).order(ByteOrder.LITTLE_ENDIAN)
      fill(buffer)
      Files.write(directory.resolve(s"part-$index.$what"), buffer.array)
      ()
    }
    write("offsets.i32", 4 * (rows.length + 1)) { buffer =>
      vectors.map(_.indices.length).scanLeft(0)(_ + _).foreach(buffer.putInt)
    }
    write("indices.i32", 4 * nonzeros)(buffer => vectors.foreach(_.indices.foreach(buffer.putInt)))
    if (!ones) {
      write("values.f32", 4 * nonzeros)(buffer => vectors.foreach(_.values.foreach(v => buffer.putFloat(v.toFloat))))
    }
    write("labels.f64", 8 * rows.length)(buffer => rows.foreach(r => buffer.putDouble(SgdProblem.signed(r._1))))
    Part(index, rows.length, nonzeros, if (ones) "ones" else "float32")
  }
}
