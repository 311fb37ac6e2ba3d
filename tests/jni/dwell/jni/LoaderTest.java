package dwell.jni;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.math.BigInteger;
import java.net.MalformedURLException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The loader. Each attempt has a JVM of its own, because a library that is loaded stays loaded. */
class LoaderTest {
  /** The output of {@link LoaderProbe} begins with this when the library was loaded. */
  private static final String LOADED = "loaded " + NativeBridge.ABI_VERSION + " false";

  @TempDir
  Path directory;

  /** Standard output of {@link LoaderProbe}. */
  private String probe(List<String> options, String classPathPrefix, Map<String, String> environment, String... arguments)
      throws IOException, InterruptedException {
    List<String> command = new ArrayList<>();
    command.add(System.getProperty("java.home") + "/bin/java");
    command.addAll(options);
    command.add("-cp");
    command.add(classPathPrefix + System.getProperty("java.class.path"));
    command.add(LoaderProbe.class.getName());
    command.addAll(List.of(arguments));
    ProcessBuilder builder = new ProcessBuilder(command);
    for (String variable : new String[] {"SPARK_LOCAL_DIRS", "LOCAL_DIRS", "JAVA_TOOL_OPTIONS"}) {
      builder.environment().remove(variable);
    }
    builder.environment().putAll(environment);
    builder.redirectError(ProcessBuilder.Redirect.INHERIT);
    Process process = builder.start();
    String output = new String(process.getInputStream().readAllBytes(), java.nio.charset.StandardCharsets.UTF_8);
    assertTrue(process.waitFor(60, TimeUnit.SECONDS));
    assertEquals(0, process.exitValue(), output);
    return output;
  }

  private String load(String... options) throws IOException, InterruptedException {
    return probe(List.of(options), "", Map.of(), "load");
  }

  private static void contains(String output, String... parts) {
    for (String part : parts) {
      assertTrue(output.contains(part), output);
    }
  }

  private static Properties build() throws IOException {
    Properties build = new Properties();
    try (InputStream in = NativeLoader.class.getResourceAsStream("/dwell/build.properties")) {
      build.load(in);
    }
    return build;
  }

  private static URL bundled() throws IOException {
    return NativeLoader.class.getResource(Platform.current().resource(build().getProperty("version")));
  }

  private Path copyOfLibrary() throws IOException {
    Path copy = directory.resolve("copy.so");
    try (InputStream in = bundled().openStream()) {
      Files.copy(in, copy);
    }
    return copy;
  }

  /** A path that no user can make a directory, not even root. */
  private String unusable() throws IOException {
    Path file = directory.resolve("file");
    if (!Files.exists(file)) {
      Files.createFile(file);
    }
    return file.resolve("below").toString();
  }

  private long filesIn(Path parent) throws IOException {
    try (Stream<Path> files = Files.list(parent)) {
      return files.count();
    }
  }

  @Test
  void theBundledLibraryLoadsAndLeavesNothingBehind() throws Exception {
    Path target = Files.createDirectory(directory.resolve("target"));
    String output = load("-Ddwell.native.tmpDir=" + target);
    contains(output, LOADED + " dwell " + build().getProperty("version"), target.toString());
    if (Platform.current().os().equals("linux")) {
      assertEquals(0, filesIn(target));
    }
  }

  @Test
  void anOverrideIsUsedAndNothingElse() throws Exception {
    Path copy = copyOfLibrary();
    contains(load("-Ddwell.library.path=" + copy), "loaded", "loaded from " + copy);
    assertTrue(Files.exists(copy));
    contains(load("-Ddwell.library.path=" + copy + "x"), "failed false true", "not an absolute path of a readable file");
    contains(load("-Ddwell.library.path=copy.so"), "failed", "not an absolute path");
    Path text = Files.writeString(directory.resolve("text.so"), "no library, but long enough to have a header ".repeat(4));
    contains(load("-Ddwell.library.path=" + text), "failed", "another operating system or architecture");
  }

  @Test
  void itCanBeSwitchedOffAndOnAgain() throws Exception {
    contains(load("-Ddwell.native.disabled=true"), "failed", "-Ddwell.native.disabled=true");
    String output = probe(List.of("-Ddwell.native.disabled=true"), "", Map.of(), "retry", "dwell.native.disabled");
    contains(output, "failed false true The native library is switched off", LOADED);
  }

