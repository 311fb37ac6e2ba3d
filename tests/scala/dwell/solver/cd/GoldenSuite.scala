package dwell.solver.cd

import com.fasterxml.jackson.databind.JsonNode
import org.apache.spark.ml.linalg.Vectors

import dwell.LimitedSuite
import dwell.base.{BucketOrder, LittleEndian, SplitMix}
import dwell.data.ColumnData
import dwell.data.block.LabeledRow
import dwell.data.columns.ColumnPartition
import dwell.fit.SolverSelection
import dwell.jni.{Cancellation, CdLayout, ResultHeader}
import dwell.solver.cd.contract.{CdSolver, PrimalSubproblem, RoundRequest, WorkerState}
import dwell.solver.cd.jvm.{JvmCd, WorkerStates}
import dwell.solver.cd.worker.CdSolvers
import dwell.solver.problem.Hinge

/** Both solvers against the numbers of `tests/golden/primal.py`, which shares no code with either. */
class GoldenSuite extends LimitedSuite {
  import Golden.{golden, integers, items}
  import CdSolverTests.nextFit

  /** Doubles are given by their bits. */
  private def exact(node: JsonNode): Double =
    java.lang.Double.longBitsToDouble(java.lang.Long.parseUnsignedLong(node.asText, 16))
  private def exacts(node: JsonNode): Array[Double] = items(node).map(exact).toArray

  private lazy val solvers: Seq[CdSolver] =
    Seq(new JvmCd(new WorkerStates()), CdSolvers.of(SolverSelection("native", fallbackIsError = true)))

  test("generator and order") {
    val order = golden("order")
    items(order.get("generators")).foreach { c =>
      val random = SplitMix.forEpoch(c.get("seed").asLong, c.get("partition").asInt, c.get("epoch").asLong)
      items(c.get("next")).foreach(next => assert(f"${random.next()}%016x" == next.asText))
    }
    items(order.get("orders")).foreach { c =>
      val buckets = new BucketOrder(c.get("coordinates").asInt, c.get("seed").asLong, c.get("partition").asInt)
      assert(buckets.bucketSize == c.get("bucketSize").asInt && buckets.buckets == c.get("buckets").asInt)
      val first = c.get("cursor").asLong
      integers(c.get("starts")).zipWithIndex.foreach { case (start, i) => assert(buckets.start(first + i) == start) }
    }
  }

  test("rounds, to the last bit") {
    for (c <- items(golden("round")); solver <- solvers; narrow <- Seq(false, true)) {
      val rows = c.get("rows").asInt
      val index = c.get("partition").asInt
      val values = exacts(c.get("values"))
      val weights = if (c.get("weights").isNull) null else exacts(c.get("weights"))
      val alpha = exacts(c.get("alpha"))
      val p = new ColumnPartition(
        index,
        rows,
        alpha.indices.toArray,
        integers(c.get("offsets")),
        if (c.get("indices").isNull) null else integers(c.get("indices")),
        if (narrow) values.map(_.toFloat) else null,
        if (narrow) null else values,
        exacts(c.get("mean")),
        exacts(c.get("variance")),
        exacts(c.get("deviation")),
        weights,
        labels = new Array[Double](rows))
      val request = RoundRequest(
        fit = nextFit(),
        round = 0L,
        seed = c.get("seed").asLong,
        budget = c.get("budget").asDouble / alpha.length,
        certificate = true,
        threads = 1,
        batch = false,
        stamps = new Array[Long](index + 1),
        sigmaPrime = exact(c.get("sigmaPrime")),
        totalWeight = exact(c.get("totalWeight")),
        theta1 = 1.0,
        theta2 = 0.0,
        points = Array.emptyDoubleArray,
        subproblem = PrimalSubproblem(
          exact(c.get("l1")),
          exact(c.get("l2")),
          exact(c.get("scaleFactor")),
          c.get("centred").asBoolean))
      assert(request.coordinates(alpha.length) == c.get("budget").asLong)
      val cursor = c.get("cursor").asLong
      solver.importState(request.fit, index, WorkerState(0L, 0L, cursor, alpha, new Array[Double](alpha.length), None))
      val shared = LittleEndian.bytes(exacts(c.get("residual")))
      val result = ResultHeader.allocate(rows)
      assert(solver.round(ColumnData(p, weights), request, shared, result, Cancellation.NEVER))

      val expected = c.get("expected")
      val about = s"${c.get("name").asText}, ${solver.name}"
      val update = new Array[Double](rows)
      ResultHeader.vector(result).get(update)
      assert(update.toSeq == exacts(expected.get("update")).toSeq, about)
      val step = solver.exportState(request.fit, index).get.pending.get
      assert(step.delta.toSeq == exacts(expected.get("delta")).toSeq, about)
      assert(step.cursor == expected.get("cursor").asLong, about)
      for ((slot, name) <- Seq(CdLayout.COORDINATES -> "coordinates", ResultHeader.NONZEROS -> "nonzeros")) {
        assert(ResultHeader.get(result, slot) == expected.get(name).asDouble, s"$about: $name")
      }
      for {
        (slot, name) <- Seq(
          CdLayout.VALUE_BEFORE -> "penaltyBefore",
          CdLayout.VALUE_AFTER -> "penaltyAfter",
          CdLayout.CONJUGATE -> "conjugate",
          CdLayout.RATIO -> "ratio",
          CdLayout.CORRELATION -> "correlation",
          CdLayout.KAPPA -> "kappa")
      } assert(ResultHeader.get(result, slot) == exact(expected.get(name)), s"$about: $name")
      solver.free(request.fit)
    }
  }

