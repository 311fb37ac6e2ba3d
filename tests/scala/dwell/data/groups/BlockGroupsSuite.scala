package dwell.data.groups

import scala.util.Random

import dwell.LimitedSuite

/** Groups of blocks, and where there are none. */
class BlockGroupsSuite extends LimitedSuite {

  private def sizes(loads: Int*): IndexedSeq[SourceSize] =
    loads.map(load => if (load == 0) SourceSize(0, 0) else SourceSize(1, load - 1)).toIndexedSeq

  private def groups(sizes: IndexedSeq[SourceSize], workers: Int, exactly: Boolean = false)(
      unfit: BlockGroups => Option[String] = _ => None): Either[String, Seq[Seq[Int]]] =
    BlockGroups.choose(sizes, workers, exactly)(unfit).map(_.sources.toSeq.map(_.toSeq))

  test("equal blocks are dealt in turn, and as many blocks as workers are groups of their own") {
    assert(groups(sizes(5, 5, 5, 5, 5, 5), 3)() == Right(Seq(Seq(0, 3), Seq(1, 4), Seq(2, 5))))
    assert(groups(sizes(7, 8, 6, 7), 4)() == Right(Seq(Seq(0), Seq(1), Seq(2), Seq(3))))
    assert(groups(sizes(9, 8, 7), 1)() == Right(Seq(Seq(0, 1, 2))))
  }

  test("the largest blocks go first, each to the group that has least so far") {
    // 7 | 6 | 5, then 5 + 4, 6 + 3 and 7 + 2.
    assert(groups(sizes(2, 3, 4, 5, 6, 7), 3)() == Right(Seq(Seq(0, 5), Seq(1, 4), Seq(2, 3))))
  }

  test("blocks without rows are in no group") {
    assert(groups(sizes(0, 5, 0, 5, 5, 0, 5), 2)() == Right(Seq(Seq(1, 4), Seq(3, 6))))
    assert(groups(sizes(0, 5, 5, 0), 2, exactly = true)() == Right(Seq(Seq(1), Seq(2))))
    // Rows without nonzeros are rows.
    assert(groups(IndexedSeq.fill(4)(SourceSize(3, 0)), 2)() == Right(Seq(Seq(0, 2), Seq(1, 3))))
  }

  test("one huge block, and too few blocks, leave it to a shuffle") {
    val huge = groups(sizes(5, 5, 5, 100, 5), 2)()
    assert(huge.left.exists(_.contains("1.67 times the mean")), huge)
    assert(groups(sizes(50), 8)().left.exists(_.contains("8.00 times")))
    // Seven of eight workers are as good as all, six are not.
    assert(groups(IndexedSeq.fill(7)(SourceSize(10, 90)), 8)().map(_.size) == Right(7))
    assert(groups(IndexedSeq.fill(6)(SourceSize(10, 90)), 8)().left.exists(_.contains("1.33 times")))
    // A number that was asked for is kept to.
    assert(
      groups(IndexedSeq.fill(7)(SourceSize(10, 90)), 8, exactly = true)().left.exists(_.contains("numWorkers is 8")))
  }

  test("the largest share may be a quarter above the mean, and no more") {
    assert(groups(sizes(5, 3), 2)().isRight)
    assert(groups(sizes(50001, 29999), 2)().isLeft)
  }

  test("a group has room in an array") {
    val large = IndexedSeq.fill(4)(SourceSize(10, Int.MaxValue - 100))
    assert(groups(large, 4)().isRight && groups(large, 2)().left.exists(_.contains("no room")))
  }

  test("where the best balance is not fit, blocks are dealt in their order") {
    val rising = sizes(10, 11, 12, 13, 14, 15, 16, 17)
    val best = Right(Seq(Seq(0, 3, 4, 7), Seq(1, 2, 5, 6)))
    val inOrder = Right(Seq(Seq(0, 2, 4, 6), Seq(1, 3, 5, 7)))
    assert(groups(rising, 2)() == best)
    assert(groups(rising, 2)(g => if (g.sources.head.contains(7)) Some("7 is first") else None) == inOrder)
    assert(groups(rising, 2)(_ => Some("never")) == Left("never"))
  }

  test("unevenness is the distance of the distributions along the source") {
    def unevenness(sizes: IndexedSeq[SourceSize], workers: Int) =
      BlockGroups.choose(sizes, workers, exactly = false)(_ => None).map(_.unevenness).getOrElse(Double.NaN)
    def equal(blocks: Int) = IndexedSeq.fill(blocks)(SourceSize(10, 90))
    assert(unevenness(equal(5), 1) == 0.0)
    assert(unevenness(equal(2), 2) == 0.5 && unevenness(equal(4), 4) == 0.75)
    assert(math.abs(unevenness(equal(20), 2) - 0.05) < 1e-12)
    // The groups are 10 + 20 and 30 of 60 rows.
    assert(unevenness(IndexedSeq(10, 20, 30).map(rows => SourceSize(rows, 0)), 2) == 0.5)
  }

  test("rows of other lengths are other rows") {
    def lengths(rows: Int*) =
      BlockGroups.choose(rows.map(r => SourceSize(r, 1000 - r)).toIndexedSeq, rows.size, exactly = true)(
        _.unevenLengths)
    assert(lengths(100, 120, 90).isRight)
    assert(lengths(100, 300).left.exists(_.contains("1.50 times the mean number of rows")))
  }

  test("any blocks: each that has rows is in one group, which is balanced, and always the same") {
    val random = new Random(5)
    val found = for (_ <- 1 to 300) yield {
      val blocks = IndexedSeq.fill(1 + random.nextInt(40)) {
        if (random.nextInt(5) == 0) SourceSize(0, 0) else SourceSize(1 + random.nextInt(50), random.nextInt(1000))
      }
      val filled = blocks.indices.filter(blocks(_).rows > 0)
      if (filled.isEmpty) true
      else {
        val workers = 1 + random.nextInt(8)
        val chosen = groups(blocks, workers)()
        assert(chosen == groups(blocks, workers)())
        chosen.foreach { groups =>
          assert(groups.flatten.sorted == filled && groups.size == math.min(workers, filled.size))
          assert(groups.forall(g => g == g.sorted) && groups.map(_.head) == groups.map(_.head).sorted)
          val loads = groups.map(_.map(blocks(_).load).sum)
          assert(loads.max <= 1.25 * loads.sum / workers)
        }
        chosen.isRight
      }
    }
    assert(found.count(identity) > 100 && found.count(!_) > 20)
  }
}
