package dwell.spark

import java.util.concurrent.ConcurrentHashMap

import org.apache.spark.SparkContext

/** What an application was warned of. Its environment is the same for all of its fits, and one WARN is enough for each fact. */
private[dwell] object SessionWarnings {
  private val told = ConcurrentHashMap.newKeySet[(String, String)]()

  /** Whether the application has not been told of `fact` before. */
  def isNew(sc: SparkContext, fact: String): Boolean = {
    // Facts with a number in them may be many in a long session.
    if (told.size > MostFacts) told.clear()
    told.add((sc.applicationId, fact))
  }

  private val MostFacts = 1000
}
