package dwell.connect

import java.util.Optional

import org.apache.spark.sql.connect.plugin.MLBackendPlugin

/**
 * Lets a server of Spark Connect train by native code what clients fit that know Spark alone. The server's administrator or a session names
 * this class in `spark.connect.ml.backend.classes`.
 *
 * Spark asks for the class of every operator that a client fits, writes or reads, and makes a plugin anew for each question.
 */
final class Backend extends MLBackendPlugin {

  /** The class that stands for one of Spark's; empty for all that Dwell does not train, models among them. */
  override def transform(name: String): Optional[String] =
    Optional.ofNullable(Backend.estimators.get(name).map(_.getName).orNull)
}

private object Backend {

  private val estimators: Map[String, Class[_]] =
    Seq(
      classOf[LogisticRegression],
      classOf[LinearSVC],
      classOf[MultilayerPerceptronClassifier],
      classOf[LinearRegression],
      classOf[LDA])
      .map(kind => kind.getSuperclass.getName -> kind)
      .toMap
}
