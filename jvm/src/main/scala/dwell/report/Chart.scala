package dwell.report

import dwell.report.Markup.escaped

/** A line of a chart. Values that the scale of the chart cannot show are left out; of very many points the peaks and valleys stay.
 *
 * @param spreads
 *   how far each point may be from its place along y; none where nobody knows
 */
private[report] final case class Series(name: String, points: Seq[(Double, Double)], spreads: Seq[Double] = Seq.empty)

/** Bars that lie behind one another in one row of a chart, by start and end. */
private[report] final case class Row(name: String, bars: Seq[(Double, Double)])

/** A part of a bar, and the class of its colour. */
private[report] final case class Part(name: String, style: String)

/**
 * Charts as SVG. The page's style sheet has the colours, by class: `s0`, `s1`, ...
 *
 * Whatever the numbers are, and however many: a chart has a bounded number of marks, points and bars, and all of them lie on it.
 */
private[report] object Chart {
  private val Width = 640.0
  private val Height = 280.0
  private val Left = 74.0
  private val Right = 14.0
  private val Top = 12.0
  private val Bottom = 44.0
  private val RowHeight = 22.0
  private val BarHeight = 36.0
  private val Colours = 6

  /** Points of the lines of a chart, and bars of a stack: more than it has pixels. */
  private val MostPoints = 2000
  private val MostBars = 500

  /** Rows of a chart. */
  val MostRows = 100

  /** Marks of an axis, which its steps aim at half of. */
  private val MostMarks = 12

  /** An axis that is relatively shorter cannot be divided: its marks would round to the same doubles, and their labels have 12 digits. */
  private val ShortestAxis = 1e-12

  /** Numbers of a larger magnitude are not on any axis, so that the length of an axis is finite; neither is a shorter axis than 1/Largest. */
  private val Largest = 1e300

  /** Pixels between two bars of a row that can be seen. */
  private val LeastGap = 0.5

  /** A quantity along an axis of `from` to `to` pixels. */
  private final class Axis(
      label: String,
      values: Seq[Double],
      log: Boolean,
      from: Double,
      to: Double,
      startAtZero: Boolean) {
    private val (low, high) = {
      val shown = values.filter(shows)
      val least = if (shown.isEmpty) 1.0 else shown.min
      val most = if (shown.isEmpty) 1.0 else shown.max
      if (log)
        (math.floor(math.log10(least)), math.max(math.ceil(math.log10(most)), math.floor(math.log10(least)) + 1.0))
      else {
        val bottom = if (startAtZero) math.min(0.0, least) else least
        val shortest = math.max(ShortestAxis * math.max(math.abs(bottom), math.abs(most)), 1.0 / Largest)
        if (most - bottom > shortest) (bottom, most)
        else (bottom - 0.5 * math.abs(bottom) - 0.5, bottom + 0.5 * math.abs(bottom) + 0.5)
      }
    }

    def shows(v: Double): Boolean = math.abs(v) <= Largest && (!log || v > 0.0)

    /** The pixel of a value; the next end of the axis for one that is not on it. */
    def apply(v: Double): Double = {
      val part = ((if (log) math.log10(v) else v) - low) / (high - low)
      from + (if (part.isNaN) 0.0 else math.max(0.0, math.min(1.0, part))) * (to - from)
    }

    /** Values with a mark, and what stands there. */
    def ticks: Seq[(Double, String)] =
      if (log) {
        val every = math.max(1, math.ceil((high - low) / 8.0).toInt)
        (low.toInt to high.toInt by every).map(e => (math.pow(10.0, e.toDouble), s"1e$e"))
      } else {
        val raw = (high - low) / 6.0
        val unit = math.pow(10.0, math.floor(math.log10(raw)))
        val step = Seq(1.0, 2.0, 5.0, 10.0).map(_ * unit).find(_ >= raw).getOrElse(raw)
        val digits = math.max(0, -math.floor(math.log10(step)).toInt)
        val first = math.ceil(low / step)
        val count = math.min(MostMarks, math.floor(high / step - first + 1e-9).toInt + 1)
        (0 until count).map { i =>
          // No -0.
          val v = (first + i) * step + 0.0
          (v, if (digits <= 12 && math.abs(v) < 1e15) decimals(v, digits) else Markup.number("%.3g", v))
        }
      }

    def name: String = label
  }

  def lines(xName: String, yName: String, series: Seq[Series], log: Boolean, startAtZero: Boolean = true): String = {
    val x = new Axis(xName, series.flatMap(_.points.map(_._1)), log = false, Left, Width - Right, startAtZero)
    val ends = series.flatMap(s => s.points.zip(s.spreads).flatMap { case ((_, v), d) => Seq(v - d, v + d) })
    val y = new Axis(yName, series.flatMap(_.points.map(_._2)) ++ ends, log, Height - Bottom, Top, startAtZero = false)
    val paths = series.zipWithIndex.map { case (s, i) =>
      val shown = thinned(s.points.filter { case (u, v) => x.shows(u) && y.shows(v) }, MostPoints / series.size)
      val points = shown.map { case (u, v) => s"${at(x(u))},${at(y(v))}" }
      val dots =
        if (points.size > 60) ""
        else points.map(_.split(',')).map(p => s"""<circle cx="${p(0)}" cy="${p(1)}" r="2.2"/>""").mkString
      s"""<g class="line ${style(i)}"><title>${escaped(s.name)}</title>""" +
        s"""<polyline points="${points.mkString(" ")}"/>$dots${spreads(s, x, y)}</g>"""
    }
    framed(x, y, Height, paths.mkString) + legend(series.zipWithIndex.map { case (s, i) => (s.name, style(i)) })
  }

  private def spreads(s: Series, x: Axis, y: Axis): String =
    s.points
      .zip(s.spreads)
      .take(MostBars)
      .collect {
        case ((u, v), d) if d > 0.0 && x.shows(u) && y.shows(v - d) && y.shows(v + d) =>
          s"""<path class="spread" d="M${at(x(u))} ${at(y(v - d))}V${at(y(v + d))}"/>"""
      }
      .mkString

  /** Of more points than `most` both ends, and of each stretch between them the lowest and the highest point. */
  private def thinned(points: Seq[(Double, Double)], most: Int): Seq[(Double, Double)] =
    if (points.size <= most) points
    else {
      val stretch = 2 * points.size / math.max(2, most - 2) + 1
      val extremes = points.zipWithIndex.grouped(stretch).flatMap { some =>
        Seq(some.minBy(_._1._2), some.maxBy(_._1._2)).distinct.sortBy(_._2).map(_._1)
      }
      points.head +: extremes.toSeq :+ points.last
    }

  /** Bars of several parts; `values` has the parts of each bar. Where they are very many, a bar is the mean of some that follow one another. */
  def stacked(xName: String, yName: String, parts: Seq[Part], values: Seq[Seq[Double]]): String = {
    val x = new Axis(xName, Seq(0.5, values.size + 0.5), log = false, Left, Width - Right, startAtZero = false)
    val each = math.max(1, (values.size + MostBars - 1) / MostBars)
    val bars = values.grouped(each).map(some => some.transpose.map(_.sum / some.size)).toSeq
    val y = new Axis(yName, 0.0 +: bars.map(_.sum), log = false, Height - Bottom, Top, startAtZero = true)
    val width = math.min(40.0, 0.8 * each * (x(1.5) - x(0.5)))
    val paths = parts.indices.map { part =>
      val boxes = bars.zipWithIndex.map { case (bar, i) =>
        val below = bar.take(part).sum
        val middle = x(each * i + (each + 1) / 2.0)
        box(middle - width / 2.0, y(below + bar(part)), width, y(below) - y(below + bar(part)))
      }
      path(parts(part), boxes.mkString)
    }
    framed(x, y, Height, paths.mkString) + legend(parts.map(p => (p.name, p.style)))
  }

  /** One bar along the axis, of several parts that follow one another. */
  def bar(xName: String, parts: Seq[Part], values: Seq[Double]): String = {
    val height = Top + Bottom + BarHeight
    val ends = values.scanLeft(0.0)(_ + _)
    val x = new Axis(xName, ends, log = false, Left, Width - Right, startAtZero = true)
    val paths = parts.indices.map { i =>
      path(parts(i), box(x(ends(i)), Top, x(ends(i + 1)) - x(ends(i)), BarHeight))
    }
    svg(height, paths.mkString + xTicks(x, height)) + legend(parts.map(p => (p.name, p.style)))
  }

  private def path(part: Part, boxes: String): String =
    s"""<path class="bar ${part.style}" d="$boxes"><title>${escaped(part.name)}</title></path>"""

  /** A row of bars for each name; where there are more than `MostRows`, those with the longest bars in all. */
  def rows(xName: String, all: Seq[Row]): String = {
    val rows =
      if (all.size <= MostRows) all
      else {
        val longest = all.zipWithIndex.sortBy { case (row, _) => -row.bars.map(b => b._2 - b._1).sum }
        longest.take(MostRows).sortBy(_._2).map(_._1)
      }
    val height = Top + Bottom + RowHeight * rows.size
    val x = new Axis(
      xName,
      rows.flatMap(_.bars.flatMap(b => Seq(b._1, b._2))),
      log = false,
      Left,
      Width - Right,
      startAtZero = true)
    val bars = rows.zipWithIndex.map { case (row, i) =>
      val top = Top + RowHeight * i
      val boxes = joined(row.bars.map { case (start, end) => (x(start), math.max(x(start) + 0.3, x(end))) }).map {
        case (start, end) => box(start, top + 3.0, end - start, RowHeight - 6.0)
      }
      s"""<rect class="idle" x="${at(Left)}" y="${at(top + 3.0)}" width="${at(Width - Right - Left)}" height="${at(
          RowHeight - 6.0)}"/>""" +
        s"""<path class="bar s0" d="${boxes.mkString}"/>""" +
        s"""<text class="tick" text-anchor="end" x="${at(Left - 6.0)}" y="${at(top + RowHeight / 2.0 + 4.0)}">${escaped(
            row.name)}</text>"""
    }
    svg(height, bars.mkString + xTicks(x, height))
  }

  /** Bars, by start and end in pixels, in their order; those that cannot be told apart are one. */
  private def joined(bars: Seq[(Double, Double)]): Seq[(Double, Double)] =
    bars
      .sortBy(_._1)
      .foldLeft(List.empty[(Double, Double)]) {
        case ((start, end) :: others, (next, until)) if next < end + LeastGap => (start, math.max(end, until)) :: others
        case (done, bar) => bar :: done
      }
      .reverse

  private def framed(x: Axis, y: Axis, height: Double, content: String): String = {
    val marks = y.ticks.map { case (v, text) =>
      s"""<line class="grid" x1="${at(Left)}" x2="${at(Width - Right)}" y1="${at(y(v))}" y2="${at(y(v))}"/>""" +
        s"""<text class="tick" text-anchor="end" x="${at(Left - 6.0)}" y="${at(y(v) + 4.0)}">$text</text>"""
    }
    val name =
      s"""<text class="name" text-anchor="middle" transform="translate(14 ${at(
          (height - Bottom + Top) / 2.0)}) rotate(-90)">""" +
        s"${escaped(y.name)}</text>"
    svg(height, marks.mkString + xTicks(x, height) + name + content)
  }

  private def xTicks(x: Axis, height: Double): String = {
    val marks = x.ticks.map { case (v, text) =>
      s"""<line class="grid" x1="${at(x(v))}" x2="${at(x(v))}" y1="${at(height - Bottom)}" y2="${at(
          height - Bottom + 4.0)}"/>""" +
        s"""<text class="tick" text-anchor="middle" x="${at(x(v))}" y="${at(height - Bottom + 17.0)}">$text</text>"""
    }
    marks.mkString +
      s"""<line class="axis" x1="${at(Left)}" x2="${at(Width - Right)}" y1="${at(height - Bottom)}" y2="${at(
          height - Bottom)}"/>""" +
      s"""<text class="name" text-anchor="middle" x="${at((Left + Width - Right) / 2.0)}" y="${at(
          height - 8.0)}">${escaped(x.name)}</text>"""
  }

  /** @param keys names, and the classes of their colours */
  private def legend(keys: Seq[(String, String)]): String =
    if (keys.size < 2) ""
    else {
      val entries = keys.map { case (name, style) => s"""<span class="key $style">${escaped(name)}</span>""" }
      s"""<div class="legend">${entries.mkString}</div>"""
    }

  /** Of the line with this number: where there are more lines than colours, the others are dashed. */
  private def style(i: Int): String = s"s${i % Colours}" + (if (i < Colours) "" else " dashed")

  private def svg(height: Double, content: String): String =
    s"""<svg viewBox="0 0 ${at(Width)} ${at(height)}" role="img">$content</svg>"""

  private def box(x: Double, y: Double, width: Double, height: Double): String =
    s"M${at(x)} ${at(y)}h${at(width)}v${at(height)}h${at(-width)}z"

  private def at(pixels: Double): String = decimals(pixels, 1)

  private def decimals(v: Double, digits: Int): String = Markup.number(s"%.${digits}f", v)
}
