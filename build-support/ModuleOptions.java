import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

import org.apache.spark.launcher.JavaModuleOptions;

/**
 * Writes the module options that Spark wants of a JVM it is not started in by spark-submit, as an
 * argument file of java, to the path given. The Vector API is not among them: the first compiler, with
 * which tests run, has no instructions for it, and Spark's BLAS then allocates an object for each vector.
 */
public final class ModuleOptions {
  private ModuleOptions() {}

  public static void main(String[] args) throws IOException {
    Path file = Path.of(args[0]);
    Files.createDirectories(file.getParent());
    String options = JavaModuleOptions.defaultModuleOptions().replace("--add-modules=jdk.incubator.vector", "");
    Files.writeString(file, options.trim().replaceAll("\\s+", "\n") + "\n");
  }
}
