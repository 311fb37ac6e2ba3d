package dwell.spark

import dwell.LimitedSuite

/** Which executor each of several tasks should run on. */
class LocalitySuite extends LimitedSuite {

  private def assign(executors: String*)(held: Map[String, Long]*): Seq[String] =
    Locality.assign(held.toIndexedSeq, executors.map(_ -> 2))

  test("tasks go where most of their data is") {
    assert(assign("a", "b")(Map("b" -> 5L), Map("a" -> 2L, "b" -> 1L)) == Seq("b", "a"))
    assert(assign("a", "b")(Map("b" -> 1L), Map("a" -> 1L), Map("a" -> 1L), Map("b" -> 1L)) == Seq("b", "a", "a", "b"))
  }

  test("no executor gets more than its share: those with more of their data there come first") {
    assert(assign("a", "b")(Map("a" -> 5L), Map("a" -> 6L)) == Seq("b", "a"))
    assert(assign("a", "b")(Map("a" -> 5L), Map("a" -> 5L)) == Seq("a", "b"), "ties go to the first")
    assert(assign("a", "b")(Map("a" -> 1L), Map("a" -> 2L), Map("a" -> 3L)) == Seq("b", "a", "a"))
    assert(assign("a", "b", "c")(Map("a" -> 9L, "c" -> 1L), Map("a" -> 8L, "b" -> 7L)) == Seq("a", "b"))
  }

  test("data nowhere, or on executors that are gone, leave the choice") {
    assert(assign("a", "b", "c")(Map.empty, Map("gone" -> 3L), Map("a" -> 1L), Map.empty) == Seq("b", "c", "a", "a"))
    assert(assign("a")(Map.empty, Map.empty) == Seq("a", "a") && assign("a")() == Seq.empty)
  }

  test("an executor gets tasks in proportion to its slots, so that a barrier stage finds them all free") {
    def unequal(tasks: Int)(held: Int => Map[String, Long]): Map[String, Int] =
      Locality.assign((0 until tasks).map(held), Seq("a" -> 1, "b" -> 7)).groupBy(identity).map { case (e, of) =>
        (e, of.size)
      }
    assert(unequal(8)(_ => Map("a" -> 5L)) == Map("a" -> 1, "b" -> 7))
    assert(unequal(8)(_ => Map.empty) == Map("a" -> 1, "b" -> 7))
    assert(unequal(4)(_ => Map("b" -> 5L)) == Map("b" -> 4))
    assert(unequal(16)(_ => Map.empty) == Map("a" -> 2, "b" -> 14))
  }
}
