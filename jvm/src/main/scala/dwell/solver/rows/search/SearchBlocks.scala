package dwell.solver.rows.search

import dwell.base.{LittleEndian, SliceBounds}

/**
 * The coordinates of a search, for each output its n features and then its intercept, cut into blocks. A block lies within one output.
 * Sums over all coordinates are sums of the blocks' sums in their order, so that bits do not depend on who has which block.
 */
private[rows] final case class SearchBlocks(outputs: Int, numFeatures: Int) {
  import SearchBlocks._

  private val ofOutput = numFeatures + 1
  private val blocksOfOutput = (ofOutput + Size - 1) / Size

  /** The number of coordinates. */
  def length: Int = outputs * ofOutput

  /** The number of blocks. */
  def number: Int = outputs * blocksOfOutput

  /** The first coordinate of a block; the number of coordinates for the number of blocks. */
  def start(block: Int): Int = outputOf(block) * ofOutput + math.min(ofOutput, block % blocksOfOutput * Size)

  /** Where blocks that follow one another end, from the start of the first one. */
  def ends(blocks: Range): Array[Int] = blocks.map(block => start(block + 1) - start(blocks.start)).toArray

  def outputOf(block: Int): Int = block / blocksOfOutput

  /** Where the intercept of an output stands. */
  def intercept(output: Int): Int = output * ofOutput + numFeatures

  /** Which blocks each of some workers has; about as many each. */
  def dealt(workers: Int): SliceBounds = SliceBounds(number, workers)

  /** Which coordinates each of these workers has. */
  def slices(workers: Int): SliceBounds = new SliceBounds {
    private val blocks = dealt(workers)
    override def count: Int = workers
    override def start(worker: Int): Int = SearchBlocks.this.start(blocks.start(worker))
  }

  /** Makes intercepts of centred features intercepts of features, in a model; `centres` is a number for each block. */
  def uncentre(model: Array[Byte], centres: Seq[Double]): Unit = {
    val numbers = LittleEndian.view(model)
    centres.grouped(blocksOfOutput).zipWithIndex.foreach { case (ofOutput, output) =>
      val at = intercept(output)
      numbers.put(at, numbers.get(at) - ofOutput.foldLeft(0.0)(_ + _))
    }
  }
}

private[rows] object SearchBlocks {

  /** Coordinates of a block: few enough for several workers to share a search. */
  private val Size = 1 << 14

  /** Adds up rows of `width` numbers. */
  def sums(rows: Array[Double], width: Int): Array[Double] = {
    val sums = new Array[Double](width)
    rows.indices.foreach(i => sums(i % width) += rows(i))
    sums
  }
}
