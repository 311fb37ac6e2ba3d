"""In which order a partition's columns are visited, as the native solver does (native/solvers/src/base/order.rs): buckets of neighbours,
reshuffled every epoch by SplitMix64."""

import numpy as np

MASK = (1 << 64) - 1
GOLDEN = 0x9E3779B97F4A7C15
MIX_1 = 0xBF58476D1CE4E5B9
MIX_2 = 0x94D049BB133111EB


def mix(z):
    """The finaliser of SplitMix64, of an array of uint64, whose products wrap around."""
    z = (z ^ (z >> np.uint64(30))) * np.uint64(MIX_1)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(MIX_2)
    return z ^ (z >> np.uint64(31))


def bucket_size(columns):
    return max(1, min(64, columns // 256))


def permutation(buckets, seed, partition, epoch):
    """Fisher and Yates from the identity; all random numbers are drawn at once."""
    state = mix(np.array([(seed ^ (partition + 1) * GOLDEN ^ (epoch + 1) * MIX_1) & MASK], dtype=np.uint64))
    steps = np.arange(1, buckets, dtype=np.uint64)
    upper = mix(state + steps * np.uint64(GOLDEN)) >> np.uint64(32)
    order = list(range(buckets))
    # The first number is for the last place.
    for i, j in zip(range(buckets - 1, 0, -1), (upper * (steps[::-1] + np.uint64(1)) >> np.uint64(32)).tolist()):
        order[i], order[j] = order[j], order[i]
    return order


class BucketOrder:
    """A function of the cursor, the number of buckets visited since the start of a fit; the last epoch's permutation is kept."""

    def __init__(self, columns, seed, partition):
        self.columns, self.seed, self.partition = columns, seed, partition
        self.size = bucket_size(columns)
        self.buckets = -(-columns // self.size)
        self.epoch, self.permutation = None, None

    def at(self, cursor):
        """First column of the bucket, and the column after its last."""
        epoch, place = divmod(cursor, self.buckets)
        if epoch != self.epoch:
            self.epoch, self.permutation = epoch, permutation(self.buckets, self.seed, self.partition, epoch)
        first = self.permutation[place] * self.size
        return first, min(self.columns, first + self.size)
