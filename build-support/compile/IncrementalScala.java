import java.io.File;
import java.net.MalformedURLException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;
import sbt.internal.inc.Locate;
import sbt.internal.inc.PlainVirtualFileConverter;
import sbt.internal.inc.ScalaInstance;
import sbt.internal.inc.Stamps;
import sbt.internal.inc.ZincUtil;
import sbt.internal.inc.consistent.ConsistentFileAnalysisStore;
import scala.Option;
import xsbti.CompileFailed;
import xsbti.FileConverter;
import xsbti.Logger;
import xsbti.Position;
import xsbti.Problem;
import xsbti.Reporter;
import xsbti.Severity;
import xsbti.T2;
import xsbti.VirtualFile;
import xsbti.compile.AnalysisContents;
import xsbti.compile.AnalysisStore;
import xsbti.compile.ClasspathOptionsUtil;
import xsbti.compile.CompileAnalysis;
import xsbti.compile.CompileOptions;
import xsbti.compile.CompileOrder;
import xsbti.compile.CompileResult;
import xsbti.compile.CompilerCache;
import xsbti.compile.Compilers;
import xsbti.compile.DefinesClass;
import xsbti.compile.IncOptions;
import xsbti.compile.IncrementalCompiler;
import xsbti.compile.Inputs;
import xsbti.compile.PerClasspathEntryLookup;
import xsbti.compile.PreviousResult;
import xsbti.compile.Setup;
import xsbti.compile.analysis.ReadStamps;
import xsbti.compile.analysis.ReadWriteMappers;

/**
 * Compiles a module of Scala by Zinc: the sources that changed, and those that depend on what changed in them.
 *
 * <p>The argument is a file of lines, each a word and a value: {@code output} (folder of class files), {@code
 * analysis} (what Zinc remembers of the module), {@code warnings} (a file for the warnings of all sources, those that
 * were not compiled this time among them), {@code option} (of scalac), {@code scala} (a jar of the compiler), {@code
 * bridge}, {@code library} (an entry of the class path), {@code module} (output and analysis of a module on the class
 * path, with a path separator between) and {@code source}. All but the first three may stand more than once.
 *
 * <p>It prints errors, and the warnings of what it compiled; and how many sources those were. A module whose folder of
 * class files is gone, or whose analysis cannot be read, is compiled from the beginning.
 */
public final class IncrementalScala {
  private IncrementalScala() {}

  private static final FileConverter CONVERTER = PlainVirtualFileConverter.converter();

  public static void main(String[] args) throws Exception {
    Map<String, List<String>> lines = new HashMap<>();
    for (String line : Files.readAllLines(Path.of(args[0]))) {
      int space = line.indexOf(' ');
      lines.computeIfAbsent(line.substring(0, space), word -> new ArrayList<>()).add(line.substring(space + 1));
    }
    System.exit(compile(lines) ? 0 : 1);
  }

  private static boolean compile(Map<String, List<String>> lines) throws Exception {
    Path output = Path.of(lines.get("output").get(0));
    Path analysis = Path.of(lines.get("analysis").get(0));
    Path warnings = Path.of(lines.get("warnings").get(0));
    if (!Files.isDirectory(output)) {
      Files.deleteIfExists(analysis);
    }
    Files.createDirectories(output);
    Files.createDirectories(analysis.getParent());
    Files.deleteIfExists(warnings);

    Messages messages = new Messages();
    AnalysisStore store = store(analysis);
    Modules modules = new Modules(lines.getOrDefault("module", List.of()));
    Inputs inputs =
        Inputs.of(compilers(lines), options(lines, output), setup(modules, analysis, messages), previous(store));
    IncrementalCompiler zinc = ZincUtil.defaultIncrementalCompiler();
    try {
      CompileResult result = zinc.compile(inputs, messages);
      if (result.hasModified()) {
        store.set(AnalysisContents.create(result.analysis(), result.setup()));
      }
      writeWarnings(result.analysis(), warnings);
      return true;
    } catch (CompileFailed failed) {
      System.err.println(messages.errors() + " errors");
      return false;
    }
  }

  @SuppressWarnings("unchecked") // There is no array of a generic type.
  private static Setup setup(Modules modules, Path analysis, Messages messages) {
    T2<String, String>[] nothingMore = (T2<String, String>[]) new T2<?, ?>[0];
    return Setup.of(
        modules,
        false,
        analysis,
        CompilerCache.fresh(),
        IncOptions.of(),
        messages,
        Optional.empty(),
        Optional.empty(),
        nothingMore);
  }

  private static AnalysisStore store(Path analysis) {
    return ConsistentFileAnalysisStore.binary(analysis.toFile(), ReadWriteMappers.getEmptyMappers());
  }

  private static PreviousResult previous(AnalysisStore store) {
    Optional<AnalysisContents> contents = store.get();
    return PreviousResult.of(contents.map(AnalysisContents::getAnalysis), contents.map(AnalysisContents::getMiniSetup));
  }

