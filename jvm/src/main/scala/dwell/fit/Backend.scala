package dwell.fit

/** The implementation of the local solvers that a JVM runs. */
sealed abstract class Backend(val name: String)

object Backend {

  /** The native library. */
  case object Native extends Backend("native")

  /** Scala, where the library cannot load or must not. */
  case object Jvm extends Backend("jvm")
}
