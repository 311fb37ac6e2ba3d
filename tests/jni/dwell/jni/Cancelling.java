package dwell.jni;

import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.concurrent.CancellationException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;

/** Calls that are cancelled while they work. */
final class Cancelling {
  private Cancelling() {}

  /** Checks that {@code call}, which has no end of its own, works until it is cancelled, and then ends within a second. */
  static void endsSoon(Consumer<Cancellation> call) throws InterruptedException {
    AtomicBoolean requested = new AtomicBoolean();
    Thread canceller = new Thread(() -> {
      try {
        Thread.sleep(300);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
      requested.set(true);
    });
    canceller.start();
    long start = System.nanoTime();
    assertThrows(CancellationException.class, () -> call.accept(requested::get));
    Duration took = Duration.ofNanos(System.nanoTime() - start);
    canceller.join();
    assertTrue(took.toMillis() >= 250 && took.toMillis() < 1300, took.toString());
  }
}
