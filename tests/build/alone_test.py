"""Commands that have the machine for themselves."""

import subprocess
import sys
import unittest

from scripts import BUILD_SUPPORT, PATIENCE, ScriptTest, Witness

ALONE = [sys.executable, str(BUILD_SUPPORT / "alone.py")]


class Alone(ScriptTest):
    """The lock, the limit, and the end with the parent."""

    def alone(self, *command, minutes="1"):
        return [*ALONE, "--minutes", minutes, "--", *command]

    def test_no_two_run_side_by_side(self):
        log = self.directory / "log"
        command = self.alone("sh", "-c", "echo begins >> '%s'; sleep 0.3; echo ends >> '%s'" % (log, log))
        first = self.start(command)
        self.until(log.exists)
        others = [self.start(command) for _ in range(2)]
        said = [process.communicate(timeout=PATIENCE)[1] for process in [first, *others]]
        self.assertEqual(3 * ["begins", "ends"], log.read_text().split())
        self.assertEqual("", said[0])
        for text in said[1:]:
            self.assertRegex(text, r"^alone\.py: waits for process \d+, which may take 1 minutes: sh -c [^\n]*\n$")

    def test_a_command_that_waits_can_be_stopped(self):
        witness = Witness(self)
        self.start(self.alone("sh", "-c", "exec > '%s'; echo runs; sleep 600" % witness.path))
        witness.wait_for_start()
        waits = self.start(self.alone("touch", str(self.directory / "ran")))
        self.assertIn("waits", waits.stderr.readline())
        waits.terminate()
        self.assertIn("was stopped", waits.communicate(timeout=PATIENCE)[1])
        self.assertEqual((143, False), (waits.returncode, (self.directory / "ran").exists()))

    def test_one_that_was_killed_leaves_no_lock(self):
        witness = Witness(self)
        process = self.start(self.alone("sh", "-c", "exec > '%s'; echo runs; exec sleep 600" % witness.path))
        witness.wait_for_start()
        process.kill()
        self.assertEqual(0, self.start(self.alone("true")).wait(PATIENCE))

    def test_inside_of_one_nothing_waits(self):
        done = subprocess.run(self.alone(*self.alone("sh", "-c", "echo $DWELL_ALONE")), stdout=subprocess.PIPE, text=True, timeout=PATIENCE,
                              env=self.environment())
        self.assertEqual((0, "yes\n"), (done.returncode, done.stdout))

    def test_output_and_status_are_those_of_the_command(self):
        for end, status in (("exit 7", 7), ("kill -9 $$", 137)):
            process = self.start(self.alone("sh", "-c", "echo out; echo err >&2; " + end))
            self.assertEqual(("out\n", "err\n"), process.communicate(timeout=PATIENCE))
            self.assertEqual(status, process.returncode)

    def test_one_that_takes_too_long_is_stopped_with_its_children(self):
        witness = Witness(self)
        process = self.start(self.alone("sh", "-c", "(exec > '%s'; echo runs; sleep 600) & wait" % witness.path, minutes="0.02"))
        witness.wait_for_start()
        witness.wait_for_end()
        self.assertRegex(process.communicate(timeout=PATIENCE)[1], r"^alone\.py: took longer than 0\.02 minutes and was stopped: sh -c ")
        self.assertEqual(124, process.returncode)

    def test_it_ends_with_its_parent(self):
        witness = Witness(self)
        command = self.alone("sh", "-c", "(exec > '%s'; echo runs; sleep 600) & wait" % witness.path)
        parent = self.start(["sh", "-c", '"$@"; true', "sh", *command])
        witness.wait_for_start()
        parent.kill()
        witness.wait_for_end()


if __name__ == "__main__":
    unittest.main()
