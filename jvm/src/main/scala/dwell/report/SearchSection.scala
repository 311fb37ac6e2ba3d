package dwell.report

import dwell.record.{SearchFacts, TriedMap}
import dwell.report.Markup.{escaped, number}

/** What a search has tried, as a part of the report of its best model. */
private[report] object SearchSection {

  /** Lines of text: the search as a whole, then each map. */
  def lines(search: SearchFacts): Seq[String] = whole(search) +: search.maps.map { map =>
    val spread = if (map.deviation.isNaN) "" else s" +- ${number("%.2g", map.deviation)}"
    val best = if (map.isBest) "  (best)" else ""
    s"${number("%.6g", map.metric)}$spread  ${named(map.params)}$best: " +
      s"${number("%.2f", map.seconds.sum)} s, ${map.rounds.sum} rounds"
  }

  /** A picture of the metric by Params, and a table. */
  def html(search: SearchFacts): String =
    s"<h2>The search</h2><p>${escaped(whole(search))}</p>" +
      HtmlPage.figures(Seq("Metric by Params, with its deviation over training sets" -> picture(search))) + table(
        search)

  private def whole(search: SearchFacts): String =
    s"search: ${search.maps.size} maps of Params on ${search.sets} training sets in ${number("%.2f", search.seconds)} s: reading " +
      s"${number("%.2f", search.reading)}, fits ${number("%.2f", search.fits)} (${search.rounds} rounds), evaluation " +
      s"${number("%.2f", search.evaluation.sum)}; ${search.how}"

  private def named(params: Seq[(String, Any)]): String =
    if (params.isEmpty) "as the estimator is" else params.map { case (name, value) => s"$name=$value" }.mkString(", ")

  /** Lines over the Param that has most values, one for each choice of the others; over the number of the map without such a Param. */
  private def picture(search: SearchFacts): String = {
    val values = search.maps.flatMap(_.params).collect { case (name, value: Double) => name -> value }
    val axis = values
      .groupBy(_._1)
      .toSeq
      .map { case (name, all) => (name, all.map(_._2).distinct) }
      .filter(_._2.size > 1)
      .sortBy(_._1)
      .reduceOption((a, b) => if (b._2.size > a._2.size) b else a)
    val isLog = axis.exists(_._2.forall(_ > 0.0))
    def x(map: TriedMap, number: Int): Double = axis.flatMap { case (name, _) => map.params.toMap.get(name) } match {
      case Some(value: Double) => if (isLog) math.log10(value) else value
      case _ => number.toDouble
    }
    val label = axis.fold("number of the map") { case (name, _) => if (isLog) s"log10 of $name" else name }
    val series = search.maps.zipWithIndex
      .groupBy { case (map, _) => named(map.params.filterNot(p => axis.exists(_._1 == p._1))) }
      .toSeq
      .sortBy(_._2.head._2)
      .map { case (name, maps) =>
        val sorted = maps.map { case (map, i) => (x(map, i + 1), map) }.sortBy(_._1)
        Series(
          name,
          sorted.map { case (at, map) => (at, map.metric) },
          sorted.map { case (_, map) => if (map.deviation.isNaN) 0.0 else map.deviation })
      }
    Chart.lines(label, "metric", series, log = false, startAtZero = false)
  }

  private def table(search: SearchFacts): String = {
    val names = search.maps.flatMap(_.params.map(_._1)).distinct
    val head = names ++ Seq("metric", "deviation") ++
      (1 to search.sets).map(set => s"set $set: seconds (rounds)") :+ ""
    val lines = search.maps.map { map =>
      val params = map.params.toMap
      names.map(name => params.get(name).fold("")(_.toString)) ++
        Seq(number("%.6g", map.metric), if (map.deviation.isNaN) "" else number("%.2g", map.deviation)) ++
        map.seconds.zip(map.rounds).map { case (seconds, rounds) =>
          s"${number("%.2f", seconds)} ($rounds)"
        } :+
        (if (map.isBest) "best" else "")
    }
    def row(cells: Seq[String], tag: String) =
      cells.map(c => s"<$tag>${escaped(c)}</$tag>").mkString("<tr>", "", "</tr>")
    s"<table>${row(head, "th")}${lines.map(row(_, "td")).mkString}</table>"
  }
}
