package dwell.data.matrix

/** What was read of one source partition. */
private[data] trait ReadBlock extends Serializable {

  /** Index of the source partition. */
  def index: Int

  /**
   * What is wrong with the first bad row, or null. It is a value rather than an exception so that Spark does not try the
   * partition again, and so that the driver can raise it undecorated.
   */
  def problem: String

  /** Hash of the whole block, in order: equal blocks have equal fingerprints. */
  def fingerprint: Long
}
