#!/usr/bin/env python3
"""usage: python_package_test.py BUILD
The wheel of a build: installed by pip without a network into a fresh environment, its program and its reader say what the program of
the build says. Skipped, and said so, where Python has no venv or pip."""
import importlib.util
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[3]
BUILD = pathlib.Path()
TRACE = ROOT / "data/swinscope_swin_tiny_graph_1gpu.db"
READ = """
import json, sys, warnings, swinscope
run = swinscope.open(sys.argv[1])
try:
    run.table("no_such_table")
except swinscope.Failure as failure:
    refused = failure.status
json.dump({"kernels": run.table("kernels", kind="rows"), "idle": run.table("idle", kind="rows"), "refused": refused,
           "count": run.query("SELECT count(*) AS ranges FROM NVTX_EVENTS", kind="rows"), "names": list(run.tables())}, sys.stdout)
"""


def has_venv():
    return all(importlib.util.find_spec(name) for name in ("venv", "ensurepip", "pip"))


@unittest.skipUnless(has_venv(), "Python has no venv, ensurepip or pip (apt install python3-venv python3-pip)")
class Wheel(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.place = tempfile.TemporaryDirectory(prefix="swinscope-wheel-test-")
        cls.folder = pathlib.Path(cls.place.name)
        builder = [sys.executable, ROOT / "packaging/python/build_wheel.py", BUILD, cls.folder]
        cls.wheel = subprocess.run(builder, check=True, capture_output=True, text=True).stdout.strip()
        subprocess.run([sys.executable, "-m", "venv", cls.folder / "venv"], check=True)
        subprocess.run([cls.folder / "venv/bin/pip", "install", "--quiet", "--no-index", cls.wheel], check=True)

    @classmethod
    def tearDownClass(cls):
        cls.place.cleanup()

    def run_installed(self, program, *words):
        return subprocess.run([self.folder / "venv/bin" / program, *words], capture_output=True, text=True, cwd=self.folder)

    def said_by_build(self, *words):
        return json.loads(subprocess.run([BUILD / "bin/swinscope", *words, "--format", "json", "--quiet"], check=True,
                                         capture_output=True, text=True).stdout)["data"]

    def test_the_program_is_the_one_of_the_build(self):
        wanted = subprocess.run([BUILD / "bin/swinscope", "analyze", TRACE], check=True, capture_output=True, text=True).stdout
        for line in (("swinscope",), ("python", "-m", "swinscope")):
            ended = self.run_installed(*line, "analyze", TRACE)
            self.assertEqual((ended.returncode, ended.stdout), (0, wanted), ended.stderr)
        self.assertEqual(self.run_installed("swinscope", "analyze").returncode, 2)

    def test_the_collector_is_found(self):
        ended = self.run_installed("swinscope", "record", "-o", "run", "--", "true")
        self.assertEqual(ended.returncode, 0, ended.stderr)
        self.assertEqual(self.run_installed("swinscope", "info", "run").returncode, 0)

    def test_tables_are_those_of_the_program(self):
        ended = self.run_installed("python", "-c", READ, TRACE)
        self.assertEqual(ended.returncode, 0, ended.stderr)
        read = json.loads(ended.stdout)
        self.assertEqual(read["kernels"], self.said_by_build("kernels", TRACE))
        self.assertEqual(read["idle"], self.said_by_build("analyze", TRACE, "--table", "idle"))
        self.assertEqual(read["names"], list(self.said_by_build("analyze", "--list")))
        self.assertEqual(read["count"], self.said_by_build("query", TRACE, "SELECT count(*) AS ranges FROM NVTX_EVENTS"))
        self.assertEqual(read["refused"], 2)

    def test_the_same_build_gives_the_same_bytes(self):
        before = pathlib.Path(self.wheel).read_bytes()
        subprocess.run([sys.executable, ROOT / "packaging/python/build_wheel.py", BUILD, self.folder], check=True, capture_output=True)
        self.assertEqual(pathlib.Path(self.wheel).read_bytes(), before)

    def test_libraries_for_tables(self):
        for kind, module in (("arrow", "pyarrow"), ("pandas", "pandas")):
            with self.subTest(kind):
                if importlib.util.find_spec(module) is None:
                    self.skipTest(f"{module} is not installed")
                sys.path.insert(0, str(self.folder / f"venv/lib/python{sys.version_info[0]}.{sys.version_info[1]}/site-packages"))
                import swinscope
                table = swinscope.open(TRACE).table("kernels", kind=kind)
                names = table.column_names if kind == "arrow" else list(table.columns)
                rows = self.said_by_build("kernels", TRACE)
                self.assertEqual((len(table), names), (len(rows), list(rows[0])))


if __name__ == "__main__":
    BUILD = pathlib.Path(sys.argv.pop(1)).resolve()
    unittest.main()
