package dwell.jni;

import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.Random;
import java.util.concurrent.CancellationException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;
import java.util.function.IntConsumer;
import java.util.function.IntSupplier;
import org.junit.jupiter.api.function.Executable;

/** Makes arguments wrong, and checks what calls make of them. */
final class Spoiling {
  private Spoiling() {}

  /** Checks that a call is refused, with a message that has {@code part} in it. */
  static void refused(String part, Executable call) {
    IllegalArgumentException e = assertThrows(IllegalArgumentException.class, call, part);
    assertTrue(e.getMessage().contains(part), e.getMessage());
  }

  /** A call, and what runs it. */
  record Attempt(Partition.Call call, IntSupplier run) {}

  /**
   * Runs thousands of calls, most of them spoiled: each has a result, or an exception of a kind that the documentation names.
   *
   * @return how many calls gave {@link NativeBridge#OK}, another number, and an exception
   */
  static int[] fuzz(Function<Random, Attempt> attempts) {
    Random random = new Random(16);
    int[] counts = new int[3];
    for (int i = 0; i < 8000; i++) {
      Attempt attempt = attempts.apply(random);
      for (int spoiled = random.nextInt(4); spoiled > 0; spoiled--) {
        spoil(attempt.call(), random);
      }
      // Some of the spoiled calls would take for ever.
      attempt.call().cancellation = Cancelling.at(10);
      try {
        counts[attempt.run().getAsInt() == NativeBridge.OK ? 0 : 1]++;
      } catch (IllegalArgumentException | CancellationException e) {
        counts[2]++;
      }
    }
    assertTrue(counts[0] > 1000 && counts[2] > 1000, counts[0] + " " + counts[1] + " " + counts[2]);
    System.gc();
    return counts;
  }

  /** Frees the fit of a call, which may be spoiled. */
  static void free(Partition p, Partition.Call call) {
    NativeBridge.freeFit(call.control == null || call.control.length < 2 ? p.fit : call.control[CdLayout.CONTROL_FIT]);
  }

  /** A Java thread changes arrays of calls that run, which spoils their numbers, and never crashes the JVM. */
  static void whileArraysChange(Partition p, double[] numbers, int calls, IntConsumer call) throws InterruptedException {
    AtomicBoolean done = new AtomicBoolean();
    int[] indices = p.indices.clone();
    int[] offsets = p.offsets.clone();
    double[] good = numbers.clone();
    Thread vandal = new Thread(() -> {
      Random random = new Random(18);
      while (!done.get()) {
        p.indices[random.nextInt(indices.length)] = random.nextInt();
        p.offsets[random.nextInt(offsets.length)] = random.nextInt();
        numbers[random.nextInt(good.length)] = random.nextBoolean() ? random.nextInt() : Double.longBitsToDouble(random.nextLong());
        System.arraycopy(indices, 0, p.indices, 0, indices.length);
        System.arraycopy(offsets, 0, p.offsets, 0, offsets.length);
        System.arraycopy(good, 0, numbers, 0, good.length);
      }
    });
    vandal.start();
    try {
      for (int i = 0; i < calls; i++) {
        try {
          call.accept(i);
        } catch (IllegalArgumentException | NativeException e) {
          assertTrue(e.getMessage().length() > 10);
        }
      }
    } finally {
      done.set(true);
      vandal.join();
    }
    p.free();
    System.gc();
  }

  /** Spoils one argument, in one of many ways. */
  static void spoil(Partition.Call c, Random random) {
    List<String> names = List.copyOf(c.fields.keySet());
    String name = names.get(random.nextInt(names.size()));
    switch (random.nextInt(16)) {
      case 0 -> spoilLong(c.control, random);
      case 1 -> c.control = random.nextBoolean() ? null : random.longs(random.nextInt(13)).toArray();
      case 2 -> spoilDouble(c.settings, random);
      case 3 -> c.settings = random.nextBoolean() ? null : random.doubles(random.nextInt(12)).toArray();
      case 4 -> spoilInt(c.offsets, random);
      case 5 -> c.offsets = random.nextBoolean() ? null : random.ints(random.nextInt(10)).toArray();
      case 6 -> spoilInt(c.indices, random);
      case 7 -> c.indices = random.nextBoolean() ? null : random.ints(random.nextInt(10), -2, 12).toArray();
      case 8 -> spoilDouble(c.values64, random);
      case 9 -> c.values64 = random.doubles(random.nextInt(9)).toArray();
      case 10 -> c.values32 = new float[random.nextInt(9)];
      case 11, 12 -> spoilDouble(c.field(name), random);
      case 13 -> c.fields.put(name, random.nextBoolean() ? null : random.doubles(random.nextInt(9)).toArray());
      case 14 -> {
        c.shared = new byte[8 * random.nextInt(13)];
        random.nextBytes(c.shared);
      }
      default -> c.result = new byte[random.nextInt(700)];
    }
  }

  private static void spoilLong(long[] a, Random random) {
    if (a != null && a.length > 0) {
      a[random.nextInt(a.length)] = switch (random.nextInt(4)) {
        case 0 -> random.nextInt(4) - 1;
        case 1 -> Long.MAX_VALUE - random.nextInt(2);
        case 2 -> Long.MIN_VALUE;
        default -> random.nextLong();
      };
    }
  }

  private static void spoilInt(int[] a, Random random) {
    if (a != null && a.length > 0) {
      a[random.nextInt(a.length)] = switch (random.nextInt(4)) {
        case 0 -> random.nextInt(14) - 2;
        case 1 -> Integer.MAX_VALUE;
        case 2 -> Integer.MIN_VALUE;
        default -> random.nextInt();
      };
    }
  }

  private static void spoilDouble(double[] a, Random random) {
    if (a != null && a.length > 0) {
      a[random.nextInt(a.length)] = switch (random.nextInt(5)) {
        case 0 -> Double.NaN;
        case 1 -> Double.NEGATIVE_INFINITY;
        case 2 -> 1e308 * random.nextDouble();
        case 3 -> -random.nextDouble();
        default -> Double.longBitsToDouble(random.nextLong());
      };
    }
  }
}
