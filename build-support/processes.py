"""Commands that end when they have to, with all that they started; where they stand, their scratch folder, and its disk."""

import contextlib
import ctypes
import os
import pathlib
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time

LINUX = sys.platform.startswith("linux")
LIBC = ctypes.CDLL(None) if LINUX else None
# PR_SET_PDEATHSIG of linux/prctl.h.
PARENT_DEATH_SIGNAL = 1

# Seconds between two looks at a command, that JVMs get for a thread dump, and that others get to end.
TICK, DUMP, PATIENCE = 0.1, 3, 2

# Bytes of a folder for temporary files. The path of a socket has at most 104 (macOS) or 108, and programs add folders of their own.
LONGEST = 54


class Watch:
    """Why a command has to end before its time: a signal to this process, or the end of the one that started it."""

    def __init__(self):
        self.parent = os.getppid()
        self.why = None
        for number in signal.SIGTERM, signal.SIGINT, signal.SIGHUP:
            signal.signal(number, self.stopped)

    def stopped(self, *_):
        self.why = self.why or "was stopped"

    def reason(self):
        """Why whatever runs has to be stopped; None: it may go on."""
        if os.getppid() != self.parent:
            self.why = self.why or "was stopped, since its parent ended"
        return self.why

    def wait(self, process, late=lambda: None):
        """Waits for the end of a command, or until there is a reason to stop it, which is the result; `late` gives one of the caller's."""
        while True:
            try:
                process.wait(TICK)
                return self.why
            except subprocess.TimeoutExpired:
                why = self.reason() or late()
                if why is not None:
                    return why


def limit(seconds, words):
    """For Watch.wait: a command may take so many seconds from now on."""
    end = time.monotonic() + seconds
    return lambda: words if time.monotonic() > end else None


def start(command, **options):
    """Starts a command in a session of its own, so that what it starts can be stopped with it. It has no input."""
    parent = os.getpid()

    def die_with_parent():
        LIBC.prctl(PARENT_DEATH_SIGNAL, signal.SIGKILL)
        # The parent may have ended before.
        if os.getppid() != parent:
            os._exit(1)

    return subprocess.Popen(command, stdin=subprocess.DEVNULL, start_new_session=True, preexec_fn=die_with_parent if LINUX else None,
                            **options)


def family(sessions):
    """The processes of sessions, and their descendants in others: each with its session. Empty where there is no /proc."""
    children, members = {}, {}
    for entry in pathlib.Path("/proc").glob("[0-9]*/stat"):
        # A process may end meanwhile.
        with contextlib.suppress(OSError):
            # The name, which comes before the last parenthesis, may hold anything.
            state, parent, _, session = entry.read_text("utf-8", "replace").rpartition(")")[2].split()[:4]
            pid = int(entry.parent.name)
            if state not in "ZX":
                children.setdefault(int(parent), {})[pid] = int(session)
                if int(session) in sessions:
                    members[pid] = int(session)
    found = list(members)
    for member in found:
        found.extend(pid for pid in children.get(member, {}) if pid not in members)
        members.update(children.get(member, {}))
    return members


def signal_all(pids, number):
    for pid in pids:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(pid, number)


def gone(pids, sessions, seconds):
    """Waits until all of these processes of sessions have ended, but no longer than so many seconds."""
    end = time.monotonic() + seconds
    while set(pids) & set(family(sessions)) and time.monotonic() < end:
        time.sleep(0.05)


def stop(process, sessions=(), grace=0):
    """Ends a command and all that it started, in these sessions as well. First it asks for that, if there are `grace` seconds.

    The command itself may have ended before what it started.
    """
    sessions = {process.pid, *sessions}
    # Twice, since what is to be ended may just have started something.
    for number, seconds in ([(signal.SIGTERM, grace)] if grace > 0 else []) + 2 * [(signal.SIGKILL, PATIENCE)]:
        members = family(sessions)
        # What is left of a session knows no parent any more.
        sessions.update(members.values())
        signal_all(members, number)
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, number)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(seconds)
        gone(members, sessions, seconds)


