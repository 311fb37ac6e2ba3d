#!/usr/bin/env python3
"""LDA by gensim, scikit-learn, Vowpal Wabbit or tomotopy, on one machine.

    one_node_lda.py gensim|multicore|sklearn|vw|tomotopy --data DIR --output DIR --topics K --documents D,D,... --seed S

The data are those of row_files.py: counts of words. Priors are 1/K. --documents are documents visited, ascending, after which the topics
are kept: in one pass over the data, or, of tomotopy, multiples of all documents. Batches have 1000 documents, those of Vowpal Wabbit 256
(with 1000 it crashes), and gamma may take 1000 iterations where its tolerance asks for them (of scikit-learn 100, its default).

Writes history.json and a file of floats for the topics at each checkpoint: a row of lambda for each word. Seconds are of wall-clock time
in the learner alone, with the documents in its own form, and CPU seconds those of all processes meanwhile; looking at topics is in
neither. Vowpal Wabbit reads its own binary cache, which is made beforehand and stays in the data directory, and each of its checkpoints
is from a run of its own.
"""

import argparse
import json
import os
import pathlib
import re
import time

# Before NumPy is there: all that is asked for is one core.
for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"

import numpy as np

import row_files

BATCH = 1000
VW_BATCH = 256
OFFSET, DECAY = 10.0, 0.7
MOST_ITERATIONS = 1000


class Meter:
    """Seconds, and CPU seconds of this process and of those that it has waited for."""

    def __init__(self):
        self.seconds = self.cpu = 0.0

    def __enter__(self):
        self._start = self._now()

    def __exit__(self, *_):
        seconds, cpu = self._now()
        self.seconds += seconds - self._start[0]
        self.cpu += cpu - self._start[1]

    @staticmethod
    def _now():
        times = os.times()
        return time.perf_counter(), times.user + times.system + times.children_user + times.children_system


class Enough(Exception):
    """All checkpoints are there."""


class Documents:
    """A matrix as gensim reads it, which may do something before a document."""

    def __init__(self, matrix, before):
        self._rows = [list(zip(matrix.indices[a:b].tolist(), matrix.data[a:b].tolist())) for a, b in zip(matrix.indptr, matrix.indptr[1:])]
        self._before = before

    def __len__(self):
        return len(self._rows)

    def __iter__(self):
        for i, row in enumerate(self._rows):
            self._before(i)
            yield row


def gensim(matrix, asked, keep):
    """A batch is asked for when the topics have been updated by those before."""
    from gensim.models import LdaModel
    meter = Meter()

    def look(read):
        meter.__exit__()
        keep(read, meter, model.state.get_lambda().T)
        meter.__enter__()

    def before(read):
        if read in asked.documents:
            look(read)
        if read == asked.documents[-1]:
            raise Enough

    documents = Documents(matrix, before)
    model = LdaModel(**gensim_options(matrix, asked))
    meter.__enter__()
    try:
        model.update(documents)
        look(len(documents))
    except Enough:
        pass


def multicore(matrix, asked, keep):
    """Topics are updated at any time, and the processes' times are known when they have ended: there is one checkpoint, and no other documents."""
    from gensim.models import LdaMulticore
    (visited,) = asked.documents
    documents = Documents(matrix[:visited], lambda read: None)
    model = LdaMulticore(workers=1, **gensim_options(matrix, asked))
    meter = Meter()
    with meter:
        model.update(documents)
    keep(visited, meter, model.state.get_lambda().T)


def gensim_options(matrix, asked):
    return {"id2word": {i: str(i) for i in range(matrix.shape[1])}, "num_topics": asked.topics, "chunksize": BATCH, "decay": DECAY, "offset": OFFSET,
            "alpha": "symmetric", "eta": 1.0 / asked.topics, "iterations": MOST_ITERATIONS, "eval_every": None, "random_state": asked.seed}


def sklearn(matrix, asked, keep):
    from sklearn.decomposition import LatentDirichletAllocation
    model = LatentDirichletAllocation(asked.topics, learning_method="online", batch_size=BATCH, total_samples=matrix.shape[0],
                                      learning_offset=OFFSET, learning_decay=DECAY, random_state=asked.seed)
    meter, read = Meter(), 0
    for after in asked.documents:
        rows = matrix[read:after]
        with meter:
            model.partial_fit(rows)
        keep(after, meter, model.components_.T)
        read = after


