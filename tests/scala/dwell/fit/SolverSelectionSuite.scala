package dwell.fit

import org.scalatest.funsuite.AnyFunSuite

import dwell.solver.cd.jvm.JvmSolver

class SolverSelectionSuite extends AnyFunSuite {

  test("the choice decides, and a JVM has one solver of each kind") {
    assert(SolverSelection("jvm", fallbackIsError = true).solver() eq JvmSolver.shared)
    assert(SolverSelection("native", fallbackIsError = false).solver().name == "native")
    val automatic = SolverSelection("auto", fallbackIsError = false).solver()
    assert(automatic.name == "native" && (automatic eq SolverSelection("auto", fallbackIsError = false).solver()))
    assert(SolverSelection("auto", fallbackIsError = true).solver() eq automatic)
    assert(SolverSelection.choices.head == "auto")
  }

  test("an unknown choice is refused with the list of those there are") {
    val error = intercept[IllegalArgumentException](SolverSelection("gpu", fallbackIsError = false))
    assert(error.getMessage.contains("auto, native, jvm") && error.getMessage.contains("'gpu'"))
  }
}
