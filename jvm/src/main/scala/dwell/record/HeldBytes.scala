package dwell.record

import java.util.Locale

/**
 * The bytes of the training data that a fit holds, those on disk included. Where an earlier fit has brought the same data into
 * form, `most` is of that fit.
 *
 * @param data
 *   in the form of the solvers, all partitions together
 * @param most
 *   most at a time: as read, and in the form of the solvers
 */
final case class HeldBytes(data: Long, most: Long) {
  import HeldBytes._

  /** A line of text. */
  private[dwell] def toLine: String = s"${text(data)}, peak while loading ${text(most)}"
}

object HeldBytes {

  private def text(bytes: Long): String = {
    val (unit, name) = Seq(1e9 -> "GB", 1e6 -> "MB", 1e3 -> "kB").find(_._1 <= bytes).getOrElse(1e3 -> "kB")
    s"${number(bytes / unit)} $name"
  }

  private def number(value: Double): String = "%.1f".formatLocal(Locale.ROOT, value)

  /** Of a fit that holds no data. */
  val Nothing: HeldBytes = HeldBytes(0L, 0L)
}
