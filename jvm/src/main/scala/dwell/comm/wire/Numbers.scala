package dwell.comm.wire

import java.nio.ByteBuffer

import dwell.base.LittleEndian

/**
 * The numbers in the entries of a vector. Every entry is a word of 8 bytes, little endian. Only predictions and sums
 * depend on the numbers in it.
 */
sealed abstract class Numbers extends Serializable {

  /** The numbers of a vector. */
  def values(vector: Array[Byte]): Array[Double]

  /**
   * The numbers of a shared vector, multiplied by each factor in turn and rounded after each product.
   *
   * @param most
   *   the largest number of entries in one call
   */
  private[comm] def products(shared: ByteBuffer, factors: Array[Double], most: Int): Numbers.Products

  /**
   * Adds to the numbers of a vector, which it changes.
   *
   * @param most
   *   the largest number of entries in one call
   */
  private[comm] def adder(sum: ByteBuffer, most: Int): Numbers.Adder
}

object Numbers {

  /** A double in each entry. */
  case object Doubles extends Numbers {

    override def values(vector: Array[Byte]): Array[Double] = LittleEndian.doubles(vector)

    private[comm] override def products(shared: ByteBuffer, factors: Array[Double], most: Int): Products =
      new Products {
        private val from = LittleEndian.buffer(shared).asDoubleBuffer()
        private val numbers = new Array[Double](most)

        override def put(start: Int, size: Int, bits: Array[Long]): Unit = {
          from.duplicate().position(start).get(numbers, 0, size)
          var f = 0
          while (f < factors.length) {
            multiply(factors(f))
            f += 1
          }
          var k = 0
          while (k < size) {
            bits(k) = java.lang.Double.doubleToRawLongBits(numbers(k))
            k += 1
          }
        }

        private def multiply(factor: Double): Unit = {
          var k = 0
          while (k < numbers.length) {
            numbers(k) *= factor
            k += 1
          }
        }
      }

    private[comm] override def adder(sum: ByteBuffer, most: Int): Adder = new Adder {
      private val total = LittleEndian.buffer(sum).asDoubleBuffer()
      private val numbers = new Array[Double](most)

      override def add(start: Int, size: Int, summand: Array[Long]): Unit = {
        total.duplicate().position(start).get(numbers, 0, size)
        var k = 0
        while (k < size) {
          numbers(k) += java.lang.Double.longBitsToDouble(summand(k))
          k += 1
        }
        total.duplicate().position(start).put(numbers, 0, size)
      }
    }
  }

  /** Two floats in each entry. An odd number of floats ends with +0.0 as padding. Factors are rounded to floats. */
  case object Floats extends Numbers {

    override def values(vector: Array[Byte]): Array[Double] = {
      val numbers = LittleEndian.buffer(vector).asFloatBuffer()
      val values = new Array[Double](numbers.remaining())
      var k = 0
      while (k < values.length) {
        values(k) = numbers.get(k).toDouble
        k += 1
      }
      values
    }

    private[comm] override def products(shared: ByteBuffer, factors: Array[Double], most: Int): Products =
      new Products {
        private val from = LittleEndian.buffer(shared).asFloatBuffer()
        private val numbers = new Array[Float](2 * most)

        override def put(start: Int, size: Int, bits: Array[Long]): Unit = {
          from.duplicate().position(2 * start).get(numbers, 0, 2 * size)
          var f = 0
          while (f < factors.length) {
            multiply(factors(f).toFloat)
            f += 1
          }
          var k = 0
          while (k < size) {
            val low = java.lang.Float.floatToRawIntBits(numbers(2 * k)) & 0xffffffffL
            bits(k) = low | (java.lang.Float.floatToRawIntBits(numbers(2 * k + 1)).toLong << 32)
            k += 1
          }
        }

        private def multiply(factor: Float): Unit = {
          var k = 0
          while (k < numbers.length) {
            numbers(k) *= factor
            k += 1
          }
        }
      }

    private[comm] override def adder(sum: ByteBuffer, most: Int): Adder = new Adder {
      private val total = LittleEndian.buffer(sum).asFloatBuffer()
      private val numbers = new Array[Float](2 * most)

      override def add(start: Int, size: Int, summand: Array[Long]): Unit = {
        total.duplicate().position(2 * start).get(numbers, 0, 2 * size)
        var k = 0
        while (k < size) {
          numbers(2 * k) += java.lang.Float.intBitsToFloat(summand(k).toInt)
          numbers(2 * k + 1) += java.lang.Float.intBitsToFloat((summand(k) >>> 32).toInt)
          k += 1
        }
        total.duplicate().position(2 * start).put(numbers, 0, 2 * size)
      }
    }
  }

  /** The result of [[Numbers.products]]. */
  private[comm] trait Products {

    /** Writes the bits of entries `start` until `start + size` to the front of `bits`. */
    def put(start: Int, size: Int, bits: Array[Long]): Unit
  }

  /** The result of [[Numbers.adder]]. */
  private[comm] trait Adder {

    /** Adds the numbers whose bits are at the front of `summand` to entries `start` until `start + size`. */
    def add(start: Int, size: Int, summand: Array[Long]): Unit
  }
}
