package dwell.jni;

import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.math.BigInteger;
import java.net.URL;
import java.net.URLConnection;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.DigestOutputStream;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Properties;
import java.util.Set;
import java.util.UUID;
import java.util.function.UnaryOperator;

/**
 * Loads the native library that travels in the jar.
 *
 * <p>Nothing happens in a static initialiser, so a failure never poisons a class: every call of {@link #ensureLoaded()}
 * tries again until one succeeds. The loader copies the library into a new private directory under the first of
 * {@link #directories()} from which it can be loaded; those where every user may exchange files come last, with one WARN. Each
 * copy has a name of its own: no copy is ever overwritten, and each of several class loaders can load one.
 *
 * <table>
 * <caption>System properties</caption>
 * <tr><td>{@value #LIBRARY_PATH}</td><td>absolute path of a library to load instead; the loader tries no other</td></tr>
 * <tr><td>{@value #TEMPORARY_DIRECTORY}</td><td>directory to try first for the copy</td></tr>
 * <tr><td>{@value #DISABLED}</td><td>true: do not load at all</td></tr>
 * </table>
 */
public final class NativeLoader {
  /** System property: absolute path of a library to load instead of the one in the jar. */
  public static final String LIBRARY_PATH = "dwell.library.path";

  /** System property: directory to try first for the copy of the library. */
  public static final String TEMPORARY_DIRECTORY = "dwell.native.tmpDir";

  /** System property: {@code true} to load no library. */
  public static final String DISABLED = "dwell.native.disabled";

  // Bits of the mode of a folder.
  private static final int OTHERS_WRITE = 0002;
  private static final int STICKY = 01000;

  private static final String BUILD_PROPERTIES = "/dwell/build.properties";

  /** Path that the library was loaded from, or null. Written under the lock of the class, after all checks. */
  private static volatile String loadedFrom;

  private static NativeUnavailableException lastFailure;

  private NativeLoader() {}

  /**
   * Makes the functions of {@link NativeBridge} callable. Cheap once it has succeeded. It neither reads nor clears the interrupt
   * flag of the thread: a task that is killed while it loads must not spoil the executor for the next task.
   *
   * @throws NativeUnavailableException
   *   with the reason and the fix in one line; a later call tries again
   */
  public static void ensureLoaded() {
    if (loadedFrom == null) {
      load();
    }
  }

  private static synchronized void load() {
    if (loadedFrom != null) {
      return;
    }
    try {
      String from = attempt();
      lastFailure = null;
      loadedFrom = from;
    } catch (NativeUnavailableException e) {
      lastFailure = e;
      throw e;
    }
  }

  /** Whether {@link NativeBridge} can be called. */
  public static boolean isLoaded() {
    return loadedFrom != null;
  }

  /** Why the last attempt failed; empty if there was none, or once one has succeeded. */
  public static synchronized Optional<NativeUnavailableException> lastFailure() {
    return Optional.ofNullable(lastFailure);
  }

  /** One line for logs: versions, platform and place of the library, or why there is none. */
  public static String description() {
    String from = loadedFrom;
    if (from == null) {
      return lastFailure().map(Throwable::getMessage).orElse("The native library has not been loaded yet.");
    }
    Build build = Build.read();
    return "dwell " + build.version + " (abi " + NativeBridge.ABI_VERSION + ", build " + build.shortId() + ", "
        + Platform.current() + ") loaded from " + from;
  }

  /** Version of the jar. */
  public static String version() {
    return Build.read().version;
  }

  /** The Scala that the jar is for: 2.12 or 2.13. */
  public static String scala() {
    return Build.read().scala;
  }

  private static String attempt() {
    if (Boolean.getBoolean(DISABLED)) {
      throw new NativeUnavailableException("The native library is switched off: remove -D" + DISABLED + "=true to use it.");
    }
    Build build = Build.read();
    String override = System.getProperty(LIBRARY_PATH);
    String from = override != null ? loadGiven(override) : loadBundled(build, Platform.current());
    check(build, from);
    return from;
  }

