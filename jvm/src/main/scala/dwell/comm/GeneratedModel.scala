package dwell.comm

/**
 * A model whose entries are functions of their numbers alone. Each process computes the entries that it needs, with the
 * same bits everywhere, so that no part of the model has to travel.
 */
trait GeneratedModel extends Serializable {

  /** Entries `from` until `until`, of 8 bytes each. */
  def entries(from: Int, until: Int): Array[Byte]
}
