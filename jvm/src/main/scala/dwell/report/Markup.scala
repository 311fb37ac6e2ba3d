package dwell.report

import java.util.Locale

/** Text and numbers inside HTML and SVG. */
private[report] object Markup {

  def escaped(text: String): String =
    text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace("\"", "&quot;")

  /** `v` in a format of `java.util.Formatter`, with a decimal point in every locale. */
  def number(format: String, v: Double): String = String.format(Locale.ROOT, format, v: java.lang.Double)
}
