package dwell.bench.cd

import java.nio.{ByteBuffer, ByteOrder}
import java.nio.file.{Files, Path}

import dwell.data.columns.ColumnPartition

/**
 * Writes the columns of a problem as files that programs without Spark read: raw little-endian arrays, and `problem.json` with
 * their sizes; features are those that vary. The format is described in bench/mpi/src/directory.rs.
 */
private[bench] object PartitionFiles {

  def write(problem: RidgeProblem, directory: Path): Unit = {
    Files.createDirectories(directory)
    doubles(directory.resolve("labels.f64"), problem.labels)
    val parts = problem.columns.partitions.map(p => p.index -> p).collect().sortBy(_._1).map(_._2)
    parts.foreach(part(directory, _))
    val about = parts.map(p => s"""{"columns": ${p.numColumns}, "nonzeros": ${p.nonzeros}, "values": "${values(p)}"}""")
    Files.writeString(
      directory.resolve("problem.json"),
      s"""{"rows": ${problem.numRows}, "features": ${parts.map(_.numColumns).sum}, "partitions": ${parts.length},
         | "l1": 0.0, "l2": ${problem.l2}, "totalWeight": ${problem.totalWeight}, "sigmaPrime": ${parts.length}.0,
         | "seed": ${RidgeProblem.Seed}, "parts": [${about.mkString(", ")}]}
         |""".stripMargin)
  }

  private def part(directory: Path, p: ColumnPartition): Unit = {
    def file(what: String) = directory.resolve(s"part-${p.index}.$what")
    ints(file("offsets.i32"), p.offsets)
    // The format is sparse: dense columns have an entry for every row.
    ints(file("indices.i32"), if (p.isDense) Array.tabulate(p.nonzeros)(_ % p.rows) else p.indices)
    if (p.values32 != null) floats(file("values.f32"), p.values32)
    if (p.values64 != null) doubles(file("values.f64"), p.values64)
    doubles(file("mean.f64"), p.mean)
    doubles(file("variance.f64"), p.variance)
    doubles(file("deviation.f64"), p.deviation)
  }

  private def values(p: ColumnPartition): String =
    if (p.values32 != null) "float32" else if (p.values64 != null) "float64" else "ones"

  private def ints(file: Path, values: Array[Int]): Unit =
    write(file, 4 * values.length)(_.asIntBuffer().put(values))

  private def floats(file: Path, values: Array[Float]): Unit =
    write(file, 4 * values.length)(_.asFloatBuffer().put(values))

  private def doubles(file: Path, values: Array[Double]): Unit =
    write(file, 8 * values.length)(_.asDoubleBuffer().put(values))

  private def write(file: Path, bytes: Int)(fill: ByteBuffer => Any): Unit = {
    val buffer = ByteBuffer.allocate(bytes).order(ByteOrder.LITTLE_ENDIAN)
    fill(buffer)
    Files.write(file, buffer.array)
    ()
  }
}
