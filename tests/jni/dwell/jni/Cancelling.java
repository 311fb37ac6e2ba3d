package dwell.jni;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.concurrent.CancellationException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;

/** Calls that are cancelled while they work. */
final class Cancelling {
  private Cancelling() {}

  /** So many that all but the first ones come from the middle of the work. */
  private static final int QUESTIONS = 100;

  /** A cancellation at the question of this number. */
  static Cancellation at(int question) {
    return at(question, new AtomicInteger());
  }

  private static Cancellation at(int question, AtomicInteger asked) {
    return () -> asked.incrementAndGet() >= question;
  }

  /** Checks that {@code call}, which has no end of its own, asks again and again, and ends at the first yes. */
  static void endsAtOnce(Consumer<Cancellation> call) {
    AtomicInteger asked = new AtomicInteger();
    assertThrows(CancellationException.class, () -> call.accept(at(QUESTIONS, asked)));
    assertEquals(QUESTIONS, asked.get());
  }
}
