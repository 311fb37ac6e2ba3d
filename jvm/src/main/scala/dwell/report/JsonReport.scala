package dwell.report

import com.fasterxml.jackson.databind.json.JsonMapper
import com.fasterxml.jackson.databind.node.ObjectNode

import dwell.record.{FitFacts, FitPhases, RoundRecord, SearchFacts}

/** A report as JSON; docs/fit-report.md describes the schema. Numbers that do not exist are null. */
private[report] object JsonReport {

  /** The version of the schema. A field that is added does not change it. */
  val Version = 1

  val Mapper: JsonMapper = JsonMapper.builder().build()

  /**
   * @param reason
   *   why Spark's own code trained, where it did
   */
  def apply(uid: String, solver: String, reason: Option[String], facts: FitFacts): String = {
    val node = Mapper.createObjectNode()
    node
      .put("version", Version)
      .put("uid", uid)
      .put("estimator", facts.request.estimator)
    params(node.putObject("params"), facts.request.params)
    node
      .put("dwellVersion", facts.request.version)
      .put("date", facts.request.date.toString)
      .put("solver", solver)
      .put("reason", reason.orNull)
      .put("algorithm", facts.algorithm)
      .put("orientation", facts.orientation)
      .put("choice", facts.orientationReason)
      .put("handover", facts.handover)
      .put("aggregation", facts.aggregation)
      .put("aggregationReason", facts.aggregationReason)
      .put("placement", facts.placement)
      .put("restarts", facts.restarts)
    number(node, "objective", facts.objective)
    number(node, "dual", facts.dual)
    number(node, "gap", facts.gap)
    number(node, "relativeGap", RoundRecord.relativeGap(facts.gap, facts.objective))
    number(node, "tolerance", facts.tolerance)
    node
      .put("converged", facts.converged)
    number(node, "oneClass", facts.oneClass)
    node.put("coefficients", facts.coefficients).put("nonzeroCoefficients", facts.nonzeroCoefficients)
    number(node, "explained", facts.explained)
    node
      .put("rows", facts.numRows)
      .put("features", facts.numFeatures)
      .put("nonzeros", facts.nonzeros)
      .put("partitions", facts.nonzerosPerPartition.size)
      .put("stateBytes", facts.stateBytes)
      .put("stateLosses", facts.stateLosses)
      .put("roundsInAll", facts.rounds.size)
    node.putObject("held").put("data", facts.held.data).put("most", facts.held.most)
    phases(node.putObject("phases"), facts.phases)
    facts.search.foreach(search(node.putObject("search"), _))
    val rounds = node.putArray("rounds")
    ListedRounds(facts.rounds).foreach(record => round(rounds.addObject(), record))
    Mapper.writeValueAsString(node)
  }

  private def params(node: ObjectNode, params: Seq[(String, Any)]): Unit = params.foreach {
    case (name, value: Double) => number(node, name, value)
    case (name, value) => node.putPOJO(name, value)
  }

  private def phases(node: ObjectNode, phases: FitPhases): Unit = {
    number(node, "reading", phases.reading)
    number(node, "setUp", phases.setUp)
    number(node, "workers", phases.workers)
    number(node, "leader", phases.leader)
    number(node, "transport", phases.transport)
    number(node, "model", phases.model)
    number(node, "spark", phases.spark)
    number(node, "rest", phases.rest)
  }

  private def search(node: ObjectNode, search: SearchFacts): Unit = {
    node.put("how", search.how)
    number(node, "reading", search.reading)
    val evaluation = node.putArray("evaluation")
    search.evaluation.foreach(evaluation.add(_))
    number(node, "seconds", search.seconds)
    val maps = node.putArray("maps")
    search.maps.foreach { map =>
      val one = maps.addObject()
      params(one.putObject("params"), map.params)
      number(one, "metric", map.metric)
      number(one, "deviation", map.deviation)
      one.put("isBest", map.isBest)
      val (seconds, rounds) = (one.putArray("seconds"), one.putArray("rounds"))
      map.seconds.foreach(seconds.add(_))
      map.rounds.foreach(rounds.add(_))
    }
  }

  private def round(node: ObjectNode, record: RoundRecord): Unit = {
    node.put("round", record.round)
    number(node, "objective", record.objective)
    number(node, "gap", record.gap)
    number(node, "elapsed", record.elapsed)
    number(node, "seconds", record.seconds)
    number(node, "workerSeconds", record.workerSeconds)
    number(node, "leaderSeconds", record.driverSeconds)
    number(node, "overheadSeconds", record.overheadSeconds)
    number(node, "localWork", record.localWork)
    node
      .put("stateBytes", record.stateBytes)
      .put("stateLosses", record.stateLosses)
      .put("note", record.note)
    ()
  }

  /** Puts a number; JSON has no NaN and no infinity. */
  def number(node: ObjectNode, name: String, value: Double): Unit =
    if (value.isNaN || value.isInfinite) node.putNull(name) else node.put(name, value)
}
