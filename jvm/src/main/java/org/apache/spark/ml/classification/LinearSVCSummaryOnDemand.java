package org.apache.spark.ml.classification;

import org.apache.spark.ml.SummaryOnDemand;
import org.apache.spark.mllib.evaluation.BinaryClassificationMetrics;
import org.apache.spark.mllib.evaluation.MulticlassMetrics;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;

/**
 * Spark's training summary of a support vector machine, made when a member is first asked for.
 *
 * <p>What it does not override, Spark computes from what it does.
 */
public final class LinearSVCSummaryOnDemand extends LinearSVCTrainingSummaryImpl {
    private static final long serialVersionUID = 1L;

    private SummaryOnDemand<LinearSVCTrainingSummaryImpl> own;

    /** Never runs: it would need the predictions. */
    private LinearSVCSummaryOnDemand() {
        super(null, null, null, null, null, null);
    }

    /** Sets what Spark's constructor would set. */
    public LinearSVCSummaryOnDemand waitFor(SummaryOnDemand<LinearSVCTrainingSummaryImpl> own) {
        this.own = own;
        return this;
    }

    @Override public Dataset<Row> predictions() { return own.get().predictions(); }
    @Override public String scoreCol() { return own.get().scoreCol(); }
    @Override public String predictionCol() { return own.get().predictionCol(); }
    @Override public String labelCol() { return own.get().labelCol(); }
    @Override public String weightCol() { return own.get().weightCol(); }
    @Override public double[] objectiveHistory() { return own.objectiveHistory(); }
    @Override public MulticlassMetrics org$apache$spark$ml$classification$ClassificationSummary$$multiclassMetrics() {
        return own.get().org$apache$spark$ml$classification$ClassificationSummary$$multiclassMetrics();
    }
    @Override public BinaryClassificationMetrics org$apache$spark$ml$classification$BinaryClassificationSummary$$binaryMetrics() {
        return own.get().org$apache$spark$ml$classification$BinaryClassificationSummary$$binaryMetrics();
    }
    @Override public SparkSession org$apache$spark$ml$classification$BinaryClassificationSummary$$sparkSession() {
        return own.get().org$apache$spark$ml$classification$BinaryClassificationSummary$$sparkSession();
    }
}