def vw(matrix, asked, keep):
    from vowpalwabbit import Workspace
    text, cache, saved = asked.data / "documents.vw", asked.data / "documents.cache", asked.output / "topics.txt"
    words, prior = matrix.shape[1], 1.0 / asked.topics
    # A name that is a number is the place of its weights, if there are enough of them: there are no collisions.
    source = "-d %s --cache_file %s -b %d --minibatch %d --quiet" % (text, cache, max(1, (words - 1).bit_length()), VW_BATCH)
    if not cache.is_file():
        write_text(matrix, text)
        # Reads all and learns next to nothing.
        Workspace(source + " --lda 1").finish()
    learning = "%s --lda %d --lda_D %d --lda_alpha %r --lda_rho %r --power_t %r --initial_t %r -l 1 --math-mode 0 --random_seed %d --readable_model %s" % (
        source, asked.topics, matrix.shape[0], prior, prior, DECAY, OFFSET, asked.seed, saved)
    for after in asked.documents:
        meter = Meter()
        with meter:
            # Makes the pass.
            learner = Workspace(learning + " --examples %d" % after)
        learner.finish()
        # Rows of a number and lambda, after lines of names and settings.
        rows = re.split(r"^Checksum: .*$", saved.read_text(), flags=re.MULTILINE)[1]
        keep(after, meter, np.fromstring(rows, sep=" ").reshape(-1, asked.topics + 1)[:words, 1:])
    saved.unlink()


def write_text(matrix, path):
    with open(path, "w") as out:
        for first, last in zip(matrix.indptr, matrix.indptr[1:]):
            entries = zip(matrix.indices[first:last].tolist(), matrix.data[first:last].tolist())
            out.write("| %s\n" % " ".join("%d:%d" % entry for entry in entries))


def tomotopy(matrix, asked, keep):
    """Collapsed Gibbs sampling."""
    from tomotopy import LDAModel
    prior, count = 1.0 / asked.topics, matrix.shape[0]
    model = LDAModel(k=asked.topics, alpha=prior, eta=prior, seed=asked.seed)
    # alpha stays, as everywhere.
    model.optim_interval = 0
    for first, last in zip(matrix.indptr, matrix.indptr[1:]):
        words = np.repeat(matrix.indices[first:last], matrix.data[first:last].astype(np.int64))
        model.add_doc([str(word) for word in words.tolist()])
    meter, sweeps = Meter(), 0
    for after in asked.documents:
        with meter:
            model.train(round(after / count) - sweeps, workers=1)
        sweeps = round(after / count)
        # Words are numbered anew, and those that no document has are not there.
        topics = np.full((matrix.shape[1], asked.topics), prior)
        places = np.array([int(word) for word in model.used_vocabs])
        for k in range(asked.topics):
            topics[places, k] = model.get_topic_word_dist(k, normalize=False)
        keep(after, meter, topics)


LEARNERS = {learner.__name__: learner for learner in (gensim, multicore, sklearn, vw, tomotopy)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("learner", choices=LEARNERS)
    parser.add_argument("--data", type=pathlib.Path, required=True)
    parser.add_argument("--output", type=pathlib.Path, required=True)
    parser.add_argument("--topics", type=int, required=True)
    parser.add_argument("--documents", type=lambda text: [int(part) for part in text.split(",")], required=True)
    parser.add_argument("--seed", type=int, required=True)
    asked = parser.parse_args()
    matrix, _ = row_files.read(asked.data)
    checkpoints = []

    def keep(documents, meter, topics):
        name = "topics-%d.f32" % len(checkpoints)
        topics.astype("<f4").tofile(asked.output / name)
        checkpoints.append({"documents": documents, "seconds": meter.seconds, "cpu": meter.cpu, "topics": name})

    LEARNERS[asked.learner](matrix, asked, keep)
    (asked.output / "history.json").write_text(json.dumps({"checkpoints": checkpoints}))


if __name__ == "__main__":
    main()
