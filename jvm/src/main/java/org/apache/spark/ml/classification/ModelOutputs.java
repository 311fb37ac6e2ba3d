package org.apache.spark.ml.classification;

import org.apache.spark.ml.linalg.Vector;

/** What Spark's models of classes put into the columns of {@code transform}. In Java, because Scala sees no protected members. */
public final class ModelOutputs {
    private ModelOutputs() {}

    /** The margin of the second class: the score by which rows are ranked. */
    public static double margin(ClassificationModel<Vector, ?> model, Vector features) {
        return model.predictRaw(features).apply(1);
    }

    /** The class that is predicted, by the thresholds of the model. */
    public static double prediction(ClassificationModel<Vector, ?> model, Vector features) {
        return model.raw2prediction(model.predictRaw(features));
    }

    /** The probability of a class. */
    public static double probability(ProbabilisticClassificationModel<Vector, ?> model, Vector features, double label) {
        return model.predictProbability(features).apply((int) label);
    }
}
