package org.apache.spark.ml.regression;

import org.apache.spark.ml.SummaryOnDemand;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;

/**
 * Spark's training summary of a linear regression, whose jobs wait until a member is asked for that needs them.
 *
 * <p>It overrides every member: Spark's find no values.
 */
public final class LinearRegressionSummaryOnDemand extends LinearRegressionTrainingSummary {
    private static final long serialVersionUID = 1L;

    private SummaryOnDemand<LinearRegressionTrainingSummary> own;
    private double[] diagInvAtWA;
    private double[] coefficientArray;

    /** Never runs: it would need the predictions, and Spark's differs between versions. */
    private LinearRegressionSummaryOnDemand() {
        super(null, null, null, null, null, null, null);
    }

    /** Sets what Spark's constructor would set. */
    public LinearRegressionSummaryOnDemand waitFor(
            SummaryOnDemand<LinearRegressionTrainingSummary> own, double[] diagInvAtWA, double[] coefficientArray) {
        this.own = own;
        this.diagInvAtWA = diagInvAtWA;
        this.coefficientArray = coefficientArray;
        return this;
    }

    @Override public Dataset<Row> predictions() { return own.get().predictions(); }
    @Override public String predictionCol() { return own.get().predictionCol(); }
    @Override public String labelCol() { return own.get().labelCol(); }
    @Override public String featuresCol() { return own.get().featuresCol(); }
    @Override public double explainedVariance() { return own.get().explainedVariance(); }
    @Override public double meanAbsoluteError() { return own.get().meanAbsoluteError(); }
    @Override public double meanSquaredError() { return own.get().meanSquaredError(); }
    @Override public double rootMeanSquaredError() { return own.get().rootMeanSquaredError(); }
    @Override public double r2() { return own.get().r2(); }
    @Override public double r2adj() { return own.get().r2adj(); }
    @Override public Dataset<Row> residuals() { return own.get().residuals(); }
    @Override public long numInstances() { return own.get().numInstances(); }
    @Override public long degreesOfFreedom() { return own.get().degreesOfFreedom(); }
    @Override public double[] devianceResiduals() { return own.get().devianceResiduals(); }
    @Override public double[] coefficientStandardErrors() { return own.get().coefficientStandardErrors(); }
    @Override public double[] tValues() { return own.get().tValues(); }
    @Override public double[] pValues() { return own.get().pValues(); }
    @Override public double[] objectiveHistory() { return own.objectiveHistory(); }
    @Override public int totalIterations() { return own.objectiveHistory().length - 1; }

    /** The diagonal from which standard errors come. Spark 4.1 made it public. */
    public double[] diagInvAtWA() {
        return diagInvAtWA;
    }

    /** The coefficients, and the intercept if one was fitted. Spark has it from 4.1 on. */
    public double[] coefficientArray() {
        return coefficientArray;
    }
}
