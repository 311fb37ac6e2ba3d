"""What docs/notebooks.md tells users of Spark Connect, as it is printed but for the port."""

import re
import shlex
import unittest

import server

PAGE = (server.ROOT / "docs" / "notebooks.md").read_text("utf-8").split("\n## Spark Connect\n")[1].split("\n## ")[0]
URL = "sc://localhost:15002"


def blocks(language):
    return re.findall(r"^```%s\n(.*?)^```$" % language, PAGE, re.MULTILINE | re.DOTALL)


def command(line):
    return shlex.split(line, comments=True)


class DocsTest(unittest.TestCase):
    def test_the_first_commands(self):
        first, plugin = blocks("sh")
        start, install = first.splitlines()
        self.assertEqual(command(install)[:3], ["pip", "install", "pyspark-client"])
        code = blocks("python")[0]
        self.assertEqual(code.count(URL), 1)
        with server.running(command(start)) as url:
            printed = server.client(url, code.replace(URL, url))
        self.assertRegex(printed, r"^LogisticRegression LogisticRegression_\w+: .*\nnewton by native code: ")

    def test_clients_that_change_nothing(self):
        _, plugin = blocks("sh")
        code = "from pyspark.ml.classification import LinearSVC\nLinearSVC(regParam=0.1).fit(data)\n" + blocks("python")[1]
        with server.running(command(plugin)) as url:
            self.assertRegex(server.client(url, code, dwell=False), r"LinearSVC_\w+: newton, native solver, ")


if __name__ == "__main__":
    unittest.main()