  private static String loadGiven(String path) {
    String property = "-D" + LIBRARY_PATH + "=" + path;
    if (!isUsableFile(path)) {
      throw new NativeUnavailableException(
          property + " is not an absolute path of a readable file: correct it, or remove it to use the library in the jar.");
    }
    try {
      System.load(path);
    } catch (UnsatisfiedLinkError | IllegalCallerException e) {
      throw new NativeUnavailableException(property + " cannot be loaded (" + oneLine(e) + "): " + LoadFault.of(e).fix, e);
    }
    return path;
  }

  private static boolean isUsableFile(String path) {
    try {
      Path file = Path.of(path);
      return file.isAbsolute() && Files.isRegularFile(file) && Files.isReadable(file);
    } catch (InvalidPathException e) {
      return false;
    }
  }

  private static String loadBundled(Build build, Platform platform) {
    if (platform.libc().equals("musl")) {
      throw new NativeUnavailableException("The jar has no native library for musl (Alpine Linux): use an image with glibc.");
    }
    String resource = platform.resource(build.version);
    URL url = NativeLoader.class.getResource(resource);
    if (url == null) {
      throw new NativeUnavailableException("The jar has no native library for " + platform + " (" + resource
          + "): build it on such a machine, or name a library with -D" + LIBRARY_PATH + ".");
    }
    String sha256 = sha256(resource);
    List<String> failures = new ArrayList<>();
    Throwable firstCause = null;
    // The sort is stable.
    List<Path> directories = new ArrayList<>(directories());
    directories.sort(Comparator.comparing(NativeLoader::isOpenToAll));
    for (Path directory : directories) {
      Throwable failure;
      try {
        String file = loadFrom(directory, url, sha256, platform.fileName(build.version + "-" + UUID.randomUUID()), platform);
        if (isOpenToAll(directory)) {
          System.getLogger(NativeLoader.class.getName()).log(System.Logger.Level.WARNING,
              "The native library was loaded from " + directory + ", where every user of this machine may exchange files: name a "
              + "directory of your own with -D" + TEMPORARY_DIRECTORY + ", or set the sticky bit (chmod +t).");
        }
        return file;
      } catch (UnsatisfiedLinkError | IllegalCallerException e) {
        LoadFault fault = LoadFault.of(e);
        if (fault != LoadFault.NOT_EXECUTABLE) {
          throw new NativeUnavailableException(
              "The native library cannot be loaded (" + oneLine(e) + "): " + fault.fix, e);
        }
        failures.add(directory + " does not allow execution (mounted noexec?)");
        failure = e;
      } catch (IOException | SecurityException e) {
        failures.add(directory + ": " + oneLine(e));
        failure = e;
      }
      if (firstCause == null) {
        firstCause = failure;
      } else {
        firstCause.addSuppressed(failure);
      }
    }
    throw new NativeUnavailableException("The native library can be loaded from none of the directories tried ("
        + String.join("; ", failures) + "): name a writable one that is not mounted noexec with -D"
        + TEMPORARY_DIRECTORY + ".", firstCause);
  }

  /** Whether every user may exchange what is below the directory: all may write to a folder on the way, which has no sticky bit. */
  private static boolean isOpenToAll(Path directory) {
    for (Path folder = directory; folder != null; folder = folder.getParent()) {
      try {
        int mode = (Integer) Files.getAttribute(folder, "unix:mode");
        if ((mode & OTHERS_WRITE) != 0 && (mode & STICKY) == 0) {
          return true;
        }
      } catch (IOException | UnsupportedOperationException e) {
        // The loader has still to make the folder, or the system has no such modes.
        continue;
      }
    }
    return false;
  }

  private static String loadFrom(Path parent, URL url, String sha256, String name, Platform platform) throws IOException {
    Files.createDirectories(parent);
    Path directory = Files.createTempDirectory(parent, "dwell-", privateTo(parent));
    Path file = directory.resolve(name);
    boolean deleteNow = true;
    try {
      copy(url, sha256, file);
      System.load(file.toAbsolutePath().toString());
      // If the system can delete a loaded file, it is deleted at once, so that a killed executor leaves no file behind.
      deleteNow = !platform.os().equals("windows");
    } finally {
      if (deleteNow) {
        Files.deleteIfExists(file);
        Files.deleteIfExists(directory);
      } else {
        // In this order, because the JVM deletes files in reverse order.
        directory.toFile().deleteOnExit();
        file.toFile().deleteOnExit();
      }
    }
    return file.toString();
  }

