package dwell.solver.sgd

import com.fasterxml.jackson.databind.JsonNode

import dwell.LimitedSuite
import dwell.jni.{ResultHeader, SgdLayout}
import dwell.data.RowData
import dwell.data.rows.RowPartition
import dwell.fit.SolverSelection
import dwell.jni.Cancellation
import dwell.solver.cd.Golden
import dwell.solver.cd.CdSolverTests.nextFit
import dwell.solver.problem.{Hinge, Logistic, MarginLoss, SmoothedHinge, Softmax, Squared, SquaredHinge, StepSchedule}
import dwell.solver.sgd.contract.{Descend, Evaluate, Search, SgdProblem, SgdSolver}
import dwell.solver.sgd.worker.SgdSolvers

/** Both solvers against the numbers of `tests/golden/sgd.py`, which makes every step on every coefficient. */
class GoldenSgdSuite extends LimitedSuite {
  import Golden.{doubles, golden, integers, items}

  private lazy val solvers: Seq[(String, SgdSolver)] =
    Seq(SolverSelection("jvm", fallbackIsError = true), SolverSelection("native", fallbackIsError = true))
      .map(_.backend())
      .map(backend => (backend.name, SgdSolvers.of(backend)))

  /** Error of sums of some dozens of numbers in another order, relative to the greatest. */
  private val Tolerance = 1e-12

  private def close(found: Seq[Double], expected: Seq[Double], about: String): Unit = {
    assert(found.length == expected.length, about)
    val size = 1.0 + expected.map(math.abs).max
    found.zip(expected).foreach { case (a, b) => assert(math.abs(a - b) <= Tolerance * size, s"$about: $a, $b") }
  }

  private def slots(result: Array[Byte], slots: Int*): Seq[Double] = slots.map(ResultHeader.get(result, _))

  private def numbers(node: JsonNode, names: String*): Seq[Double] = names.map(node.get(_).asDouble)

  /** Rows of a case, with values of single or double precision. */
  private def data(c: JsonNode, narrow: Boolean): RowData = {
    def optional(name: String): Array[Double] = if (c.get(name).isNull) null else doubles(c.get(name))
    val values = doubles(c.get("values"))
    val labels = doubles(c.get("labels"))
    val p = new RowPartition(
      c.get("partition").asInt,
      c.get("features").asInt,
      labels.indices.map(_.toLong).toArray,
      integers(c.get("offsets")),
      integers(c.get("indices")),
      if (narrow) values.map(_.toFloat) else null,
      if (narrow) null else values,
      labels,
      optional("weights"),
      new Array[Double](labels.length),
      null)
    RowData(p, optional("scale"))
  }

  private def problem(c: JsonNode): SgdProblem = {
    val margins = Seq[MarginLoss](Squared, Logistic, Hinge, SmoothedHinge(c.get("gamma").asDouble), SquaredHinge)
    val code = c.get("code").asInt
    val loss = if (code < margins.size) margins(code) else Softmax(c.get("outputs").asInt)
    assert(loss.code == code)
    val Seq(l1, l2, factor) = numbers(c, "l1", "l2", "weightFactor")
    SgdProblem(loss, l1, l2, c.get("intercept").asBoolean, factor)
  }

  private def kind(c: JsonNode): StepSchedule.Kind = SgdSolverTests.kinds.find(_.code == c.get("kind").asInt).get

  /** Calls `body` with every case of a group, for both solvers and widths of values. */
  private def foreachCase(group: String)(body: (JsonNode, SgdSolver, RowData, String) => Unit): Unit =
    for (c <- items(golden("sgd").get(group)); (name, solver) <- solvers; narrow <- Seq(false, true)) {
      body(c, solver, data(c, narrow), s"${c.get("name").asText}, $name, narrow=$narrow")
    }

  private def newResult(c: JsonNode): Array[Byte] = SgdLayout.allocate(c.get("features").asInt, c.get("outputs").asInt)

  private def shared(c: JsonNode): Array[Byte] = SgdCase.pack(doubles(c.get("shared")))

