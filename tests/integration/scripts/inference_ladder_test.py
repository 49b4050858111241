"""scripts/inference_ladder.py over a fake swin: times in a table, logits compared, what fails named."""
import array
import json
import os
import subprocess
import sys
import tempfile
import unittest

SCRIPT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../scripts/inference_ladder.py")
# A rung is as fast as its name is long; $ERROR of them has other logits, $FAILS none.
SWIN = """#!{python}
import array, json, os, sys
words = sys.argv[1:]
value = lambda name, default=None: words[words.index(name) + 1] if name in words else default
level, batch, without = value("--level"), int(value("--batch")), value("--without", "")
if os.environ.get("FAILS") in (level, without):
    sys.exit("error: it does not fit")
logits = [float(i % 7 - 3) for i in range(10 * batch)]
if os.environ.get("ERROR") == level:
    logits = [1.01 * value for value in logits]
data = array.array("f", logits).tobytes()
header = json.dumps({{"images": {{"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}},
                     "logits": {{"dtype": "F32", "shape": [batch, 10], "data_offsets": [4, 4 + len(data)]}}}}).encode()
with open(value("--logits"), "wb") as file:
    file.write(len(header).to_bytes(8, "little") + header + bytes(4) + data)
time = 1e6 * batch * (len(level) + len(without))
print(json.dumps({{"run": {{"precision": "fp16", "features": "gelu, window", "gpu": "a GPU"}}, "data": [{{"step_time_median_ns": time}}]}}))
"""


class InferenceLadder(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.swin = os.path.join(self.folder.name, "swin")
        with open(self.swin, "w", encoding="utf-8") as file:
            file.write(SWIN.format(python=sys.executable))
        os.chmod(self.swin, 0o755)
        # A GPU that is quiet, whatever this machine has.
        smi = os.path.join(self.folder.name, "nvidia-smi")
        with open(smi, "w", encoding="utf-8") as file:
            file.write("#!/bin/sh\necho 0\n")
        os.chmod(smi, 0o755)

    def tearDown(self):
        self.folder.cleanup()

    def run_script(self, *words, **more):
        environment = dict(os.environ, PATH=self.folder.name + os.pathsep + os.environ["PATH"], **more)
        file = os.path.join(self.folder.name, "ladder.json")
        done = subprocess.run([sys.executable, SCRIPT, "--swin", self.swin, "--json", file, *words], env=environment,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
        if not os.path.exists(file):
            return done, None
        with open(file, encoding="utf-8") as opened:
            return done, json.load(opened)

    def test_times_of_rungs_and_of_what_is_left_out(self):
        done, document = self.run_script("--batches", "1,4", "--levels", "eager,graph")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("| level | batch 1 | batch 4 |\n|---|---|---|\n| eager | 5.000 ms | 20.000 ms |\n| graph | 5.000 ms | 20.000 ms |",
                      done.stdout)
        self.assertIn("| (nothing) | 5.000 ms | 20.000 ms |\n| gelu | 9.000 ms | 36.000 ms |\n| window | 11.000 ms | 44.000 ms |", done.stdout)
        self.assertIn('x-axis ["eager", "graph"]\n  y-axis "ms" 0 --> 20\n  bar [20.0, 20.0]', done.stdout)
        self.assertEqual([row["difference"] for row in document["rungs"]], [0.0] * 4)

    def test_other_logits_are_a_failure(self):
        done, document = self.run_script("--batches", "1", "--levels", "eager,fused", "--without", "none", ERROR="fused")
        self.assertEqual(done.returncode, 1)
        self.assertIn("left out: fused, batch 1: its logits differ by 1.0e-02 from those of eager", done.stderr)
        self.assertAlmostEqual(document["rungs"][1]["difference"], 0.01, places=6)

    def test_what_fails_is_named_and_the_rest_is_done(self):
        done, document = self.run_script("--batches", "1", "--levels", "eager,graph", FAILS="gelu")
        self.assertEqual(done.returncode, 1)
        self.assertIn("left out: without gelu, batch 1: error: it does not fit", done.stderr)
        self.assertEqual([row["without"] for row in document["without"]], ["(nothing)", "window"])
        self.assertNotIn("gelu", done.stdout)

    def test_bad_input(self):
        for words, said in ((("--levels", "eager,fast"), "fast: unknown"), (("--batches", "many"), "many: not numbers")):
            done, _ = self.run_script(*words)
            self.assertEqual(done.returncode, 2)
            self.assertIn(said, done.stderr)
        done, _ = self.run_script("--seconds", "0", "--batches", "1")
        self.assertEqual(done.returncode, 1)
        self.assertIn("left out: eager, batch 1: no time is left", done.stderr)


if __name__ == "__main__":
    unittest.main()
