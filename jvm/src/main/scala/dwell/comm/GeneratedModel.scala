package dwell.comm

/**
 * A model of which every entry is a function of its number alone: whoever needs entries makes them, with the same bits
 * wherever that is, and nothing of it has to travel.
 */
trait GeneratedModel extends Serializable {

  /** Entries `from` until `until`, of 8 bytes each. */
  def entries(from: Int, until: Int): Array[Byte]
}
