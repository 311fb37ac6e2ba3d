package dwell.jni;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class PlatformTest {
  @TempDir
  Path directory;

  private Path maps(String line) throws IOException {
    return Files.writeString(directory.resolve("maps"), "7f00-7f01 r-xp 00000000 08:01 12 " + line + "\n");
  }

  @Test
  void namesAreNormalised() throws IOException {
    Path glibc = maps("/usr/lib/x86_64-linux-gnu/libc.so.6");
    assertEquals("linux/x86_64 (glibc)", Platform.of("Linux", "amd64", glibc).toString());
    assertEquals("linux/aarch64 (glibc)", Platform.of("Linux", "aarch64", glibc).toString());
    assertEquals("darwin/aarch64", Platform.of("Mac OS X", "arm64", glibc).toString());
    assertEquals("windows/x86_64", Platform.of("Windows Server 2022", "x86-64", glibc).toString());
    assertEquals("aix/ppc64", Platform.of("AIX", "ppc64", glibc).toString());
  }

  @Test
  void muslIsSeenInTheMappedFiles() throws IOException {
    assertEquals("musl", Platform.of("Linux", "amd64", maps("/lib/ld-musl-x86_64.so.1")).libc());
    assertEquals("glibc", Platform.of("Linux", "amd64", directory.resolve("absent")).libc());
  }

  @Test
  void resourcesAndFiles() {
    assertEquals("/native/linux/x86_64/libdwell-1.2.so", new Platform("linux", "x86_64", "glibc").resource("1.2"));
    assertEquals("/native/darwin/aarch64/libdwell-1.2.dylib", new Platform("darwin", "aarch64", "").resource("1.2"));
    assertEquals("/native/windows/x86_64/dwell-1.2.dll", new Platform("windows", "x86_64", "").resource("1.2"));
  }

  @Test
  void directoriesInOrderAndOnce() {
    Map<String, String> properties = Map.of("dwell.native.tmpDir", "/first", "java.io.tmpdir", "/tmp", "user.home", "/home/u");
    Map<String, String> environment = Map.of("SPARK_LOCAL_DIRS", "/d1, /tmp", "LOCAL_DIRS", "/d2,", "PWD", "/container");
    List<Path> expected = List.of(Path.of("/first"), Path.of("/tmp"), Path.of("/d1"), Path.of("/d2"), Path.of("/container"),
        Path.of("/home/u/.cache/dwell"));
    assertEquals(expected, NativeLoader.directories(properties::get, environment::get));
    assertEquals(List.of(), NativeLoader.directories(name -> null, name -> null));
  }

  @Test
  void messagesOfTheLinkerAreUnderstood() {
    Map<String, NativeLoader.LoadFault> faults = Map.of(
        "/x/lib.so: /x/lib.so: failed to map segment from shared object", NativeLoader.LoadFault.NOT_EXECUTABLE,
        "/x/lib.so: /lib64/libc.so.6: version `GLIBC_2.34' not found (required by /x/lib.so)", NativeLoader.LoadFault.OLD_LIBC,
        "/x/lib.so: wrong ELF class: ELFCLASS32", NativeLoader.LoadFault.WRONG_PLATFORM,
        "/x/lib.so: cannot restore segment prot after reloc: Permission denied", NativeLoader.LoadFault.SECURITY_POLICY,
        "Native Library /x/lib.so already loaded in another classloader", NativeLoader.LoadFault.OTHER_CLASS_LOADER,
        "unsupported JNI version 0xFFFFFFFF required by /x/lib.so", NativeLoader.LoadFault.OTHER_VERSION,
        "something new", NativeLoader.LoadFault.OTHER);
    faults.forEach((message, fault) -> assertEquals(fault, NativeLoader.LoadFault.of(new UnsatisfiedLinkError(message)), message));
    assertEquals(NativeLoader.LoadFault.NATIVE_ACCESS, NativeLoader.LoadFault.of(new IllegalCallerException("Illegal native access")));
    assertEquals(NativeLoader.LoadFault.OTHER, NativeLoader.LoadFault.of(new UnsatisfiedLinkError(null)));
  }
}
