import java.io.IOException;
import java.io.InputStream;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;

import org.objectweb.asm.ClassReader;
import org.objectweb.asm.ClassVisitor;
import org.objectweb.asm.ClassWriter;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;
import org.scalatest.Args;
import org.scalatest.Args$;
import org.scalatest.Reporter;
import org.scalatest.Suite;
import org.scalatest.events.Event;
import org.scalatest.events.SuiteAborted;
import org.scalatest.events.TestFailed;
import org.scalatest.events.TestSucceeded;
import scala.Option;
import scala.jdk.javaapi.CollectionConverters;

/**
 * Runs Spark's own suites, as Spark compiled them, on the estimators of Dwell: where a suite creates one of Spark's, it gets ours.
 *
 * <p>The first argument is the name of a suite, the second a text that the names of tests have. An empty argument stands for all.
 */
public final class SparkSuites {
  /** The estimators of Spark, and the subclasses that take their places. */
  private static final Map<String, String> OURS = Map.of(
      "org/apache/spark/ml/regression/LinearRegression", "dwell/ml/regression/LinearRegression",
      "org/apache/spark/ml/classification/LogisticRegression", "dwell/ml/classification/LogisticRegression");

  private static final List<String> SUITES =
      List.of("org.apache.spark.ml.regression.LinearRegressionSuite", "org.apache.spark.ml.classification.LogisticRegressionSuite");

  /** Tests that cannot hold, each with the reason. They run, and have to fail: so the list stays true. */
  private static final Map<String, String> EXCLUDED = Map.of(
      "LinearRegressionSuite, linear regression model training summary",
      "asserts that `normal` has a history of one 0, and ours has the objectives of its rounds",
      "LinearRegressionSuite, linear regression training summary totalIterations",
      "asserts that `normal` has no iterations, and ours counts its rounds",
      "LinearRegressionSuite, model size estimation: dense linear regression",
      "asserts that one step from 0 moves all of 10 coefficients, where one of them fits both rows; and Spark's private estimate counts our Params",
      "LogisticRegressionSuite, set initial model",
      "asserts that no iteration follows a model that is optimal already, and Newton's certificate for this loss needs one",
      "LogisticRegressionSuite, model size estimation: dense binary logistic regression",
      "asserts that one step from 0 moves all of 10 coefficients, where one of them separates both rows; and Spark's private estimate counts our Params",
      "LogisticRegressionSuite, model size estimation: dense multinomial logistic regression",
      "Spark's private estimate of a model's size counts the estimator's Params, and ours has more of them than the model");

  private SparkSuites() {}

  public static void main(String[] arguments) throws ReflectiveOperationException {
    Loader loader = new Loader(SparkSuites.class.getClassLoader());
    // Tasks in this JVM look for the suites' closures there.
    Thread.currentThread().setContextClassLoader(loader);
    Report report = new Report();
    for (String name : SUITES) {
      if (name.endsWith(arguments[0])) run((Suite) loader.loadClass(name).getConstructor().newInstance(), arguments[1], report);
    }
    if (arguments[0].isEmpty() && arguments[1].isEmpty()) {
      Set.copyOf(report.excluded).forEach(name -> report.fail(name, "excluded, yet there is no such test", null));
    }
    System.out.printf("%d passed, %d failed%n", report.passed, report.failed);
    System.exit(report.failed == 0 ? 0 : 1);
  }

  private static void run(Suite suite, String matching, Reporter reporter) {
    // What stands for arguments that a call in Scala would leave out.
    Args$ otherwise = Args$.MODULE$;
    Args args = new Args(reporter, otherwise.apply$default$2(), otherwise.apply$default$3(), otherwise.apply$default$4(), otherwise.apply$default$5(),
        otherwise.apply$default$6(), otherwise.apply$default$7(), otherwise.apply$default$8(), otherwise.apply$default$9(), otherwise.apply$default$10());
    if (matching.isEmpty()) suite.run(Option.empty(), args);
    else CollectionConverters.asJava(suite.testNames()).stream().filter(name -> name.contains(matching)).forEach(name -> suite.run(Option.apply(name), args));
  }

