#!/usr/bin/env python3
"""usage: docs_performance_test.py
scripts/performance_tables.py: the page is what the files say; a wrong file and a changed or missing page are named."""
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[3]
SCRIPT = ROOT / "scripts/performance_tables.py"
TABLE = {
    "title": "Speed", "question": "How fast?", "machine": "one core", "commands": ["bench"], "commit": None,
    "details": ["note 1"], "columns": [{"name": "what"}, {"name": "rate", "unit": "rows/s"}],
    "rows": [{"values": ["writing", 636000]}, {"values": ["reading", 34.70], "source": "a log"}]}


def run(*arguments):
    return subprocess.run([sys.executable, SCRIPT, *map(str, arguments)], capture_output=True, text=True)


class PerformanceTables(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)
        self.page = self.folder / "page.md"

    def write(self, text=None, **changes):
        (self.folder / "10-speed.json").write_text(text or json.dumps(TABLE | changes))

    def test_the_page_is_up_to_date(self):
        result = run("--check")
        self.assertEqual(result.returncode, 0, result.stderr)

    def test_each_file_stands_on_one_page(self):
        pages = [(ROOT / "docs" / name).read_text() for name in ("performance.md", "performance-tools.md")]
        for path in sorted((ROOT / "data/benchmarks").glob("*.json")):
            title = f"\n## {json.loads(path.read_text())['title']}\n"
            self.assertEqual(sum(page.count(title) for page in pages), 1, path.name)
        for page in pages:
            self.assertLessEqual(page.count("\n"), 150, "a page is read at one go")

    def test_what_the_files_name_is_there(self):
        for path in sorted((ROOT / "data/benchmarks").glob("*.json")):
            table = json.loads(path.read_text())
            self.assertRegex(table["commit"] or "0000000", r"^[0-9a-f]{7,40}$", path.name)
            self.assertTrue(table["commands"], path.name)
            for word in " ".join(table["commands"]).split():
                if word.startswith(("scripts/", "tests/", "data/")) and "[" not in word:
                    self.assertTrue((ROOT / word).exists(), f"{path.name}: {word}")

    def test_numbers_keep_their_digits(self):
        # As text: json.dumps writes 34.7 for 34.70.
        self.write(json.dumps(TABLE).replace("34.7]", "34.70]"))
        self.assertEqual(run(self.folder, self.page).returncode, 0)
        page = self.page.read_text()
        self.assertIn("## Speed\nHow fast?\n\n| what | rate (rows/s) |\n|---|---|\n| writing | 636,000 |\n"
                      "| reading | 34.70 |\n", page)
        self.assertIn("Machine: one core. Command: `bench`. Commit: more than one. Details: note 1.", page)

    def test_a_page_that_differs_is_named(self):
        self.write()
        run(self.folder, self.page)
        self.assertEqual(run("--check", self.folder, self.page).returncode, 0)
        self.page.write_text(self.page.read_text().replace("636,000", "637,000"))
        result = run("--check", self.folder, self.page)
        self.assertEqual(result.returncode, 1)
        self.assertIn("is not what", result.stderr)
        self.assertIn("hint: run scripts/performance_tables.py", result.stderr)
        self.assertIn("637,000", self.page.read_text(), "--check writes nothing")
        self.page.unlink()
        self.assertEqual(run("--check", self.folder, self.page).returncode, 1)

    def test_wrong_files_are_named(self):
        for change, message in [({"rows": [{"values": ["writing"]}]}, "writing: 1 values in 2 columns"),
                                ({"colour": "red"}, "unknown: colour"), ({"rows": [{}]}, "values")]:
            self.write(**change)
            result = run(self.folder, self.page)
            self.assertEqual(result.returncode, 1)
            self.assertIn(message, result.stderr)
        self.write(json.dumps({key: value for key, value in TABLE.items() if key != "machine"}))
        self.assertIn("missing: machine", run(self.folder, self.page).stderr)
        self.write("{")
        self.assertEqual(run(self.folder, self.page).returncode, 1)
        (self.folder / "10-speed.json").unlink()
        self.assertIn("no tables", run(self.folder, self.page).stderr)


if __name__ == "__main__":
    unittest.main()