  /** The SHA-256 of the library as it was built, which stands beside it in the jar. */
  private static String sha256(String resource) {
    URL url = NativeLoader.class.getResource(resource + ".sha256");
    if (url == null) {
      throw new NativeUnavailableException("The jar has no " + resource + ".sha256: use the jar as it was built.");
    }
    try (InputStream in = open(url)) {
      return new String(in.readAllBytes(), StandardCharsets.UTF_8).strip();
    } catch (IOException e) {
      throw new NativeUnavailableException(resource + ".sha256 of the jar cannot be read: use the jar as it was built.", e);
    }
  }

  private static InputStream open(URL url) throws IOException {
    URLConnection connection = url.openConnection();
    // The cache would keep the jar open, and share its stream with other readers, who may close it.
    connection.setUseCaches(false);
    return connection.getInputStream();
  }

  /**
   * Copies with plain streams, because the interrupt of a killed task would close channels, and checks that the file holds what
   * was built.
   */
  private static void copy(URL url, String sha256, Path file) throws IOException {
    Files.createFile(file, privateTo(file.getParent()));
    try (InputStream in = open(url); OutputStream out = new FileOutputStream(file.toFile())) {
      in.transferTo(out);
    }
    try (InputStream in = new FileInputStream(file.toFile());
        DigestOutputStream out = new DigestOutputStream(OutputStream.nullOutputStream(), sha256())) {
      in.transferTo(out);
      if (!String.format("%064x", new BigInteger(1, out.getMessageDigest().digest())).equals(sha256)) {
        throw new IOException("the copy of the library does not have the SHA-256 of the one that was built, " + sha256);
      }
    }
  }

  private static MessageDigest sha256() {
    try {
      return MessageDigest.getInstance("SHA-256");
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("Every Java platform has SHA-256", e);
    }
  }

