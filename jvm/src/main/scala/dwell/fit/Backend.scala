package dwell.fit

/** The implementation of the local solvers that a JVM runs. */
sealed abstract class Backend(val name: String)

/** The implementations. */
object Backend {

  /** The native library. */
  case object Native extends Backend("native")

  /** The Scala solvers, for a JVM that cannot load the library or was told not to. */
  case object Jvm extends Backend("jvm")
}
