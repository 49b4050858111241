"""A sample of scripts/reliability.py: BUILD is where the programs are. Whole sweeps are run by hand (docs/reliability.md)."""
import os
import subprocess
import sys
import unittest

SCRIPT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../scripts/reliability.py")
BUILD = sys.argv.pop()


def attack(*words):
    done = subprocess.run([sys.executable, SCRIPT, *words, "--build", BUILD], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    return done.returncode, done.stdout


class Reliability(unittest.TestCase):
    def test_first_call_of_each_kind_fails(self):
        status, text = attack("faults", "--most", "1")
        self.assertEqual(status, 0, text)
        self.assertIn("program: memory: up to call 1", text)
        self.assertIn("record: memory: up to call 1", text)
        self.assertIn(" runs, 0 not as alone", text)

    def test_killed_at_any_moment(self):
        status, text = attack("kills", "--most", "10")
        self.assertEqual(status, 0, text)
        self.assertIn("10 kills, 0 with a file that does not open", text)

    def test_every_range_is_kept_rotated_out_or_counted_as_lost(self):
        status, text = attack("soak", "--seconds", "1.5", "--rate", "50000", "--max-size", "1M")
        self.assertEqual(status, 0, text)
        self.assertRegex(text, r"[0-9]+ ranges in 2 s: [1-9][0-9]* in the file, [1-9][0-9]* older than it keeps, 0 lost")


if __name__ == "__main__":
    unittest.main()
