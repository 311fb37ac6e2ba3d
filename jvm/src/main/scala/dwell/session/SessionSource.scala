package dwell.session

import java.util.{EnumSet, Map => JavaMap, Set => JavaSet}

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.connector.catalog.{SupportsRead, Table, TableCapability, TableProvider}
import org.apache.spark.sql.connector.expressions.Transform
import org.apache.spark.sql.connector.read.{LocalScan, Scan, ScanBuilder, SupportsPushDownRequiredColumns}
import org.apache.spark.sql.types.StructType
import org.apache.spark.sql.util.CaseInsensitiveStringMap
import org.apache.spark.unsafe.types.UTF8String

/**
 * A data source that tells a client of Spark Connect what the driver knows of the client's own session. Reading columns in their order
 * runs no job, and no column is rendered that is not asked for.
 *
 * @param whole
 *   the columns: text, not null
 */
private[session] abstract class SessionSource(whole: StructType) extends TableProvider {

  /** For each row the text of a column by its name. */
  protected def rows(session: SparkSession, options: CaseInsensitiveStringMap): Seq[String => String]

  override def inferSchema(options: CaseInsensitiveStringMap): StructType = whole

  override def getTable(
      schema: StructType,
      partitioning: Array[Transform],
      properties: JavaMap[String, String]): Table = new SupportsRead {
    override def name: String = SessionSource.this.getClass.getName
    override def schema: StructType = whole
    override def capabilities: JavaSet[TableCapability] = EnumSet.of(TableCapability.BATCH_READ)
    override def newScanBuilder(options: CaseInsensitiveStringMap): ScanBuilder = new Reading(options)
  }

  private final class Reading(options: CaseInsensitiveStringMap)
      extends SupportsPushDownRequiredColumns
      with LocalScan {
    private var asked = whole

    override def pruneColumns(required: StructType): Unit = asked = required
    override def build(): Scan = this
    override def readSchema: StructType = asked

    /** Spark plans a query while the session of the query is the active one. */
    override def rows: Array[InternalRow] =
      SessionSource.this
        .rows(SparkSession.active, options)
        .map(text => InternalRow.fromSeq(asked.fieldNames.toSeq.map(name => UTF8String.fromString(text(name)))))
        .toArray
  }
}
