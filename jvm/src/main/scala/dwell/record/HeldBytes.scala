package dwell.record

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

  /** A line of text; `nonzeros` are those of all rows. */
  private[dwell] def toLine(nonzeros: Long): String = {
    def each(bytes: Long): String = if (nonzeros > 0L) f" (${bytes.toDouble / nonzeros}%.1f a nonzero)" else ""
    s"data $data bytes${each(data)}, at most $most${each(most)} while they came into form"
  }
}

object HeldBytes {

  /** Of a fit that holds no data. */
  val Nothing: HeldBytes = HeldBytes(0L, 0L)
}