  private static FileAttribute<?>[] privateTo(Path parent) {
    boolean posix = FileSystems.getDefault().supportedFileAttributeViews().contains("posix");
    return posix
        ? new FileAttribute<?>[] {PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------"))}
        : new FileAttribute<?>[0];
  }

  /** Checks that the loaded library was built for these classes and from the same sources. */
  private static void check(Build build, String from) {
    int abi = NativeBridge.abiVersion();
    if (abi != NativeBridge.ABI_VERSION) {
      throw new NativeUnavailableException("The library " + from + " has ABI " + abi + ", the classes need "
          + NativeBridge.ABI_VERSION + ": use jar and library of one version.");
    }
    String id = NativeBridge.buildId();
    if (!id.equals(build.id)) {
      throw new NativeUnavailableException("The library " + from + " is of build " + id + ", the classes are of build "
          + build.id + ": use jar and library of one build, and only one version of the jar.");
    }
  }

  /** The directories to try for the copy, in this order. */
  static List<Path> directories() {
    return directories(System::getProperty, System::getenv);
  }

  static List<Path> directories(UnaryOperator<String> properties, UnaryOperator<String> environment) {
    List<String> names = new ArrayList<>();
    names.add(properties.apply(TEMPORARY_DIRECTORY));
    names.add(properties.apply("java.io.tmpdir"));
    // Spark's standalone and Kubernetes modes, and YARN, set these to directories for the files of executors.
    for (String variable : new String[] {"SPARK_LOCAL_DIRS", "LOCAL_DIRS"}) {
      String list = environment.apply(variable);
      if (list != null) {
        names.addAll(Arrays.asList(list.split(",")));
      }
    }
    names.add(environment.apply("PWD"));
    String home = properties.apply("user.home");
    names.add(home == null || home.isBlank() ? null : home + "/.cache/dwell");
    Set<Path> directories = new LinkedHashSet<>();
    for (String name : names) {
      if (name != null && !name.isBlank()) {
        try {
          directories.add(Path.of(name.strip()).toAbsolutePath());
        } catch (InvalidPathException e) {
          // The name is not a path on this file system.
          continue;
        }
      }
    }
    return List.copyOf(directories);
  }

  private static String oneLine(Throwable e) {
    String message = e.getMessage();
    return message == null ? e.getClass().getName() : message.lines().findFirst().orElse("").strip();
  }

  /** Why System.load failed, recognised by the message of the dynamic linker, and the fix. */
  enum LoadFault {
    NOT_EXECUTABLE("name a directory that is not mounted noexec with -D" + TEMPORARY_DIRECTORY + ".",
        "failed to map segment", "Operation not permitted", "Permission denied"),
    OLD_LIBC("the C library of this machine is too old: it must have the version named above.", "version `GLIBC_"),
    WRONG_PLATFORM("it is built for another operating system or architecture.",
        "wrong ELF class", "invalid ELF header", "ELF file data encoding", "ELF load command", "incompatible architecture",
        "not a valid Win32 application", "cannot open shared object file", "file too short", "Exec format error"),
    SECURITY_POLICY("a security policy (SELinux) forbids it: allow the executor to map executable files.",
        "executable stack", "cannot restore segment prot", "avc: "),
    OTHER_CLASS_LOADER("give each class loader a copy of its own, or remove -D" + LIBRARY_PATH + ".",
        "already loaded in another classloader"),
    OTHER_VERSION("use jar and library of one version.", "No such method", "unsupported JNI version", "undefined symbol"),
    NATIVE_ACCESS("start Java with --enable-native-access=ALL-UNNAMED (spark.driver.extraJavaOptions and"
        + " spark.executor.extraJavaOptions).", "--enable-native-access", "Illegal native access"),
    OTHER("see the cause; java -cp with this jar, class dwell.jni.NativeInfo, prints a diagnosis.");

    final String fix;
    private final String[] signs;

    LoadFault(String fix, String... signs) {
      this.fix = fix;
      this.signs = signs;
    }

    static LoadFault of(Throwable e) {
      if (e instanceof IllegalCallerException) {
        return NATIVE_ACCESS;
      }
      String message = String.valueOf(e.getMessage());
      // SELinux also says "Permission denied", after its own signs, so its own signs are tested first.
      for (LoadFault fault : new LoadFault[] {SECURITY_POLICY, NOT_EXECUTABLE, OLD_LIBC, WRONG_PLATFORM, OTHER_CLASS_LOADER,
          OTHER_VERSION, NATIVE_ACCESS}) {
        for (String sign : fault.signs) {
          if (message.contains(sign)) {
            return fault;
          }
        }
      }
      return OTHER;
    }
  }

  /** Version and identity of the sources of these classes. */
  private static final class Build {
    private final String version;
    private final String id;
    private final String scala;

    private Build(String version, String id, String scala) {
      this.version = version;
      this.id = id;
      this.scala = scala;
    }

    static Build read() {
      URL url = NativeLoader.class.getResource(BUILD_PROPERTIES);
      if (url == null) {
        throw new NativeUnavailableException("The jar has no " + BUILD_PROPERTIES + ": use the jar as it was built.");
      }
      Properties properties = new Properties();
      try {
        try (InputStream in = open(url)) {
          properties.load(in);
        }
      } catch (IOException | IllegalArgumentException e) {
        throw new NativeUnavailableException(BUILD_PROPERTIES + " of the jar cannot be read: use the jar as it was built.", e);
      }
      String version = properties.getProperty("version");
      String id = properties.getProperty("buildId");
      String scala = properties.getProperty("scala");
      if (version == null || id == null || scala == null) {
        throw new NativeUnavailableException(
            BUILD_PROPERTIES + " of the jar has no version, no buildId or no scala: use the jar as it was built.");
      }
      return new Build(version, id, scala);
    }

    String shortId() {
      return id.substring(0, Math.min(12, id.length()));
    }
  }
}
