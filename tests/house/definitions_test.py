"""What main sources define: every public type says what it is, and everything that is defined is used."""

import collections
import re
import unittest

import sources

# Called from elsewhere: setters and getters of Params and what is there for Java, Spark's extension points, Java's serialiser.
CALLED_BY_NAME = re.compile(r"^(set|get)[A-Z]|AsJava$|^(apply|unapply|main|load|copy|toString|writeReplace|readResolve)$")


def scala_definitions(text):
    """Line and name of each `def`, `val` and `var` that can be used from other places than its own block."""
    for number, line in enumerate(text.split("\n"), 1):
        found = re.match(r"(?:  ){0,2}(?!.*\boverride\b)(?:(?:private|protected)(?:\[\w+\])? |final |implicit |lazy )*(?:def|val|var) (\w+)", line)
        if found:
            yield number, found.group(1)


class DocsTest(unittest.TestCase):
    maxDiff = None

    def test_types_of_the_jvm_half_say_what_they_are(self):
        missing, seen = [], 0
        for path, text in sources.jvm_files().items():
            pattern = sources.SCALA_TYPE if path.suffix == ".scala" else sources.JAVA_TYPE
            documented = set()
            for found in pattern.finditer(text):
                seen += 1
                before = text[:found.start()].rstrip()
                # A companion needs no words of its own.
                if before.endswith("*/"):
                    documented.add(found.group(1))
                elif found.group(1) not in documented:
                    line = text.count("\n", 0, found.start()) + 1
                    missing.append("%s:%d %s" % (path.relative_to(sources.ROOT), line, found.group(1)))
        self.assertGreater(seen, 200)
        self.assertEqual(missing, [], "types without a word on what they are")


class UseTest(unittest.TestCase):
    maxDiff = None

    def test_definitions_of_the_jvm_half_are_used(self):
        """Public ones as well. Tests are no users: what they alone need belongs to them, and what nothing else uses is dead."""
        words = collections.Counter()
        for folder in ("jvm", "bench", "demo", "docs", "python"):
            for path in (sources.ROOT / folder).rglob("*"):
                if path.suffix in (".scala", ".java", ".py", ".md") and path.is_file():
                    words.update(re.findall(r"\w+", sources.code_of(path.read_text("utf-8")) if path.suffix in (".scala", ".java")
                                            else path.read_text("utf-8")))
        unused, seen = [], 0
        for path, text in sources.jvm_files().items():
            if path.suffix == ".scala":
                for line, name in scala_definitions(text):
                    seen += 1
                    if words[name] < 2 and not CALLED_BY_NAME.search(name):
                        unused.append("%s:%d %s" % (path.relative_to(sources.ROOT), line, name))
        self.assertGreater(seen, 1000)
        self.assertEqual(unused, [], "definitions that nothing uses")


if __name__ == "__main__":
    unittest.main()
