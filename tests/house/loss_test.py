"""The recipe for a loss in CONTRIBUTING.md: a new one changes the files that it names, and no other."""

import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

import sources

COPIED = ("Cargo.toml", "Cargo.lock", "rust-toolchain.toml", "native", "bench/rust")
PROBLEM = "native/solvers/src/problem/"
LOSS = PROBLEM + "loss.rs"
# sqrt(1 + (z - y)^2) - 1: real labels, curvature 1, and dual variables from -1 to 1.
FORMULAS = (pathlib.Path(__file__).parent / "pseudo_huber.rs").read_text("utf-8")

# What the recipe asks for in loss.rs: after each line comes the other, or it is replaced where the other begins with "=".
MEMBER = {"    SquaredHinge,\n}": "=    SquaredHinge,\n    /// `sqrt(1 + (z - y)^2) - 1`\n    PseudoHuber,\n}"}
REST = {
    "            Loss::SquaredHinge => { let $formulas = SquaredHinge; $value }\n":
        "            Loss::PseudoHuber => { let $formulas = PseudoHuber; $value }\n",
    'Self::SquaredHinge         => (4, "squared hinge",  Signed, Some(2.0),         false, Factors),\n':
        '            Self::PseudoHuber          => (7, "pseudo-Huber",   Real,   Some(1.0),         false, Factors),\n',
    "[Self; 5]": "=[Self; 6]",
    "            Self::SquaredHinge,\n": "            Self::PseudoHuber,\n",
    "Self::Hinge | Self::SquaredHinge": " | Self::PseudoHuber",
    "/// `value`, or infinity unless `0 <= p <= 1`.\n": "=" + FORMULAS + "/// `value`, or infinity unless `0 <= p <= 1`.\n",
}


class RustTest(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        temporary = tempfile.TemporaryDirectory()
        cls.addClassCleanup(temporary.cleanup)
        cls.tree = pathlib.Path(temporary.name)
        for name in COPIED:
            (cls.tree / name).parent.mkdir(parents=True, exist_ok=True)
            (shutil.copytree if (sources.ROOT / name).is_dir() else shutil.copy2)(sources.ROOT / name, cls.tree / name)
        cls.text = (cls.tree / LOSS).read_text("utf-8")

    def check(self, edits):
        """The errors of the crate, each with its file and its text, after these edits of loss.rs."""
        text = self.text
        for old, new in edits.items():
            self.assertEqual(1, text.count(old), "the recipe edits this text of loss.rs: " + old)
            text = text.replace(old, new[1:] if new.startswith("=") else old + new)
        (self.tree / LOSS).write_text(text, "utf-8")
        done = subprocess.run(
            ["cargo", "check", "--locked", "--quiet", "-p", "dwell-solvers", "--message-format=json"], cwd=self.tree, capture_output=True, text=True,
            env={**os.environ, "CARGO_TARGET_DIR": str(sources.ROOT / "build/house")})
        messages = [message["message"] for message in map(json.loads, done.stdout.splitlines()) if message["reason"] == "compiler-message"]
        found = [(span["file_name"], message["message"]) for message in messages for span in message["spans"] if span["is_primary"]]
        self.assertEqual(not found, done.returncode == 0, done.stdout + done.stderr)
        return found

    # Each compiles the crate and what it needs in a folder of its own, which takes minutes.
    if os.environ.get("DWELL_LONG"):

        def test_formulas_and_a_row_in_loss_rs_are_all(self):
            self.assertEqual([], self.check({**MEMBER, **REST}))

        def test_without_them_loss_rs_does_not_compile_and_no_other_file_asks(self):
            errors = self.check(MEMBER)
            self.assertEqual({LOSS}, {file for file, _ in errors}, errors)
            self.assertTrue(all("non-exhaustive patterns" in message for _, message in errors), errors)
    else:
        print("2 more in checkLong", flush=True)

    def test_no_other_room_names_a_loss(self):
        members = re.search(r"^pub enum Loss \{\n(.*?)^\}", self.text, re.M | re.S).group(1)
        names = re.findall(r"^    (\w+)", members, re.M)
        self.assertGreater(len(names), 4)
        pattern = re.compile(r"\bLoss::(?:%s)\b" % "|".join(names))
        for src in sources.CRATES.values():
            for path in sources.rust_files(src):
                if not path.is_relative_to(sources.ROOT / PROBLEM):
                    self.assertIsNone(pattern.search(sources.rust_code_of(path.read_text("utf-8"))), path)


class ScalaTest(unittest.TestCase):
    def test_no_file_but_loss_scala_and_the_estimators_names_a_loss_of_one_prediction(self):
        loss = sources.SCALA / "dwell/problem/Loss.scala"
        names = re.findall(r"^(?:final )?case (?:object|class) (\w+)\b.* extends (?:Signed|Margin)Loss\(", loss.read_text("utf-8"), re.M)
        self.assertGreater(len(names), 4)
        pattern = re.compile(r"\b(?:%s)\b" % "|".join(names))
        naming = {path for path, text in sources.jvm_files().items() if path.suffix == ".scala" and pattern.search(sources.code_of(text))}
        self.assertIn(loss, naming)
        others = [str(path) for path in naming - {loss} if not path.is_relative_to(sources.SCALA / "dwell/ml")]
        self.assertEqual([], others)


if __name__ == "__main__":
    unittest.main()