  private static Compilers compilers(Map<String, List<String>> lines) throws MalformedURLException {
    File[] jars = lines.get("scala").stream().map(File::new).toArray(File[]::new);
    File[] library =
        Arrays.stream(jars).filter(jar -> jar.getName().startsWith("scala-library")).toArray(File[]::new);
    // The compiler must see the interfaces of Zinc that this program uses, and no Scala library but its own.
    ClassLoader shared = new Interfaces(IncrementalScala.class.getClassLoader());
    ClassLoader libraryLoader = new URLClassLoader(urls(library), shared);
    ClassLoader loader = new URLClassLoader(urls(jars), shared);
    String version = library[0].getName().replaceAll("scala-library-|\\.jar", "");
    ScalaInstance scala =
        new ScalaInstance(version, loader, loader, libraryLoader, library, jars, jars, Option.apply(version));
    return ZincUtil.compilers(
        scala,
        ClasspathOptionsUtil.boot(),
        Option.empty(),
        ZincUtil.scalaCompiler(scala, Path.of(lines.get("bridge").get(0))));
  }

  private static URL[] urls(File[] jars) throws MalformedURLException {
    URL[] urls = new URL[jars.length];
    for (int i = 0; i < jars.length; i++) {
      urls[i] = jars[i].toURI().toURL();
    }
    return urls;
  }

  private static CompileOptions options(Map<String, List<String>> lines, Path output) {
    // What is not compiled this time is found among the class files.
    List<String> classPath = new ArrayList<>(List.of(output.toString()));
    classPath.addAll(lines.get("library"));
    return CompileOptions.of(
        files(classPath),
        files(lines.getOrDefault("source", List.of())),
        output,
        lines.get("option").toArray(new String[0]),
        new String[0],
        100,
        position -> position,
        CompileOrder.Mixed,
        Optional.empty(),
        Optional.of(CONVERTER),
        Optional.of(stamps()),
        Optional.empty());
  }

  private static VirtualFile[] files(List<String> paths) {
    return paths.stream().map(path -> CONVERTER.toVirtualFile(Path.of(path))).toArray(VirtualFile[]::new);
  }

  private static ReadStamps stamps() {
    return Stamps.timeWrapBinaryStamps(CONVERTER);
  }

  /** Warnings of a source stay in the analysis until it is compiled again. */
  private static void writeWarnings(CompileAnalysis analysis, Path file) throws Exception {
    List<String> found = new ArrayList<>();
    analysis.readSourceInfos().getAllSourceInfos().forEach((source, info) -> {
      for (Problem problem : info.getReportedProblems()) {
        if (problem.severity() == Severity.Warn) {
          found.add(text(problem));
        }
      }
    });
    found.sort(Comparator.naturalOrder());
    Files.write(file, found, StandardCharsets.UTF_8);
  }

  private static String text(Problem problem) {
    Position at = problem.position();
    String place = at.sourcePath().map(path -> path + at.line().map(line -> ":" + line).orElse("") + ": ").orElse("");
    String word = problem.severity() == Severity.Error ? "error: " : "warning: ";
    String code = at.lineContent().isBlank() ? "" : "\n  " + at.lineContent().strip();
    return place + word + problem.message() + code;
  }

  /** What Zinc remembers of the modules on the class path. */
  private static final class Modules implements PerClasspathEntryLookup {
    private final Map<String, CompileAnalysis> analyses = new HashMap<>();

    Modules(List<String> modules) {
      for (String module : modules) {
        String[] paths = module.split(File.pathSeparator);
        store(Path.of(paths[1])).get().ifPresent(contents ->
            analyses.put(CONVERTER.toVirtualFile(Path.of(paths[0])).id(), contents.getAnalysis()));
      }
    }

    @Override
    public Optional<CompileAnalysis> analysis(VirtualFile entry) {
      return Optional.ofNullable(analyses.get(entry.id()));
    }

    @Override
    public DefinesClass definesClass(VirtualFile entry) {
      return Locate.definesClass(entry);
    }
  }

  /** Finds {@code xsbti} where this program does, and nothing else but the JDK. */
  private static final class Interfaces extends ClassLoader {
    private final ClassLoader program;

    Interfaces(ClassLoader program) {
      super(ClassLoader.getPlatformClassLoader());
      this.program = program;
    }

    @Override
    protected Class<?> findClass(String name) throws ClassNotFoundException {
      if (name.startsWith("xsbti.")) {
        return program.loadClass(name);
      }
      throw new ClassNotFoundException(name);
    }
  }

  /** Prints problems as they come, and of Zinc's own log what it compiles. */
  private static final class Messages implements Reporter, Logger {
    private final List<Problem> problems = new ArrayList<>();

    int errors() {
      return (int) problems.stream().filter(problem -> problem.severity() == Severity.Error).count();
    }

    @Override
    public void reset() {
      problems.clear();
    }

    @Override
    public boolean hasErrors() {
      return errors() > 0;
    }

    @Override
    public boolean hasWarnings() {
      return problems.stream().anyMatch(problem -> problem.severity() == Severity.Warn);
    }

    @Override
    public void printSummary() {}

    @Override
    public Problem[] problems() {
      return problems.toArray(new Problem[0]);
    }

    @Override
    public void log(Problem problem) {
      problems.add(problem);
      System.err.println(text(problem));
    }

    @Override
    public void comment(Position position, String message) {}

    @Override
    public void error(Supplier<String> message) {
      System.err.println(message.get());
    }

    @Override
    public void warn(Supplier<String> message) {
      System.err.println(message.get());
    }

    @Override
    public void info(Supplier<String> message) {
      System.out.println(message.get());
    }

    @Override
    public void debug(Supplier<String> message) {}

    @Override
    public void trace(Supplier<Throwable> exception) {
      exception.get().printStackTrace();
    }
  }
}
