package dwell.data.block

/** Names of the DataFrame columns that the rows came from; error messages use them. */
final case class ColumnNames(features: String = "features", label: String = "label", weight: String = "weight")
