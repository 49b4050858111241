"""scripts/gpu_check.py over a build of fake programs: what passes, fails, is skipped, hangs or is not begun is told apart."""
import json
import os
import select
import signal
import subprocess
import sys
import tempfile
import unittest

SCRIPT = os.path.join(os.path.dirname(__file__), "../../../scripts/gpu_check.py")
PROGRAMS = {
    "swin": 'case "$*" in *--no-models*) echo "12 checks passed" ;; *) echo "layernorm is off" && exit 1 ;; esac',
    "good_test": 'echo "[       OK ] A.B" && echo "REQUIRE $SWINSCOPE_REQUIRE_GPU"',
    "skipped_test": 'echo "[  SKIPPED ] A.B (0 ms)"',
    "partly_test": 'echo "[  SKIPPED ] A.B (0 ms)" && echo "[       OK ] A.C"',
    "hanging_test": "sleep 1000 & wait",
}
RACE = "========= Error: Race reported between Read access at %s+0xa50\n=========     and Write access at %s+0x2e50 [112 hazards]\n"
# Runs what it watches, then says what stands in the file of the environment.
SANITIZER = """#!/bin/sh
while [ $# -gt 0 ] && ! [ -x "$1" ]; do shift; done
"$@" || exit $?
cat "$REPORT"
"""


