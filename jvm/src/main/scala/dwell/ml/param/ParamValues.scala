package dwell.ml.param

import scala.util.Try

import org.apache.spark.ml.param.{Param, Params}

/** The values of string Params. */
private[ml] object ParamValues {

  /** The value that leaves the choice to the fit. */
  val Auto = "auto"

  /** The value of a Param as a number, if it is a positive finite one. */
  def positive(value: String): Option[Double] =
    Try(value.toDouble).toOption.filter(h => h > 0.0 && !h.isInfinite)

  /** A Param with a closed list of values. Its error names the list, unlike Spark's own message. */
  def choice(parent: Params, name: String, doc: String, allowed: Seq[String]): Param[String] = {
    val list = allowed.mkString(", ")
    new Param[String](
      parent,
      name,
      s"$doc: one of $list",
      (value: String) =>
        allowed.contains(value) || {
          throw new IllegalArgumentException(s"$name must be one of $list, but was '$value'.")
        })
  }
}
