package org.apache.spark.ml.classification;

import org.apache.spark.ml.SummaryOnDemand;
import org.apache.spark.mllib.evaluation.BinaryClassificationMetrics;
import org.apache.spark.mllib.evaluation.MulticlassMetrics;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;

/**
 * Spark's training summary of a logistic regression of two classes, made when a member is first asked for.
 *
 * <p>What it does not override, Spark computes from what it does.
 */
public final class BinaryLogisticRegressionSummaryOnDemand extends BinaryLogisticRegressionTrainingSummaryImpl {
    private static final long serialVersionUID = 1L;

    private SummaryOnDemand<BinaryLogisticRegressionTrainingSummaryImpl> own;

    /** Never runs: it would need the predictions. */
    private BinaryLogisticRegressionSummaryOnDemand() {
        super(null, null, null, null, null, null, null);
    }

    /** Sets what Spark's constructor would set. */
    public BinaryLogisticRegressionSummaryOnDemand waitFor(SummaryOnDemand<BinaryLogisticRegressionTrainingSummaryImpl> own) {
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
    @Override public BinaryClassificationMetrics org$apache$spark$ml$classification$BinaryClassificationSummary$$binaryMetrics() {
        return own.get().org$apache$spark$ml$classification$BinaryClassificationSummary$$binaryMetrics();
    }
    @Override public SparkSession org$apache$spark$ml$classification$BinaryClassificationSummary$$sparkSession() {
        return own.get().org$apache$spark$ml$classification$BinaryClassificationSummary$$sparkSession();
    }
}
