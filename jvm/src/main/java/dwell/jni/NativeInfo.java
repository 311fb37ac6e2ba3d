package dwell.jni;

import java.io.PrintStream;

/** Prints whether the native library works on this machine, and why not: {@code java -cp dwell.jar dwell.jni.NativeInfo}. */
public final class NativeInfo {

  private NativeInfo() {}

  /** Prints the diagnosis to standard output; ends with an exception if the library cannot be used. */
  public static void main(String[] arguments) {
    print(System.out);
    NativeLoader.ensureLoaded();
    System.out.println("result:      " + NativeLoader.description());
  }

  private static void print(PrintStream out) {
    Platform platform = Platform.current();
    out.println("platform:    " + platform + ", " + System.getProperty("os.version"));
    out.println("java:        " + System.getProperty("java.version") + ", " + System.getProperty("java.vendor") + ", "
        + System.getProperty("java.home"));
    out.println("classes:     ABI " + NativeBridge.ABI_VERSION + ", from "
        + NativeInfo.class.getProtectionDomain().getCodeSource().getLocation());
    for (String property : new String[] {NativeLoader.DISABLED, NativeLoader.LIBRARY_PATH, NativeLoader.TEMPORARY_DIRECTORY}) {
      out.println("property:    " + property + " = " + System.getProperty(property, "(not set)"));
    }
    for (var directory : NativeLoader.directories()) {
      out.println("directory:   " + directory);
    }
  }
}
