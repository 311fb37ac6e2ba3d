package org.apache.spark.sql

import scala.annotation.tailrec
import scala.util.control.NonFatal

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.expressions.{Alias, Attribute, AttributeReference, BoundReference, Cast, Expression, NamedExpression}
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, Project}
import org.apache.spark.sql.execution.{CachedData, CacheManager, QueryExecution}
import org.apache.spark.sql.execution.columnar.InMemoryRelation
import org.apache.spark.storage.StorageLevel

/** Private members of Spark SQL that tell where a cached DataFrame is read from. */
object CacheBridge {

  /**
   * Columns of a dataset that Spark would read from a relation that it has cached.
   *
   * Two values are equal if they are the same columns, with the same casts, of the very same cached relation. A
   * relation that the user caches again, or that Spark caches again after a write to a table below it, is another one.
   *
   * @param rdd
   *   holds the cached rows; persisted
   * @param columns
   *   the columns, by their positions in the relation instead of names: Spark finds a cached relation regardless of the
   *   names of its columns in the plan
   */
  final class CachedColumns private[CacheBridge] (
      private val relation: AnyRef,
      val rdd: RDD[_],
      private val columns: Seq[Expression]) {

    override def equals(other: Any): Boolean = other match {
      case that: CachedColumns => (relation eq that.relation) && (rdd eq that.rdd) && columns == that.columns
      case _ => false
    }

    override def hashCode: Int = System.identityHashCode(relation) * 31 + columns.hashCode
  }

  /**
   * The columns of a dataset in the relation that Spark would read them from. None if that relation is not cached, if
   * the columns are computed from cached ones by more than a cast, or if this version of Spark is unknown.
   *
   * @param names
   *   columns of the dataset; each is the name of one column, not an expression
   */
  def cachedColumns(dataset: Dataset[_], names: Seq[String]): Option[CachedColumns] =
    try {
      val execution = call(dataset, "queryExecution").asInstanceOf[QueryExecution]
      // Spark's own look-up starts from this plan.
      val plan = execution.normalized
      for {
        columns <- all(names.map(named(plan.output, _)))
        found <- find(Lookup(call(execution, "sparkSession")), plan, columns)
      } yield found
    } catch {
      case NonFatal(_) | _: LinkageError => None
    }

  /** Spark reads from the largest cached plan, so the search starts at the top. It passes only projections. */
  @tailrec
  private def find(lookup: Lookup, plan: LogicalPlan, columns: Seq[Expression]): Option[CachedColumns] =
    lookup(plan) match {
      case Some(relation) =>
        val builder = relation.cacheBuilder
        // Builds the RDD if it was never read, as reading it would do anyway.
        val rdd = builder.cachedColumnBuffers
        // A user can unpersist the RDD behind Spark SQL's back. Spark SQL then computes the rows at every read.
        if (rdd.getStorageLevel == StorageLevel.NONE) None
        else all(columns.map(bound(_, plan.output))).map(new CachedColumns(builder, rdd, _))
      case None =>
        plan match {
          case project: Project =>
            all(columns.map(substituted(_, project.projectList))) match {
              case Some(below) => find(lookup, project.child, below)
              case None => None
            }
          case _ => None
        }
    }

  private def named(output: Seq[Attribute], name: String): Option[Expression] =
    // Spark would read a dot as a field of a struct, and refuse a name that matches two columns.
    if (name.exists(c => c == '.' || c == '`')) None
    else {
      output.filter(_.name.equalsIgnoreCase(name)) match {
        case Seq(one) if one.name == name => Some(one)
        case _ => None
      }
    }

  /** The same value computed from the projection's input; None if that takes more than casts. */
  private def substituted(column: Expression, list: Seq[NamedExpression]): Option[Expression] =
    if (!onlyCasts(column)) None
    else {
      val attributes = column.references.toSeq
      val below = attributes.flatMap(a => list.find(_.exprId == a.exprId).map(a.exprId -> withoutName(_))).toMap
      if (below.size != attributes.size) None
      else {
        val result = column.transformUp { case a: Attribute => below(a.exprId) }
        if (onlyCasts(result)) Some(result) else None
      }
    }

  private def bound(column: Expression, output: Seq[Attribute]): Option[Expression] = {
    val positions = column.references.toSeq.map(a => a.exprId -> output.indexWhere(_.exprId == a.exprId)).toMap
    if (!onlyCasts(column) || positions.values.exists(_ < 0)) None
    else Some(column.transformUp { case a: Attribute => BoundReference(positions(a.exprId), a.dataType, a.nullable) })
  }

  @tailrec
  private def onlyCasts(column: Expression): Boolean = column match {
    case _: AttributeReference => true
    case cast: Cast => onlyCasts(cast.child)
    case _ => false
  }

  private def withoutName(column: Expression): Expression = column match {
    case alias: Alias => alias.child
    case other => other
  }

  private def all[T](options: Seq[Option[T]]): Option[Seq[T]] =
    if (options.forall(_.isDefined)) Some(options.flatten) else None

  /** Looks plans up in the cache of a session. Spark 4 moved the classes of datasets and sessions, and this method. */
  private final case class Lookup(session: AnyRef) {
    private val manager = call(call(session, "sharedState"), "cacheManager").asInstanceOf[CacheManager]
    private val methods = manager.getClass.getMethods.filter(_.getName == "lookupCachedData")
    private val byPlan = methods.find(_.getParameterTypes.toSeq == Seq(classOf[LogicalPlan]))
    private val bySession = methods.find { method =>
      val types = method.getParameterTypes
      types.length == 2 && types(0).isInstance(session) && types(1) == classOf[LogicalPlan]
    }

    def apply(plan: LogicalPlan): Option[InMemoryRelation] = {
      val found = (byPlan, bySession) match {
        case (Some(method), _) => method.invoke(manager, plan)
        case (_, Some(method)) => method.invoke(manager, session, plan)
        case _ => None
      }
      found match {
        case Some(cached: CachedData) if plan.sameResult(cached.plan) => relation(call(cached, "cachedRepresentation"))
        case _ => None
      }
    }

    private def relation(representation: Any): Option[InMemoryRelation] = representation match {
      case relation: InMemoryRelation => Some(relation)
      case Right(relation: InMemoryRelation) => Some(relation)
      case _ => None
    }
  }

  private def call(target: AnyRef, method: String): AnyRef = target.getClass.getMethod(method).invoke(target)
}
