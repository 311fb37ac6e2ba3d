"""The budget of lines that CONTRIBUTING.md gives each row of rooms: who needs more lines removes others, or says why in the table."""

import re
import unittest

import others  # noqa: F401
import layers_test
import sources


def budgets(title):
    """For each row of rooms: its rooms and its lines, at most."""
    lines = re.findall(r"^\| `[^|]*\|[^|]*\| ([\d,]+) \|$", layers_test.section(title), re.M)
    return list(zip(layers_test.rows_of(title), [int(line.replace(",", "")) for line in lines], strict=True))


class BudgetTest(unittest.TestCase):
    maxDiff = None

    def check_budget(self, title, lines_of):
        """`lines_of`: lines by room."""
        rows = budgets(title)
        self.assertGreater(len(rows), 3)
        over = ["%s: %d lines, and %d are allowed" % (" ".join(rooms), lines, most)
                for rooms, most in rows for lines in [sum(lines_of[room] for room in rooms)] if lines > most]
        self.assertEqual(over, [], "rooms that exceed their budget in CONTRIBUTING.md")

    def test_jvm(self):
        lines = {}
        for text in sources.jvm_files().values():
            room = sources.package_of(text)
            lines[room] = lines.get(room, 0) + text.count("\n")
        self.check_budget("Rooms of the JVM half", lines)

    def check_crate(self, crate, title):
        lines, src = {}, sources.CRATES[crate]
        for path in src.rglob("*.rs"):
            room = path.relative_to(src).with_suffix("").parts[0]
            lines[room] = lines.get(room, 0) + path.read_text("utf-8").count("\n")
        self.check_budget(title, lines)

    def test_solvers(self):
        self.check_crate("dwell-solvers", "Rooms of native/solvers")

    def test_boundary(self):
        self.check_crate("dwell-jni", "Rooms of native/jni")


if __name__ == "__main__":
    unittest.main()
