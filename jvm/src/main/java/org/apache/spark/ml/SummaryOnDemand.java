package org.apache.spark.ml;

import java.io.Serializable;
import java.util.function.Supplier;

/**
 * Spark's own training summary, made when it is first asked for.
 *
 * <p>The classes that wait for it extend Spark's. They are in Java, because Scala overrides no value by a method.
 */
public final class SummaryOnDemand<S extends Serializable> implements Serializable {
    private static final long serialVersionUID = 1L;

    private final double[] objectiveHistory;
    private transient Supplier<S> make;
    private S made;

    /**
     * @param objectiveHistory the objective at the start and after each round
     * @param make makes Spark's summary
     */
    public SummaryOnDemand(double[] objectiveHistory, Supplier<S> make) {
        this.objectiveHistory = objectiveHistory;
        this.make = make;
    }

    /** The objective at the start and after each round. Nothing is made for it. */
    public double[] objectiveHistory() {
        return objectiveHistory;
    }

    /**
     * Spark's summary.
     *
     * @throws IllegalStateException if this is a copy by serialisation and the summary was not made before: the training
     *     data do not travel
     */
    public synchronized S get() {
        if (made == null) {
            if (make == null) {
                throw new IllegalStateException("The training data of this summary did not travel with its model. Ask the summary for "
                        + "a member, such as its predictions, before you serialise the model.");
            }
            made = make.get();
            make = null;
        }
        return made;
    }
}