  /** Loads the suites with our estimators in them, and leaves all other classes to its parent. */
  private static final class Loader extends ClassLoader {
    Loader(ClassLoader parent) {
      super(parent);
    }

    @Override
    protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
      if (SUITES.stream().noneMatch(name::startsWith)) return super.loadClass(name, resolve);
      synchronized (getClassLoadingLock(name)) {
        Class<?> loaded = findLoadedClass(name);
        if (loaded != null) return loaded;
        try (InputStream original = getResourceAsStream(name.replace('.', '/') + ".class")) {
          if (original == null) throw new ClassNotFoundException(name);
          byte[] changed = withOurs(original.readAllBytes());
          return defineClass(name, changed, 0, changed.length);
        } catch (IOException e) {
          throw new ClassNotFoundException(name, e);
        }
      }
    }
  }

  /** Renames what `new` creates, no more: whatever a suite says of the superclass holds for ours, and the companion object stays Spark's. */
  private static byte[] withOurs(byte[] original) {
    ClassReader reader = new ClassReader(original);
    ClassWriter writer = new ClassWriter(reader, 0);
    ClassVisitor renaming = new ClassVisitor(Opcodes.ASM9, writer) {
      @Override
      public MethodVisitor visitMethod(int access, String name, String descriptor, String signature, String[] exceptions) {
        return new MethodVisitor(Opcodes.ASM9, super.visitMethod(access, name, descriptor, signature, exceptions)) {
          @Override
          public void visitTypeInsn(int opcode, String type) {
            super.visitTypeInsn(opcode, opcode == Opcodes.NEW ? OURS.getOrDefault(type, type) : type);
          }

          @Override
          public void visitMethodInsn(int opcode, String owner, String called, String type, boolean ofInterface) {
            super.visitMethodInsn(opcode, called.equals("<init>") ? OURS.getOrDefault(owner, owner) : owner, called, type, ofInterface);
          }
        };
      }
    };
    reader.accept(renaming, 0);
    return writer.toByteArray();
  }

  /** Prints each test when it ends, and counts. */
  private static final class Report implements Reporter {
    /** Those that have not run yet. */
    final Set<String> excluded = new TreeSet<>(EXCLUDED.keySet());
    int passed;
    int failed;

    @Override
    public void apply(Event event) {
      if (event instanceof TestSucceeded test) {
        String name = nameOf(test.suiteName(), test.testName());
        if (excluded.remove(name)) fail(name, "excluded, yet it passes", null);
        else {
          passed++;
          System.out.printf("ok      %s (%.1f s)%n", name, (Long) test.duration().get() / 1e3);
        }
      } else if (event instanceof TestFailed test) {
        String name = nameOf(test.suiteName(), test.testName());
        if (excluded.remove(name)) System.out.printf("excluded %s: %s%n", name, EXCLUDED.get(name));
        else fail(name, test.message(), test.throwable().getOrElse(() -> null));
      } else if (event instanceof SuiteAborted suite) {
        fail(suite.suiteName(), suite.message(), suite.throwable().getOrElse(() -> null));
      }
    }

    private static String nameOf(String suite, String test) {
      return suite + ", " + test;
    }

    void fail(String name, String why, Throwable thrown) {
      failed++;
      System.out.printf("FAILED  %s: %s%n", name, indented(why));
      for (Throwable cause = thrown; cause != null; cause = cause.getCause()) {
        if (cause != thrown) System.out.println("    " + indented(cause.toString()));
        Stream.of(cause.getStackTrace()).filter(frame -> frame.getClassName().matches("(?!org.scalatest).*Suite.*|dwell.*")).limit(3)
            .forEach(frame -> System.out.println("    at " + frame));
      }
    }

    private static String indented(String text) {
      return text.strip().replace("\n", "\n    ");
    }
  }
}
