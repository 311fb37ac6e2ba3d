package dwell.solver.cd.leader

import dwell.fit.ResultHeaders
import dwell.solver.cd.contract.Subproblem

/**
 * The driver's half of CoCoA in one orientation: what the workers are asked, and what becomes of the sum of their
 * answers. It holds the shared vector of the current iterate and does no communication.
 */
private[solver] trait CdLeader {

  /** Entries of the shared vector. */
  def vectorLength: Int

  /** The shared vector as the workers read it, little endian. */
  def shared: Array[Byte]

  /** Sum of the row weights, S. */
  def totalWeight: Double

  /** What the workers solve from here. */
  def subproblem: Subproblem

  /** Weight of the quadratic term of the local models. */
  def sigmaPrime: Double

  /** Step factors at which the workers measure what only they can, two numbers each. */
  def points: Array[Double]

  /** Epochs of a round that may still be worth their time: rounds fall as 1/H up to one epoch, and hardly beyond a few. */
  def mostLocalWork: Double = 16.0

  /** Whether a round has to visit every coordinate equally often. */
  def wholeEpochs: Boolean = false

  /** Best value of the primal objective so far: that of the model which would be returned. */
  def upperBound: Double

  /** Best lower bound of the optimum so far. */
  def lowerBound: Double

  /** Whether training may stop: the relative gap is at most `tolerance`, or what stands for it where none exists. */
  def converged(tolerance: Double): Boolean = upperBound - lowerBound <= tolerance * upperBound

  /** Whether a round is worth a certificate, which costs a pass over the data. */
  def certifies(round: Int, epochs: Double): Boolean = epochs >= CdLeader.CertifyEveryRoundFrom || round % 2 == 0

  /** Takes in what a certificate pass measured at the current iterate. */
  def certify(headers: ResultHeaders): Unit

  /**
   * Chooses the step factors for the sum of the workers' directions and for the last step, and moves to the new
   * iterate. The objective of the orientation never rises.
   */
  def step(update: Array[Double], headers: ResultHeaders): (Double, Double)

  /**
   * Moves to the iterate whose coordinates have this exact product with the data. Workers forget their last step in a
   * rebuild, and so does the driver.
   *
   * @param continues
   *   whether these are the coordinates that were carried along, so that a difference is rounding
   */
  def restart(product: Array[Double], headers: ResultHeaders, continues: Boolean): Unit

  /** Whether the last round is to be one of plain adding. */
  def finishes: Boolean = false

  /** Makes the next round the last one. */
  def finish(): Unit = ()

  /** The verdict on the last step, where no round comes after it. */
  def settle(verdict: (Double, Double)): (Double, Double) = verdict

  /** Largest relative difference that a restart has found between what was carried along and what it computed. */
  def drift: Double

  /** The model that `upperBound` belongs to, given the coefficients that the workers hold in the primal form. */
  def model(collected: Array[(Array[Int], Array[Double])], numFeatures: Int): (Array[Double], Double)
}

private[solver] object CdLeader {

  /** Rounding of an objective, relative to the one at the start: F cannot rise and no gap can be negative by more. */
  val Rounding = 1e-9

  /** From so many epochs a round on, the certificate's pass over the data is a small part of a round. */
  private val CertifyEveryRoundFrom = 2.0
}
