package dwell.jni;

import java.util.List;
import java.util.Random;

/** Makes arguments wrong. */
final class Spoiling {
  private Spoiling() {}

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
