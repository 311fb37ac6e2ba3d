#!/usr/bin/env python3
"""Run a command that must have the machine for itself: a benchmark, the demo, a soak.

    alone.py --minutes N -- COMMAND...

Of one user's commands that are run so, only one runs at a time: another one waits, and says what for. Inside such a command (DWELL_ALONE
is set) nothing waits. The command is stopped, with all that it started, after N minutes, and when this script is told to stop or the
process that started it ends. Output and exit status are those of the command; 124 if it took longer than N minutes.
"""

import argparse
import contextlib
import fcntl
import os
import pathlib
import shlex
import signal
import sys
import tempfile
import time

import processes

# As that of timeout(1).
TOOK_LONGER = 124
# Seconds that a command gets to remove its own files when it is stopped.
GRACE = 5


def say(words):
    print("alone.py: " + words, file=sys.stderr, flush=True)


@contextlib.contextmanager
def lock(watch, about):
    """Holds the lock, or gives the reason to stop before it was free. `about` tells others who holds it."""
    path = pathlib.Path(tempfile.gettempdir(), "dwell-alone-%d.lock" % os.getuid())
    # The system frees it with the end of this process, however it ends. The command does not inherit it.
    with open(os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600), "r+") as file:
        said = False
        while True:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                file.seek(0)
                holder = file.read().strip()
                # It may just be writing.
                if holder and not said:
                    say("waits for " + holder)
                    said = True
            if watch.reason() is not None:
                yield watch.why
                return
            time.sleep(processes.TICK)
        file.truncate(0)
        file.seek(0)
        file.write(about + "\n")
        file.flush()
        try:
            yield None
        finally:
            file.truncate(0)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--minutes", type=float, required=True)
    own = sys.argv[1:sys.argv.index("--")]
    minutes, command = parser.parse_args(own).minutes, sys.argv[len(own) + 2:]

    watch = processes.Watch()
    words = "took longer than %g minutes and was stopped" % minutes
    about = "process %d, which may take %g minutes: %s" % (os.getpid(), minutes, shlex.join(command))
    with contextlib.nullcontext() if "DWELL_ALONE" in os.environ else lock(watch, about) as stopped:
        if stopped is None:
            process = processes.start(command, env={**os.environ, "DWELL_ALONE": "yes"})
            stopped = watch.wait(process, processes.limit(60 * minutes, words))
            processes.stop(process, grace=0 if stopped is None else GRACE)
    if stopped is not None:
        say("%s: %s" % (stopped, shlex.join(command)))
        return TOOK_LONGER if stopped == words else 128 + signal.SIGTERM
    return process.returncode if process.returncode >= 0 else 128 - process.returncode


if __name__ == "__main__":
    sys.exit(main())
