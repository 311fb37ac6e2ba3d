package dwell.comm.wire

/**
 * The format of the vectors of an exchange.
 *
 * @param headerBytes
 *   number of bytes before the vector of a contribution
 * @param length
 *   number of entries of a vector, of 8 bytes each
 * @param numbers
 *   the numbers in the entries
 */
final case class VectorFormat(headerBytes: Int, length: Int, numbers: Numbers = Numbers.Doubles) {

  /** The size of a vector in bytes. */
  def bytes: Long = 8L * length

  /** A vector of zeros: no bit is set. */
  private[comm] def zeros: Array[Byte] = new Array[Byte](8 * length)

  /** The codec of its slices. */
  private[comm] def codec: SliceCodec = new SliceCodec(numbers)

  /** @throws IllegalArgumentException if these are not the bytes of a vector */
  private[comm] def check(model: Array[Byte]): Unit =
    require(model.length == bytes, s"a model has ${model.length} bytes where $bytes were expected")
}
