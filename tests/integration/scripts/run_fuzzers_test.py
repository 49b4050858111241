#!/usr/bin/env python3
"""scripts/run_fuzzers.py with programs that behave as fuzzers do: one that finds nothing, one that always finds something."""
import pathlib
import subprocess
import sys
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).resolve().parents[3] / "scripts/run_fuzzers.py"
# The found inputs' folder is the last but one word, as libFuzzer has it.
FUZZER = """#!/bin/sh
for word; do found=$last last=$word; case $word in -artifact_prefix=*) prefix=${word#*=};; -seed=*) seed=${word#*=};; esac; done
ls "$last" >/dev/null && : >"$found/input$seed"
[ %d = 0 ] || { echo "#7 NEW" && echo bad >"${prefix}crash-$seed" && exit 77; }
echo "stat::number_of_executed_units: 1000"
"""


class RunFuzzers(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = pathlib.Path(holder.name)
        for name, status in (("fuzz_calm", 0), ("fuzz_broken", 77)):
            (self.folder / "corpus" / name).mkdir(parents=True)
            (self.folder / "corpus" / name / "seed").write_text("x")
            program = self.folder / name
            program.write_text(FUZZER % status)
            program.chmod(0o755)

    def run_fuzzers(self, *words):
        return subprocess.run([sys.executable, SCRIPT, self.folder, "--corpus", self.folder / "corpus", "--out", self.folder / "out", *words],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)

    def test_processes_of_a_target_are_summed_up(self):
        done = self.run_fuzzers("--each", "3", "fuzz_calm")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, r"\| `fuzz_calm` \| 3 \| 0\.0 \| 3,000 \| 3 \| 0 \|")
        self.assertEqual((self.folder / "out/summary.md").read_text(), done.stdout)
        self.assertEqual(sorted(path.name for path in (self.folder / "out/corpus/fuzz_calm").iterdir()), ["input1000", "input1010", "input1020"])

    def test_a_finding_is_kept_counted_and_not_the_end(self):
        done = self.run_fuzzers("--jobs", "1")
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stdout, r"`fuzz_calm` .* 0 \|\n")
        self.assertRegex(done.stdout, r"`fuzz_broken` \| 1 \| 0\.0 \| 35 \| 5 \| 5 \|")
        self.assertIn("fuzz_broken found a fault", done.stderr)
        self.assertEqual(len(list((self.folder / "out/findings").glob("fuzz_broken-crash-*"))), 5)

    def test_what_is_missing_is_said(self):
        done = self.run_fuzzers("fuzz_none")
        self.assertEqual(done.returncode, 2)
        self.assertIn("hint: there are fuzz_broken, fuzz_calm", done.stderr)
        (self.folder / "corpus/fuzz_calm/seed").unlink()
        done = self.run_fuzzers("fuzz_calm")
        self.assertEqual(done.returncode, 1)
        self.assertIn("fuzz_calm has no seeds", done.stderr)


if __name__ == "__main__":
    unittest.main()
