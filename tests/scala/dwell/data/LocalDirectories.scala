package org.apache.spark

import java.nio.file.Files

import org.apache.spark.storage.RDDBlockId

/** The folders in which this JVM keeps blocks on disk. */
object LocalDirectories {

  /** Takes the places of files of all RDDs so far and of the next ones, so that none of them can be written to disk. */
  def occupy(sc: SparkContext): Unit = {
    val next = sc.newRddId()
    for (rdd <- 0 to next + 200; partition <- 0 until 4) {
      val place = SparkEnv.get.blockManager.diskBlockManager.getFile(RDDBlockId(rdd, partition)).toPath
      Files.createDirectory(place)
      Files.createFile(place.resolve("file"))
    }
  }
}
