package org.apache.spark.ml.classification;

import org.apache.spark.ml.SummaryOnDemand;
import org.apache.spark.mllib.evaluation.MulticlassMetrics;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;

/**
 * Spark's training summary of a logistic regression of several classes, made when a member is first asked for.
 *
 * <p>What it does not override, Spark computes from what it does.
 */
public final class LogisticRegressionSummaryOnDemand extends LogisticRegressionTrainingSummaryImpl {
    private static final long serialVersionUID = 1L;

    private SummaryOnDemand<LogisticRegressionTrainingSummaryImpl> own;

    /** Never runs: it would need the predictions. */
    private LogisticRegressionSummaryOnDemand() {
        super(null, null, null, null, null, null, null);
    }

    /** Sets what Spark's constructor would set. */
    public LogisticRegressionSummaryOnDemand waitFor(SummaryOnDemand<LogisticRegressionTrainingSummaryImpl> own) {
        this.own = own;
        return this;
    }

    @Override public Dataset<Row> predictions() { return own.get().predictions(); }
    @Override public String probabilityCol() { return own.get().probabilityCol(); }
    @Override public String predictionCol() { return own.get().predictionCol(); }
    @Override public String labelCol() { return own.get().labelCol(); }
    @Override public String featuresCol() { return own.get().featuresCol(); }
    @Override public String weightCol() { return own.get().weightCol(); }
    @Override public double[] objectiveHistory() { return own.objectiveHistory(); }
    @Override public MulticlassMetrics org$apache$spark$ml$classification$ClassificationSummary$$multiclassMetrics() {
        return own.get().org$apache$spark$ml$classification$ClassificationSummary$$multiclassMetrics();
    }
}