def program(pid):
    try:
        return os.path.basename(os.readlink("/proc/%d/exe" % pid))
    except OSError:
        return ""


def dump(process, output):
    """Has the JVMs and the Pythons of a command say where they stand, before it is stopped. The Pythons end by it.

    `output` is a binary file. An executor of Spark writes to a file in its folder, which is added to it. The result is the
    sessions of all that the command has started.
    """
    members = family({process.pid})
    machines = [pid for pid in members if program(pid) == "java"]
    files = {}
    for pid in machines:
        with contextlib.suppress(OSError):
            path = pathlib.Path(os.readlink("/proc/%d/cwd" % pid), "stdout")
            files[path] = path.stat().st_size
    signal_all(machines, signal.SIGQUIT)
    if machines:
        time.sleep(DUMP)
    for path, size in files.items():
        with contextlib.suppress(OSError), open(path, "rb") as file:
            file.seek(size)
            output.write(b"%s:\n%s\n" % (os.fsencode(path), file.read()))
    output.flush()
    pythons = [pid for pid in members if program(pid).startswith("python")]
    for pid in pythons:
        # They leave no core in the folder they run in.
        with contextlib.suppress(OSError):
            resource.prlimit(pid, resource.RLIMIT_CORE, (0, resource.prlimit(pid, resource.RLIMIT_CORE)[1]))
    signal_all(pythons, signal.SIGABRT)
    gone(pythons, members.values(), PATIENCE)
    return set(members.values())


@contextlib.contextmanager
def scratch(folder):
    """A fresh folder for the files of a command, which goes when the command has ended; gives the environment that leads there.

    Where its path is too long for temporary files, `tmp` in it is a link to a folder elsewhere.
    """
    folder = folder.absolute()
    # An earlier run may have been killed.
    clear(folder)
    temporary = folder / "tmp"
    for name in "spark", "work":
        (folder / name).mkdir(parents=True, exist_ok=True)
    if len(os.fsencode(temporary)) > LONGEST:
        temporary.symlink_to(tempfile.mkdtemp(prefix="dwell-%s-" % folder.name))
        temporary = pathlib.Path(os.readlink(temporary))
    else:
        temporary.mkdir(exist_ok=True)
    try:
        yield {"DWELL_SCRATCH": str(folder), "TMPDIR": str(temporary), "SPARK_LOCAL_DIRS": str(folder / "spark"),
               "SPARK_WORKER_DIR": str(folder / "work"), **spark_home(folder / "home")}
    finally:
        clear(folder)


def spark_home(folder):
    """SPARK_HOME with links to what the one of the environment has, if there is one: local-cluster leaves its executors' files there."""
    given = os.environ.get("SPARK_HOME")
    if not given or not pathlib.Path(given).is_dir():
        return {}
    folder.mkdir()
    for entry in pathlib.Path(given).absolute().iterdir():
        if entry.name != "work":
            (folder / entry.name).symlink_to(entry)
    return {"SPARK_HOME": str(folder)}


def clear(folder):
    link = folder / "tmp"
    if link.is_symlink() and pathlib.Path(os.readlink(link)).name.startswith("dwell-%s-" % folder.name):
        remove(os.readlink(link))
    remove(folder)


def remove(folder):
    """Removes a folder, though processes that are about to end may still write to it."""
    end = time.monotonic() + PATIENCE
    while os.path.lexists(folder) and time.monotonic() < end:
        shutil.rmtree(folder, ignore_errors=True)
        if os.path.lexists(folder):
            time.sleep(0.1)


def lack_of_disk(folder, gib):
    """Why a command that needs so many GiB of disk must not start; None: it may."""
    free = shutil.disk_usage(folder).free / 2**30
    return None if free >= gib else "needs %g GiB of free disk in %s, %d GiB are free" % (gib, folder, free)
