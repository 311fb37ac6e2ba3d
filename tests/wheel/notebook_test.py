"""demo/dwell.ipynb runs from its first cell to its last, with the package as the wheel installs it."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

import package_test

NOTEBOOK = pathlib.Path(__file__).resolve().parents[2] / "demo" / "dwell.ipynb"


def code():
    """The code of all cells; the package is installed already, and the value of a last expression is shown as a notebook shows it."""
    cells = [cell for cell in json.loads(NOTEBOOK.read_text("utf-8"))["cells"] if cell["cell_type"] == "code"]
    sources = ["".join(cell["source"]) for cell in cells]
    return [source.replace("\nreport\n", "\nreport._repr_html_()\n") + "\n" for source in sources if not source.startswith("%pip")]


class NotebookTest(unittest.TestCase):
    def test_every_cell_runs(self):
        with tempfile.TemporaryDirectory() as directory:
            program = pathlib.Path(directory, "notebook.py")
            program.write_text("\n".join(code()), "utf-8")
            path = os.pathsep.join(package_test.PATHS)
            done = subprocess.run([sys.executable, str(program)], env={**os.environ, "PYTHONPATH": path, "PYSPARK_PYTHON": sys.executable}, cwd=directory, text=True, capture_output=True)
        self.assertEqual(done.returncode, 0, done.stderr[-3000:])
        model, proof, metrics, solver = done.stdout.strip().splitlines()
        self.assertTrue(model.startswith("pyspark.ml.classification ") and float(model.split()[1]) > 0.75, model)
        self.assertRegex(proof, r"^[a-z+-]+: at most \d\.\de-\d\d above the optimum, \d+\.\d s$")
        self.assertTrue(all(0.7 < float(metric) < 1.0 for metric in metrics.split()) and len(metrics.split()) == 3, metrics)
        self.assertEqual(solver, "native")
        self.assertEqual(done.stderr.count("of at most"), 7, "a line for each fit of the grid, and for the last one")


if __name__ == "__main__":
    unittest.main()