class GpuCheck(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.build = os.path.join(self.folder.name, "build")
        os.makedirs(os.path.join(self.build, "bin"))
        for name, script in PROGRAMS.items():
            path = os.path.join(self.build, "bin", name)
            with open(path, "w", encoding="utf-8") as file:
                file.write("#!/bin/sh\n" + script + "\n")
            os.chmod(path, 0o755)
        with open(os.path.join(self.build, "gpu_tests"), "w", encoding="utf-8") as file:
            file.write("".join(name + "\n" for name in [*PROGRAMS, "missing_test"] if name.endswith("_test")))

    def tearDown(self):
        self.folder.cleanup()

    def run_script(self, *words):
        logs = os.path.join(self.folder.name, "logs")
        return subprocess.run([sys.executable, SCRIPT, "--build", self.build, "--logs", logs, *words], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True, check=False)

    def watched(self, check, report):
        """The row of a check under a sanitizer that reports so much."""
        tools, file = os.path.join(self.folder.name, "tools"), os.path.join(self.folder.name, "report")
        os.makedirs(tools, exist_ok=True)
        with open(os.path.join(tools, "compute-sanitizer"), "w", encoding="utf-8") as opened:
            opened.write(SANITIZER)
        os.chmod(opened.name, 0o755)
        with open(file, "w", encoding="utf-8") as opened:
            opened.write(report)
        before = dict(os.environ)
        os.environ.update(PATH=tools + os.pathsep + before["PATH"], REPORT=file)
        try:
            return self.verdicts(check)[0][check]
        finally:
            os.environ.clear()
            os.environ.update(before)

    def verdicts(self, *words):
        file = os.path.join(self.folder.name, "rows.json")
        done = self.run_script("--json", file, *words)
        with open(file, encoding="utf-8") as opened:
            return {row["check"]: row for row in json.load(opened)}, done

    def test_verdicts(self):
        rows, done = self.verdicts("--limit", "0.5", "*_test", "verify-*")
        self.assertEqual({name: row["verdict"] for name, row in rows.items()},
                         {"good_test": "passed", "skipped_test": "skipped", "partly_test": "passed", "hanging_test": "cut",
                          "verify-kernels": "passed", "verify-models": "FAILED"})
        self.assertEqual(rows["good_test"]["said"], "REQUIRE 1")
        self.assertEqual(rows["verify-models"]["said"], "layernorm is off")
        self.assertEqual(done.returncode, 1)
        self.assertTrue(done.stdout.endswith("3 passed, 1 FAILED, 1 skipped, 1 cut, 0 left out\n"), done.stdout)

    def test_all_passed_is_status_0(self):
        rows, done = self.verdicts("good_test", "skipped_test")
        self.assertEqual((len(rows), done.returncode), (2, 0))

    def test_what_counts_free_memory_waits_for_all_others(self):
        ended, counts = os.path.join(self.folder.name, "ended"), "workloads_device_model_test"
        for name, script in (("good_test", f"touch {ended}"), (counts, f"[ -e {ended} ]")):
            path = os.path.join(self.build, "bin", name)
            with open(path, "w", encoding="utf-8") as file:
                file.write("#!/bin/sh\n" + script + "\n")
            os.chmod(path, 0o755)
        with open(os.path.join(self.build, "gpu_tests"), "a", encoding="utf-8") as file:
            file.write(counts + "\n")
        rows, _ = self.verdicts(counts, "good_test")
        self.assertEqual([(name, row["verdict"]) for name, row in rows.items()], [("good_test", "passed"), (counts, "passed")])

    def test_what_no_time_is_left_for_is_said(self):
        rows, done = self.verdicts("--seconds", "0", "good_test")
        self.assertEqual(rows["good_test"]["verdict"], "left out")
        self.assertEqual(done.returncode, 1)

    def test_the_sanitizers_are_asked_for(self):
        listed = self.run_script("--list").stdout.split()
        self.assertIn("racecheck-attention", listed)
        self.assertNotIn("missing_test", listed)
        self.assertEqual(self.run_script("--list", "memcheck-step-*").stdout.split(),
                         ["memcheck-step-eager", "memcheck-step-graph", "memcheck-step-graph-v2", "memcheck-step-segmentation"])

    def test_hazards_are_ours_unless_they_lie_in_the_library(self):
        summary = "========= RACECHECK SUMMARY: %d hazards displayed (%d errors, 0 warnings)\n"
        library, own = (RACE % (name, name) for name in ("nvjet_sm90_tst_192x8", "void swinscope::cuda::attention_kernel<int, 7>(int)"))
        reports = {summary % (0, 0): "passed", 2 * library + summary % (2, 2): "passed", library + own + summary % (2, 2): "FAILED",
                   # One that is worded otherwise.
                   library + summary % (2, 2): "FAILED"}
        for report, verdict in reports.items():
            row = self.watched("racecheck-attention", report)
            self.assertEqual(row["verdict"], verdict, report)
        self.assertIn("1 of them in cuBLASLt's own kernels", row["said"])

    def test_steps_run_alone_before_they_are_watched(self):
        with open(os.path.join(self.build, "bin", "swin"), "w", encoding="utf-8") as file:
            file.write('#!/bin/sh\necho "trained $*"\n')
        row = self.watched("memcheck-step-graph", "========= ERROR SUMMARY: 0 errors\n")
        self.assertEqual((row["verdict"], row["said"]), ("passed", "========= ERROR SUMMARY: 0 errors"))
        with open(os.path.join(self.folder.name, "logs", "memcheck-step-graph.log"), encoding="utf-8") as log:
            self.assertEqual(log.read().count("trained train"), 2)

    def test_rows_that_choose_products_run_alone_before_they_are_watched(self):
        for check, runs in (("racecheck-gradients", 2), ("racecheck-attention", 1)):
            row = self.watched(check, "========= RACECHECK SUMMARY: 0 hazards displayed (0 errors, 0 warnings)\n")
            self.assertEqual(row["verdict"], "passed")
            with open(os.path.join(self.folder.name, "logs", check + ".log"), encoding="utf-8") as log:
                self.assertEqual(log.read().count("12 checks passed"), runs)

    def test_checks_beside_each_other(self):
        # Each ends only once the other has begun.
        for name, other in (("good_test", "partly_test"), ("partly_test", "good_test")):
            begun = os.path.join(self.folder.name, "begun_")
            with open(os.path.join(self.build, "bin", name), "w", encoding="utf-8") as file:
                file.write(f"#!/bin/sh\ntouch {begun}{name}\nuntil [ -e {begun}{other} ]; do sleep 0.02; done\n")
        rows, done = self.verdicts("--jobs", "2", "--limit", "60", "good_test", "partly_test")
        self.assertEqual({name: row["verdict"] for name, row in rows.items()}, {"good_test": "passed", "partly_test": "passed"})
        self.assertEqual(done.returncode, 0)

    def test_a_signal_ends_what_runs_too(self):
        signal.signal(signal.SIGINT, signal.default_int_handler)  # which shells let what runs in the background ignore
        for number in (signal.SIGINT, signal.SIGTERM):
            # Who holds its writing end is alive; the program's own child does, too.
            held = os.path.join(self.folder.name, f"held_{number}")
            os.mkfifo(held)
            with open(os.path.join(self.build, "bin", "hanging_test"), "w", encoding="utf-8") as file:
                file.write(f"#!/bin/sh\nexec 3> {held}\nsleep 1000 &\necho begun >&3\nwait\n")
            command = [sys.executable, SCRIPT, "--build", self.build, "--logs", self.folder.name, "--limit", "90", "hanging_test"]
            with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as script, open(held, "rb", buffering=0) as pipe:
                self.assertEqual(pipe.readline(), b"begun\n")
                script.send_signal(number)
                self.assertTrue(select.select([pipe], [], [], 60)[0], "what ran still runs")
                self.assertEqual(pipe.read(), b"")
                self.assertIn("what ran was ended, too", script.communicate()[1])
                self.assertEqual(script.returncode, 128 + number)

    def test_bad_input(self):
        unknown = self.run_script("nothing-*")
        self.assertEqual(unknown.returncode, 1)
        self.assertIn("no check has this name", unknown.stderr)
        os.remove(os.path.join(self.build, "bin", "swin"))
        missing = self.run_script()
        self.assertEqual(missing.returncode, 2)
        self.assertIn("not built", missing.stderr)


if __name__ == "__main__":
    unittest.main()
