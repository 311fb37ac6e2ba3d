/** Stands for the module of that name where a Java lacks it: Spark 4 asks for it by name, and its linear algebra does without. */
module jdk.incubator.vector {
}