  test("the optimum of ridge, lasso and elastic net on the small matrix") {
    val cocoa = golden("cocoa")
    val labels = items(cocoa.get("labels")).map(_.asDouble)
    val rows = items(cocoa.get("rows")).zip(labels).map { case (row, label) =>
      LabeledRow(label, 1.0, Vectors.dense(items(row).map(_.asDouble).toArray))
    }
    for (c <- items(cocoa.get("cases")); solver <- solvers; numPartitions <- Seq(1, 2, 3)) {
      val (l1, l2) = (c.get("l1").asDouble, c.get("l2").asDouble)
      val p = new ColumnProblem(rows, numPartitions, l1, l2, centred = false, scaleFactor = 0.0)
      val fit = nextFit()
      p.run(solver, fit, rounds = 300)
      val found = p.coefficients(solver, fit)
      items(c.get("optimum")).zipWithIndex.foreach { case (a, i) =>
        assert(math.abs(found(i) - a.asDouble) < 1e-12, s"${c.get("name").asText}, ${solver.name}, $numPartitions")
      }
      solver.free(fit)
    }
  }

  test("hinge on the small matrix: the first round and the optimum") {
    val rows = GoldenSuite.smallMatrix.zip(Seq(1.0, -1.0, 1.0, -1.0, 1.0, -1.0)).map { case (row, label) =>
      LabeledRow(label, 1.0, Vectors.dense(row))
    }
    // Rows go to partitions in turn, so that the first three and the last three rows become the partitions.
    val interleaved = Seq(0, 3, 1, 4, 2, 5).map(rows(_))
    // A seed with which both partitions visit their rows in order.
    val seed = Iterator.from(0).map(_.toLong).find { seed =>
      Seq(0, 1).forall { k =>
        val order = new BucketOrder(3, seed, k)
        (0 until 3).forall(i => order.start(i.toLong) == i)
      }
    }
    def close(found: Array[Double], expected: Double*): Boolean =
      found.length == expected.length && found.zip(expected).forall { case (a, b) => math.abs(a - b) < 1e-12 }
    for (solver <- solvers) {
      val p = new RowProblem(interleaved, 2, Hinge, 0.1)
      val fit = nextFit()
      val first = p.data.indices.map(p.round(solver, _, p.request(fit, 0, seed = seed.get)).get)
      def steps(k: Int): Array[Double] =
        solver.exportState(fit, k).get.pending.get.delta.zip(p.data(k).partition.labels).map { case (a, y) => a * y }
      assert(close(steps(0), 0.06, 0.15, 0.195) && close(steps(1), 0.06, 0.084, 0.024), solver.name)
      assert(close(p.sum(first), 0.705, -0.045, 0.06, -0.31), solver.name)
      solver.free(fit)
      for (numPartitions <- Seq(1, 2, 3)) {
        val whole = new RowProblem(rows, numPartitions, Hinge, 0.1)
        val key = nextFit()
        val dual = new DualRounds(whole, solver, key)
        val last = Seq.fill(4000)(dual.round()).last
        assert(math.abs(last.primal - 0.113265306122) < 1e-9, s"${solver.name}, $numPartitions")
        val w = dual.coefficients.zip(Seq(9.0, -2.0, -1.0, -5.0)).map { case (a, b) => a - b / 7.0 }
        assert(w.forall(math.abs(_) < 1e-6), s"${solver.name}, $numPartitions")
        solver.free(key)
      }
    }
  }
}

private[solver] object GoldenSuite {

  /** The matrix of the golden cases. */
  val smallMatrix: Seq[Array[Double]] = Seq(
    Array(1.0, 0.0, 2.0, 0.0),
    Array(0.0, 1.0, 0.0, 1.0),
    Array(1.0, 1.0, 0.0, 0.0),
    Array(0.0, 0.0, 1.0, 2.0),
    Array(2.0, 0.0, 0.0, 1.0),
    Array(0.0, 3.0, 1.0, 0.0))
}
