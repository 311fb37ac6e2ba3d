package dwell

import org.scalatest.Outcome
import org.scalatest.OutcomeOf.outcomeOf
import org.scalatest.funsuite.AnyFunSuite

/** A suite whose cases have a limit of time each. */
trait LimitedSuite extends AnyFunSuite {
  override protected def withFixture(test: NoArgTest): Outcome =
    outcomeOf(CaseLimit(s"$suiteName: ${test.name}", LimitedSuite.Seconds)(super.withFixture(test).toSucceeded))

  /** Waits until `body` throws nothing. */
  protected def eventually[T](body: => T): T = Waiting.eventually(body)

  /** What an exception and its causes say. */
  protected def messages(e: Throwable): String =
    Iterator.iterate(e)(_.getCause).takeWhile(_ != null).map(_.getMessage).mkString(" | ")
}

private object LimitedSuite {

  /** A case takes a few seconds, and on a busy machine ten times as many. */
  val Seconds = 120.0
}
