package dwell.report

import com.fasterxml.jackson.databind.json.JsonMapper
import com.fasterxml.jackson.databind.node.ObjectNode

import dwell.record.{FitFacts, FitPhases, RoundRecord}

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
    node
      .put("tolerance", facts.tolerance)
      .put("converged", facts.converged)
    number(node, "oneClass", facts.oneClass)
    node
      .put("rows", facts.numRows)
      .put("features", facts.numFeatures)
      .put("nonzeros", facts.nonzeros)
      .put("partitions", facts.nonzerosPerPartition.size)
      .put("stateBytes", facts.stateBytes)
      .put("stateLosses", facts.stateLosses)
    node.putObject("held").put("data", facts.held.data).put("most", facts.held.most)
    phases(node.putObject("phases"), facts.phases)
    val rounds = node.putArray("rounds")
    facts.rounds.foreach(record => round(rounds.addObject(), record))
    Mapper.writeValueAsString(node)
  }

  private def phases(node: ObjectNode, phases: FitPhases): Unit = {
    node
      .put("reading", phases.reading)
      .put("setUp", phases.setUp)
      .put("workers", phases.workers)
      .put("leader", phases.leader)
      .put("transport", phases.transport)
      .put("model", phases.model)
      .put("spark", phases.spark)
      .put("rest", phases.rest)
    ()
  }

  private def round(node: ObjectNode, record: RoundRecord): Unit = {
    node.put("round", record.round)
    number(node, "objective", record.objective)
    number(node, "gap", record.gap)
    node
      .put("elapsed", record.elapsed)
      .put("seconds", record.seconds)
      .put("workerSeconds", record.workerSeconds)
      .put("leaderSeconds", record.driverSeconds)
      .put("overheadSeconds", record.overheadSeconds)
      .put("localWork", record.localWork)
      .put("stateBytes", record.stateBytes)
      .put("stateLosses", record.stateLosses)
      .put("note", record.note)
    ()
  }

  /** Puts a number; JSON has no NaN and no infinity. */
  def number(node: ObjectNode, name: String, value: Double): Unit =
    if (value.isNaN || value.isInfinite) node.putNull(name) else node.put(name, value)
}