  @Test
  void unusableDirectoriesAreSkipped() throws Exception {
    contains(load("-Ddwell.native.tmpDir=" + unusable()), LOADED);
    Path last = Files.createDirectory(directory.resolve("home"));
    Map<String, String> environment = Map.of("PWD", unusable(), "SPARK_LOCAL_DIRS", unusable() + "," + unusable());
    List<String> options = List.of("-Ddwell.native.tmpDir=" + unusable(), "-Djava.io.tmpdir=" + unusable());
    List<String> withHome = new ArrayList<>(options);
    withHome.add("-Duser.home=" + last);
    contains(probe(withHome, "", environment, "load"), LOADED, last + "/.cache/dwell/");
    List<String> without = new ArrayList<>(options);
    without.add("-Duser.home=" + unusable());
    String output = probe(without, "", environment, "load");
    contains(output, "failed", "none of the directories tried", unusable(), "-Ddwell.native.tmpDir");
    assertEquals(1, output.lines().count());
  }

  @Test
  void aDirectoryWhereAllMayExchangeFilesIsTheLast() throws Exception {
    Assumptions.assumeFalse(Platform.current().os().equals("windows"), "no modes");
    Path open = Files.createDirectory(directory.resolve("open"));
    Path below = Files.createDirectory(open.resolve("below"));
    Path own = Files.createDirectory(directory.resolve("own"));
    Files.setPosixFilePermissions(open, PosixFilePermissions.fromString("rwxrwxrwx"));
    List<String> options = List.of("-Ddwell.native.tmpDir=" + below, "-Duser.home=" + unusable());
    List<String> both = new ArrayList<>(options);
    both.add("-Djava.io.tmpdir=" + own);
    contains(probe(both, "", Map.of("PWD", unusable()), "load"), LOADED, "loaded from " + own);
    List<String> alone = new ArrayList<>(options);
    alone.add("-Djava.io.tmpdir=" + unusable());
    contains(probe(alone, "", Map.of("PWD", unusable()), "load"), LOADED, "loaded from " + below);
  }

  @Test
  void aDirectoryMountedNoexecIsNamedAndSkipped() throws Exception {
    Path noexec = noexecDirectory();
    Assumptions.assumeTrue(noexec != null, "no writable file system is mounted noexec here");
    contains(load("-Ddwell.native.tmpDir=" + noexec), LOADED);
    List<String> options = List.of("-Ddwell.native.tmpDir=" + noexec, "-Djava.io.tmpdir=" + unusable(), "-Duser.home=" + unusable());
    contains(probe(options, "", Map.of("PWD", unusable()), "load"), "failed", noexec + " does not allow execution");
  }

  private static Path noexecDirectory() throws IOException {
    Path mounts = Path.of("/proc/mounts");
    if (!Files.isReadable(mounts)) {
      return null;
    }
    for (String line : Files.readAllLines(mounts)) {
      String[] fields = line.split(" ");
      Path mount = Path.of(fields[1]);
      if (List.of(fields[3].split(",")).contains("noexec") && fields[2].equals("tmpfs") && Files.isWritable(mount)) {
        return mount;
      }
    }
    return null;
  }

  @Test
  void anotherBuildIsRefused() throws Exception {
    Path resources = directory.resolve("other/dwell");
    Files.createDirectories(resources);
    Properties other = build();
    other.setProperty("buildId", "other");
    try (OutputStream out = Files.newOutputStream(resources.resolve("build.properties"))) {
      other.store(out, null);
    }
    String output = probe(List.of(), resources.getParent() + File.pathSeparator, Map.of(), "load");
    contains(output, "failed false true", "is of build " + build().getProperty("buildId"), "of build other");
  }

  @Test
  void aLibraryThatIsNotTheOneThatWasBuiltIsRefused() throws Exception {
    Path hash = directory.resolve("other" + Platform.current().resource(build().getProperty("version")) + ".sha256");
    Files.createDirectories(hash.getParent());
    Files.writeString(hash, "0".repeat(64));
    String output = probe(List.of(), directory.resolve("other") + File.pathSeparator, Map.of(), "load");
    contains(output, "failed false true", "does not have the SHA-256", "0".repeat(64));
  }

  @Test
  void aVersionWithoutALibraryIsRefused() throws Exception {
    Path resources = directory.resolve("other/dwell");
    Files.createDirectories(resources);
    Files.writeString(resources.resolve("build.properties"), "version=0.0.0\nbuildId=x\nscala=2.13\n");
    String output = probe(List.of(), resources.getParent() + File.pathSeparator, Map.of(), "load");
    contains(output, "failed", "no native library for " + Platform.current(), "-Ddwell.library.path");
    Files.writeString(resources.resolve("build.properties"), "version=0.0.0\n");
    output = probe(List.of(), resources.getParent() + File.pathSeparator, Map.of(), "load");
    contains(output, "failed", "no buildId or no scala");
  }