  test("descents") {
    foreachCase("descents") { (c, solver, data, about) =>
      val Seq(eta0, rate, share) = numbers(c, "eta0", "rate", "share")
      val r = Descend(
        nextFit(),
        c.get("seed").asLong,
        problem(c),
        StepSchedule(kind(c), eta0, rate),
        c.get("budget").asLong,
        c.get("cursor").asLong,
        c.get("steps").asLong,
        c.get("running").asBoolean,
        share)
      val result = newResult(c)
      solver.descend(data, r, shared(c), result, Cancellation.NEVER)
      val expected = c.get("expected")
      close(SgdCase.vector(result).toSeq, doubles(expected.get("vector")).toSeq, about)
      close(
        slots(result, SgdLayout.LOSS_SUM, SgdLayout.WEIGHT_SUM, SgdLayout.L1_NORM, SgdLayout.SQUARE_NORM),
        numbers(expected, "lossSum", "weightSum", "l1Norm", "squareNorm"),
        about)
      assert(
        slots(result, SgdLayout.ROWS, ResultHeader.NONZEROS, SgdLayout.CURSOR, SgdLayout.STEPS) ==
          numbers(expected, "rows", "nonzeros", "cursor", "steps"),
        about)
    }
  }

  test("evaluations") {
    foreachCase("evaluations") { (c, solver, data, about) =>
      val dual = if (c.get("dual").isNull) None else Some(doubles(c.get("dual")))
      val result = newResult(c)
      val r = Evaluate(nextFit(), problem(c), c.get("factor").asDouble, dual)
      solver.evaluate(data, r, shared(c), result, Cancellation.NEVER)
      val expected = c.get("expected")
      close(SgdCase.vector(result).toSeq, doubles(expected.get("vector")).toSeq, about)
      close(
        slots(
          result,
          SgdLayout.LOSS_SUM,
          SgdLayout.WEIGHT_SUM,
          SgdLayout.L1_NORM,
          SgdLayout.SQUARE_NORM,
          SgdLayout.POSITIVE_SUM,
          SgdLayout.NEGATIVE_SUM),
        numbers(expected, "lossSum", "weightSum", "l1Norm", "squareNorm") ++ doubles(expected.get("sides")),
        about)
    }
  }

  test("searches") {
    foreachCase("searches") { (c, solver, data, about) =>
      val candidates = doubles(c.get("candidates"))
      val r = Search(
        nextFit(),
        c.get("seed").asLong,
        problem(c),
        StepSchedule(kind(c), Double.NaN, c.get("rate").asDouble),
        candidates,
        c.get("budget").asLong,
        c.get("cursor").asLong,
        c.get("steps").asLong)
      val result = new Array[Byte](ResultHeader.BYTES)
      solver.search(data, r, shared(c), result, Cancellation.NEVER)
      val expected = c.get("expected")
      val found = candidates.indices.map(k => ResultHeader.get(result, SgdLayout.OBJECTIVES + k))
      close(found, doubles(expected.get("objectives")).toSeq, about)
      close(slots(result, SgdLayout.WEIGHT_SUM), numbers(expected, "weightSum"), about)
    }
  }

  test("rounds of two workers, whose models are averaged") {
    val averaging = golden("sgd").get("averaging")
    val Seq(eta, l2) = numbers(averaging, "eta", "l2")
    val x = items(averaging.get("rows")).map(doubles)
    val y = doubles(averaging.get("labels"))
    val workers = items(averaging.get("partitions")).map(integers).zipWithIndex.map { case (members, k) =>
      SgdCase.dense(members.map(x(_).toSeq).toSeq, members.map(y(_)).toSeq, index = k)
    }
    for (c <- items(averaging.get("cases")); (backend, solver) <- solvers) {
      val loss = Logistic
      val problem = SgdProblem(loss, c.get("l1").asDouble, l2, intercept = false, weightFactor = 1.0)
      var model = new Array[Double](x.head.length + 1)
      for ((name, t) <- Seq("round1", "round2").zipWithIndex) {
        val r = Descend(
          nextFit(),
          averaging.get("seed").asLong,
          problem,
          StepSchedule(StepSchedule.Constant, eta, 0.0),
          budget = 3L,
          cursor = 3L * t,
          steps = 3L * t,
          running = false,
          share = 0.5)
        val models = workers.map { data =>
          val result = SgdLayout.allocate(x.head.length, 1)
          solver.descend(data, r, SgdCase.pack(model), result, Cancellation.NEVER)
          SgdCase.vector(result)
        }
        model = models.transpose.map(_.sum).toArray
        close(model.toSeq, doubles(c.get(name)).toSeq :+ 0.0, s"${c.get("name").asText}, ${backend}, $name")
      }
    }
  }
}
