package dwell.bench.sgd

/**
 * The shape of a data set for SGD: very many rows, few entries in each, and a power law of columns. Those of Guo et al.,
 * "Model averaging in distributed machine learning: a case study with Apache Spark" (VLDB Journal 30, 2021), with fewer rows,
 * and of the widest a tenth of the features. The features are numbered by popularity, the most popular first.
 *
 * | name | public set | nonzeros a row | at scale 1 |
 * |:--|:--|--:|:--|
 * | avazu | 40M x 1M, ones | 15 | 2M x 1M |
 * | url | 2.4M x 3.2M, ones | 115 | 200k x 3.2M |
 * | kddb | 19M x 30M, rows of unit norm | 29 | 950k x 3M |
 * | kdd12 | 150M x 55M, ones | 11 | 2.5M x 5.5M |
 *
 * @param rows
 *   at scale 1, those held out among them
 * @param lengthSigma
 *   of the log-normal number of entries in a row; 0: all rows have the same number
 * @param exponent
 *   popularity of feature i is proportional to `(i + 1 + shift)^-exponent`
 * @param unitRows
 *   rows have norm 1, not entries 1
 * @param positives
 *   share of the label 1
 * @param noise
 *   deviation of what is added to the planted score, whose own is 1, before the label is taken
 */
private[bench] final case class SgdShape(
    name: String,
    rows: Int,
    features: Int,
    entries: Int,
    lengthSigma: Double,
    exponent: Double,
    shift: Double,
    unitRows: Boolean,
    positives: Double,
    noise: Double)

private[bench] object SgdShape {
  // The shares of clicks are those of the public sets; the labels of clicks are the noisy ones.
  private val Avazu = SgdShape("avazu", 2000000, 1000000, 15, 0.0, 1.1, 1.0, unitRows = false, 0.17, 1.0)
  private val Url = SgdShape("url", 200000, 3231961, 115, 0.25, 1.1, 5.0, unitRows = false, 0.33, 0.3)
  private val Kddb = SgdShape("kddb", 950000, 3000000, 29, 0.3, 1.1, 5.0, unitRows = true, 0.86, 0.7)
  private val Kdd12 = SgdShape("kdd12", 2500000, 5468645, 11, 0.0, 1.1, 2.0, unitRows = false, 0.045, 1.0)

  val all: Seq[SgdShape] = Seq(Avazu, Url, Kddb, Kdd12)
}
