package dwell.data.block

import dwell.spark.Sent

/**
 * Names of the DataFrame columns that the rows came from; error messages use them.
 *
 * @param occurring
 *   the features that have numbers; None if all have
 */
final case class ColumnNames(
    features: String = "features",
    label: String = "label",
    weight: String = "weight",
    occurring: Option[Sent[OccurringFeatures]] = None) {

  /** Names feature `j` by its index in the source. */
  def ofFeature(j: Int): String = s"Column '$features', index ${occurring.fold(j)(_.value.features(j))}"
}
