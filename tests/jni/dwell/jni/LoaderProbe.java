package dwell.jni;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CountDownLatch;

/** Loads the library in a JVM that {@link LoaderTest} starts, and prints a line for each attempt. */
final class LoaderProbe {
  private LoaderProbe() {}

  public static void main(String[] arguments) throws InterruptedException {
    switch (arguments[0]) {
      case "load" -> load();
      case "retry" -> {
        load();
        System.clearProperty(arguments[1]);
        load();
      }
      case "interrupted" -> {
        Thread.currentThread().interrupt();
        load();
        System.out.println("interrupted " + Thread.interrupted());
      }
      case "concurrent" -> concurrent();
      default -> throw new IllegalArgumentException(arguments[0]);
    }
  }

  private static void load() {
    try {
      NativeLoader.ensureLoaded();
      System.out.println("loaded " + NativeBridge.abiVersion() + " " + NativeLoader.lastFailure().isPresent() + " "
          + NativeLoader.description());
    } catch (NativeUnavailableException e) {
      boolean remembered = NativeLoader.lastFailure().orElseThrow() == e;
      System.out.println("failed " + NativeLoader.isLoaded() + " " + remembered + " " + e.getMessage());
    }
  }

  private static void concurrent() throws InterruptedException {
    int threads = 32;
    CountDownLatch start = new CountDownLatch(1);
    List<Throwable> failures = Collections.synchronizedList(new ArrayList<>());
    List<Thread> running = new ArrayList<>();
    for (int i = 0; i < threads; i++) {
      Thread thread = new Thread(() -> {
        try {
          start.await();
          NativeLoader.ensureLoaded();
          if (NativeBridge.stateEntries() != 0) {
            throw new IllegalStateException("states");
          }
        } catch (Throwable e) {
          failures.add(e);
        }
      });
      thread.start();
      running.add(thread);
    }
    start.countDown();
    for (Thread thread : running) {
      thread.join();
    }
    System.out.println("failures " + failures);
  }
}