  @Test
  void eachJvmTakesTheLibraryOfItsArchitecture() throws Exception {
    String other = Platform.current().toString().contains("x86_64") ? "aarch64" : "x86_64";
    String version = build().getProperty("version");
    String resource = new Platform("linux", other, "glibc").resource(version);
    Assumptions.assumeTrue(Platform.current().os().equals("linux"), "the JVM takes no other name of its system");
    Assumptions.assumeTrue(NativeLoader.class.getResource(resource) == null, "there are libraries for both");
    List<String> options = List.of("-Dos.arch=" + other);
    contains(probe(options, "", Map.of(), "load"), "failed", "no native library for linux/" + other, resource, "build it on such a machine");
    // The library of this machine under the other's name shows which one is taken.
    Path given = directory.resolve("other" + resource);
    Files.createDirectories(given.getParent());
    Files.copy(copyOfLibrary(), given);
    try (InputStream in = NativeLoader.class.getResourceAsStream(Platform.current().resource(version) + ".sha256")) {
      Files.copy(in, Path.of(given + ".sha256"));
    }
    String prefix = directory.resolve("other") + File.pathSeparator;
    contains(probe(options, prefix, Map.of(), "load"), LOADED, "linux/" + other);
    // e_machine of an ELF header: MIPS.
    byte[] library = Files.readAllBytes(given);
    library[18] = 8;
    library[19] = 0;
    Files.write(given, library);
    byte[] digest = MessageDigest.getInstance("SHA-256").digest(library);
    Files.writeString(Path.of(given + ".sha256"), String.format("%064x", new BigInteger(1, digest)));
    contains(probe(options, prefix, Map.of(), "load"), "failed", "another operating system or architecture");
  }

  @Test
  void otherSystemsAreToldWhatToDo() throws Exception {
    for (String[] system : new String[][] {{"Mac OS X", "darwin/aarch64"}, {"Windows 11", "windows/aarch64"}}) {
      String output = probe(List.of("-Dos.name=" + system[0], "-Dos.arch=aarch64"), "", Map.of(), "load");
      contains(output, "failed", "no native library for " + system[1]);
      assertEquals(1, output.lines().count());
    }
  }

  @Test
  void aLibraryWithoutTheFunctionsIsRefusedByName() throws Exception {
    // The classes of another version: NativeBridge does not have the methods that the library binds.
    Path classes = Files.createDirectories(directory.resolve("classes"));
    Path source = Files.writeString(directory.resolve("NativeBridge.java"), """
        package dwell.jni;
        public final class NativeBridge {
          public static final int ABI_VERSION = 1;
          public static native int abiVersion();
          public static native String buildId();
          public static native long stateEntries();
        }
        """);
    javax.tools.JavaCompiler compiler = javax.tools.ToolProvider.getSystemJavaCompiler();
    Assumptions.assumeTrue(compiler != null, "this Java has no compiler");
    assertEquals(0, compiler.run(null, null, null, "-d", classes.toString(), source.toString()));
    String output = probe(List.of(), classes + File.pathSeparator, Map.of(), "load");
    contains(output, "failed", "primalRound", "use jar and library of one version");
  }

  @Test
  void anInterruptedThreadLoadsAndStaysInterrupted() throws Exception {
    contains(probe(List.of(), "", Map.of(), "interrupted"), LOADED, "interrupted true");
  }

  @Test
  void manyThreadsLoadOnce() throws Exception {
    contains(probe(List.of(), "", Map.of(), "concurrent"), "failures []");
  }

  @Test
  void aSecondClassLoaderHasACopyOfItsOwn() throws Exception {
    NativeLoader.ensureLoaded();
    Problem p = new PrimalProblem(new Random(1), 20, 5, Problem.Values.ONES, false, true);
    assertEquals(NativeBridge.OK, p.round(0, p.newResult()));
    try (URLClassLoader second = new URLClassLoader(classPath(), ClassLoader.getPlatformClassLoader())) {
      Class<?> loader = second.loadClass(NativeLoader.class.getName());
      Class<?> bridge = second.loadClass(NativeBridge.class.getName());
      assertFalse(loader == NativeLoader.class);
      loader.getMethod("ensureLoaded").invoke(null);
      assertEquals(0L, bridge.getMethod("stateEntries").invoke(null));
      assertEquals(NativeBridge.buildId(), bridge.getMethod("buildId").invoke(null));
    }
    assertEquals(1, NativeBridge.stateEntries());
    p.free();
  }

  private static URL[] classPath() throws MalformedURLException {
    List<URL> urls = new ArrayList<>();
    for (String entry : System.getProperty("java.class.path").split(File.pathSeparator)) {
      urls.add(Path.of(entry).toUri().toURL());
    }
    return urls.toArray(new URL[0]);
  }
}
