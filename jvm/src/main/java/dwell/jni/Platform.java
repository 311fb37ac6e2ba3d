package dwell.jni;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;

/**
 * Operating system, architecture and C library of a JVM, by the names that the jar uses for its resources.
 */
public final class Platform {
  private final String os;
  private final String arch;
  private final String libc;

  /**
   * @param os
   *   linux, darwin or windows; any other system by the name that Java gives it
   * @param arch
   *   x86_64 or aarch64; any other architecture by the name that Java gives it
   * @param libc
   *   glibc or musl on Linux, empty elsewhere
   */
  Platform(String os, String arch, String libc) {
    this.os = os;
    this.arch = arch;
    this.libc = libc;
  }

  /** The platform of this JVM. */
  public static Platform current() {
    return of(System.getProperty("os.name", ""), System.getProperty("os.arch", ""), Path.of("/proc/self/maps"));
  }

  /**
   * @param osName
   *   as in the system property os.name
   * @param osArch
   *   as in the system property os.arch
   * @param maps
   *   on Linux, list of the files mapped into the process, which shows its C library
   */
  static Platform of(String osName, String osArch, Path maps) {
    String name = osName.toLowerCase(Locale.ROOT);
    String os = name.startsWith("linux") ? "linux"
        : name.startsWith("mac") || name.startsWith("darwin") ? "darwin"
        : name.startsWith("windows") ? "windows"
        : name;
    String machine = osArch.toLowerCase(Locale.ROOT);
    String arch = List.of("amd64", "x86_64", "x86-64", "x64").contains(machine) ? "x86_64"
        : List.of("aarch64", "arm64").contains(machine) ? "aarch64"
        : machine;
    return new Platform(os, arch, os.equals("linux") ? (mapsMusl(maps) ? "musl" : "glibc") : "");
  }

  String os() {
    return os;
  }

  String libc() {
    return libc;
  }

  private static boolean mapsMusl(Path maps) {
    try (var lines = Files.lines(maps, java.nio.charset.StandardCharsets.ISO_8859_1)) {
      return lines.anyMatch(line -> line.contains("/ld-musl-") || line.contains("/libc.musl-"));
    } catch (IOException | java.io.UncheckedIOException e) {
      return false;
    }
  }

  /** Path of this platform's library in the jar. */
  String resource(String version) {
    return "/native/" + os + "/" + arch + "/" + fileName(version);
  }

  /** File name of the library: the one that System.mapLibraryName gives for dwell-VERSION on this platform. */
  String fileName(String version) {
    return os.equals("windows") ? "dwell-" + version + ".dll"
        : "libdwell-" + version + (os.equals("darwin") ? ".dylib" : ".so");
  }

  @Override
  public String toString() {
    return os + "/" + arch + (libc.isEmpty() ? "" : " (" + libc + ")");
  }
}
