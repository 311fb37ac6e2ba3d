package dwell.comm.wire

/**
 * What the vectors of an exchange look like.
 *
 * @param headerBytes
 *   bytes before the vector of a contribution
 * @param length
 *   entries of a vector, of 8 bytes each
 * @param numbers
 *   what they hold
 */
final case class VectorFormat(headerBytes: Int, length: Int, numbers: Numbers = Numbers.Doubles) {

  /** Bytes of a vector. */
  def bytes: Long = 8L * length

  /** A vector without any bit set: of zeros. */
  private[comm] def zeros: Array[Byte] = new Array[Byte](8 * length)

  /** How its slices travel. */
  private[comm] def codec: SliceCodec = new SliceCodec(numbers)

  /** @throws IllegalArgumentException if these are not the bytes of a vector */
  private[comm] def check(model: Array[Byte]): Unit =
    require(model.length == bytes, s"a model has ${model.length} bytes where $bytes were expected")
}
