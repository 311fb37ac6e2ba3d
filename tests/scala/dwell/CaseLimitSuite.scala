package dwell

import java.io.ByteArrayOutputStream
import java.nio.file.{Files, Path}
import java.util.concurrent.TimeUnit

/** The limit of a case, with cases that hang. */
class CaseLimitSuite extends LimitedSuite {
  import CaseLimitSuite._

  /** Runs a case under a short limit. Returns what it threw, and what was printed meanwhile. */
  private def exceeded(name: String)(body: => Any): (CaseLimit.ExceededException, String) = {
    val output = new ByteArrayOutputStream
    val thrown = Console.withOut(output)(intercept[CaseLimit.ExceededException] {
      CaseLimit.run(name, seconds = 0.3, graceSeconds = 60.0)(body)
    })
    (thrown, output.toString)
  }

  test("a case that sleeps fails with its name, and its frames are printed") {
    val (thrown, printed) = exceeded("a nap")(nested(20)(nap()))
    assert(thrown.getMessage == "case a nap has run for more than 0.3 s")
    assert(thrown.getCause.isInstanceOf[InterruptedException])
    val lines = printed.linesIterator.toSeq
    assert(lines.head == thrown.getMessage)
    val own =
      lines.dropWhile(!_.startsWith("  \"" + Thread.currentThread.getName + "\"")).tail.takeWhile(_.startsWith("    "))
    assert(own.exists(_.contains("CaseLimitSuite$.nap(")) && own.count(_.contains("CaseLimitSuite$.nested(")) > 20)
  }

  test("what a case says when it is interrupted is the cause") {
    val (thrown, _) = exceeded("a wait")(Waiting.eventually(throw new IllegalStateException("not yet")))
    assert(thrown.getCause.getMessage == "not yet")
  }

  test("a case that ends late fails, and the interrupt stays with it") {
    for (clears <- Seq(false, true)) {
      exceeded("late")(while (if (clears) !Thread.interrupted() else !Thread.currentThread.isInterrupted) {})
      assert(!Thread.currentThread.isInterrupted)
    }
  }

  test("a case that ends in time has its result or exception, and nothing interrupts what follows") {
    assert(CaseLimit.run("quick", seconds = 0.2, graceSeconds = 60.0)(17) == 17)
    intercept[NoSuchElementException](CaseLimit.run("quick", seconds = 0.2, graceSeconds = 60.0)(Seq.empty[Int].head))
    Thread.sleep(400)
    assert(!Thread.currentThread.isInterrupted)
  }

  test("a case that goes on ends the JVM, which names it") {
    val log = Files.createTempFile("dwell-deaf", ".log")
    try {
      val java = Path.of(System.getProperty("java.home"), "bin", "java").toString
      val process = new ProcessBuilder(java, "-cp", System.getProperty("java.class.path"), "dwell.DeafCase")
        .redirectErrorStream(true)
        .redirectOutput(log.toFile)
        .start()
      val ended = process.waitFor(Waiting.LimitSeconds, TimeUnit.SECONDS)
      process.destroyForcibly()
      val printed = Files.readString(log)
      assert(ended && process.exitValue() == 3, printed)
      assert(printed.contains("FAILED  deaf: it goes on 0.2 s after it was interrupted"), printed)
    } finally Files.delete(log)
  }
}

private object CaseLimitSuite {
  def nap(): Unit = Thread.sleep(60000)

  /** Calls `body` below so many frames, which the addition keeps from becoming a loop. */
  def nested(depth: Int)(body: => Unit): Int =
    if (depth > 0) 1 + nested(depth - 1)(body)
    else {
      body
      0
    }
}

/** A program whose only case does not listen to interrupts. */
private object DeafCase {
  def main(args: Array[String]): Unit =
    CaseLimit.run("deaf", seconds = 0.2, graceSeconds = 0.2)(while (true) Thread.interrupted())
}
