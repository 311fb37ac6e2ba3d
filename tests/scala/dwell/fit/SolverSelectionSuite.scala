package dwell.fit

import dwell.LimitedSuite
import dwell.solver.cd.worker.CdSolvers

/** The choice between the native solver and the one of the JVM. */
class SolverSelectionSuite extends LimitedSuite {

  test("the choice decides, and a JVM has one solver of each kind") {
    assert(SolverSelection("jvm", fallbackIsError = true).backend() == Backend.Jvm)
    assert(SolverSelection("native", fallbackIsError = false).backend() == Backend.Native)
    assert(SolverSelection("auto", fallbackIsError = false).backend() == Backend.Native)
    assert(SolverSelection("auto", fallbackIsError = true).backend() == Backend.Native)
    assert(
      CdSolvers.of(SolverSelection("auto", fallbackIsError = false)) eq CdSolvers.of(
        SolverSelection("native", fallbackIsError = true)))
    assert(
      CdSolvers.of(SolverSelection("jvm", fallbackIsError = true)) eq CdSolvers.of(
        SolverSelection("jvm", fallbackIsError = false)))
    assert(SolverSelection.choices.head == "auto")
  }

  test("an unknown choice is refused with the list of those there are") {
    val error = intercept[IllegalArgumentException](SolverSelection("gpu", fallbackIsError = false))
    assert(error.getMessage.contains("auto, native, jvm") && error.getMessage.contains("'gpu'"))
  }
}
