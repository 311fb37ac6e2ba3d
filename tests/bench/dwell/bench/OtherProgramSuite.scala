package dwell.bench

import java.nio.file.{Files, Path}

import scala.concurrent.duration._

import dwell.LimitedSuite
import dwell.bench.sgd.SgdProgram

/** Runs of other programs, some of which end and one of which does not. */
class OtherProgramSuite extends LimitedSuite {
  private def shell(script: String): Seq[String] = Seq("sh", "-c", script)

  private def isAlive(pid: Path): Boolean =
    ProcessHandle.of(Files.readString(pid).trim.toLong).map[Boolean](_.isAlive).orElse(false)

  test("a program that does not end is killed, with the processes that it has started and what these have") {
    val directory = Files.createTempDirectory("dwell-endless")
    val Seq(child, grandchild, own) = Seq("child", "grandchild", "own").map(directory.resolve(_))
    try {
      val inner = s"sleep 600 & echo $$! > $grandchild; wait"
      val e = intercept[OtherProgram.DidNotEndException] {
        OtherProgram.execute(
          shell(s"""echo working; echo $$$$ > $own; sh -c '$inner' & echo $$! > $child; wait"""),
          2.seconds)
      }
      assert(e.getMessage.contains("did not end within 2 seconds") && e.getMessage.contains("working"), e.getMessage)
      Seq(own, child, grandchild).foreach(pid => eventually(assert(!isAlive(pid), pid)))
    } finally SgdProgram.delete(directory)
  }

  test("a program that ends is not disturbed, and one that fails is quoted") {
    OtherProgram.execute(shell("exit 0"), 60.seconds)
    val e = intercept[IllegalStateException](OtherProgram.execute(shell("echo no such corpus; exit 3")))
    assert(e.getMessage.contains("status 3") && e.getMessage.contains("no such corpus"), e.getMessage)
  }
}
