"""scripts/graph_overhead.py over a fake swin and a fake swinscope: medians, overheads, what was lost, what fails."""
import json
import os
import subprocess
import sys
import tempfile
import unittest

SCRIPT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../scripts/graph_overhead.py")
# The first run, which chooses, is slow; the others take 10, 15 and 11 ms, longer where they are recorded.
SWIN = """#!{python}
import json, os, sys
words = sys.argv[1:]
batch = words[words.index("--batch") + 1]
if os.environ.get("FAILS") == batch:
    sys.exit("error: it does not fit")
kind = os.environ.get("RECORDED", "untraced")
count = os.path.join(os.environ["RUNS"], kind + batch)
open(count, "a").close()
run = os.path.getsize(count)
with open(count, "a") as file:
    file.write(".")
times = [100, 10, 15, 11] if kind == "untraced" else [10, 15, 11]
factor = {{"untraced": 1, "nodes": 1.5, "graphs": 1.01}}[kind]
print(json.dumps({{"run": {{"gpu": "a GPU"}}, "data": [{{"step_time_median_ns": 1e6 * factor * times[run]}}]}}))
"""
SWINSCOPE = """#!{python}
import os, sqlite3, subprocess, sys
words, command = sys.argv[1:sys.argv.index("--")], sys.argv[sys.argv.index("--") + 1:]
folder = words[words.index("-o") + 1]
os.makedirs(folder)
kind = "graphs" if words[-2:] == ["--cuda-graph-trace", "graph"] else "nodes"
with sqlite3.connect(folder + "/rank0.db") as db:
    db.executescript("CREATE TABLE SWINSCOPE_DROPS (count); INSERT INTO SWINSCOPE_DROPS VALUES (3), (4)")
sys.exit(subprocess.call(command, env=dict(os.environ, RECORDED=kind)))
"""


class GraphOverhead(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        for name, text in (("swin", SWIN), ("swinscope", SWINSCOPE), ("nvidia-smi", "#!/bin/sh\necho 0\n")):
            file = os.path.join(self.folder.name, name)
            with open(file, "w", encoding="utf-8") as opened:
                opened.write(text.format(python=sys.executable))
            os.chmod(file, 0o755)

    def tearDown(self):
        self.folder.cleanup()

    def run_script(self, *words, **more):
        at = self.folder.name
        environment = dict(os.environ, PATH=at + os.pathsep + os.environ["PATH"], RUNS=at, **more)
        return subprocess.run([sys.executable, SCRIPT, "--swin", at + "/swin", "--swinscope", at + "/swinscope", "--rounds", "3", "--json",
                               at + "/figures.json", *words], env=environment, capture_output=True, text=True, check=False)

    def test_medians_of_rounds_beside_untraced_ones(self):
        done = self.run_script("--batches", "8")
        self.assertEqual(done.returncode, 0, done.stderr)
        said = [line.split() for line in done.stdout.splitlines()]
        self.assertEqual([line[3:7] for line in said], [["untraced", "11.000", "ms", "+0.00%"], ["nodes", "16.500", "ms", "+50.00%"],
                                                        ["graphs", "11.110", "ms", "+1.00%"]])
        self.assertIn("21 records lost", done.stdout.splitlines()[1])
        self.assertIn("(10.000 to 15.000, 3 runs, 0 records lost)", done.stdout.splitlines()[0])
        with open(self.folder.name + "/figures.json", encoding="utf-8") as opened:
            self.assertEqual(json.load(opened)["batches"]["8"]["nodes"][0], {"ms": 15.0, "lost": 7, "gpu": "a GPU"})

    def test_what_fails_is_told_and_what_was_measured_stays(self):
        done = self.run_script("--batches", "8,16", FAILS="16")
        self.assertEqual(done.returncode, 1)
        self.assertIn("error: batch 16: error: it does not fit", done.stderr)
        with open(self.folder.name + "/figures.json", encoding="utf-8") as opened:
            self.assertEqual(len(json.load(opened)["batches"]["8"]["graphs"]), 3)

    def test_bad_batches(self):
        done = self.run_script("--batches", "many")
        self.assertEqual(done.returncode, 2)
        self.assertIn("--batches: many: not numbers", done.stderr)


if __name__ == "__main__":
    unittest.main()
