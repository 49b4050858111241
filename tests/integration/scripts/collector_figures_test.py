"""scripts/collector_figures.sh over fake programs: parts can be chosen, and what fails is named."""
import unittest

from figures_case import FiguresCase


class CollectorFigures(FiguresCase):
    script = "collector_figures.sh"

    def test_all_parts_in_turn(self):
        done, said = self.run_script()
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertEqual(said, ["overhead.py", "overhead.py", "graph_overhead.py", "check_collector.py"])
        self.assertIn("figures of check_collector.py", done.stdout)

    def test_what_fails_is_named_and_the_rest_is_done(self):
        done, said = self.run_script("checks", "overhead", fails="check_collector.py")
        self.assertEqual(done.returncode, 1)
        self.assertIn("error: failed: checks\n", done.stdout)
        self.assertEqual(said, ["check_collector.py", "overhead.py"])

    def test_bad_input(self):
        self.check_bad_input("overhead")


if __name__ == "__main__":
    unittest.main()
