"""scripts/training_figures.sh over fake programs: what is timed waits for what is not, parts can be chosen, and what fails is named."""
import unittest

from figures_case import FiguresCase


class TrainingFigures(FiguresCase):
    script = "training_figures.sh"

    def test_all_parts_in_turn(self):
        done, said = self.run_script()
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertEqual(said,
                         ["gpu_check.py", "gpu_check.py", "compare_training.py gradients", "check_training.py",
                          "compare_training.py curve swin_tiny,swinv2_tiny", "compare_training.py speed swin_large:64",
                          "compare_training.py speed swinv2_base:64", "training_ladder.py", "swin make-data",
                          "compare_training.py speed swin_large:64",
                          "compare_training.py accuracy", "swinscope record", "swinscope analyze"])
        self.assertIn("figures of compare_training.py speed", done.stdout)

    def test_what_fails_is_named_and_the_rest_is_done(self):
        done, said = self.run_script("--data", "somewhere", "ladder", "accuracy", "stall", fails="training_ladder.py")
        self.assertEqual(done.returncode, 1)
        self.assertIn("error: failed: ladder\n", done.stdout)
        self.assertEqual(said,
                         ["training_ladder.py", "compare_training.py accuracy", "swinscope record", "swinscope analyze"])

    def test_bad_input(self):
        self.check_bad_input()


if __name__ == "__main__":
    unittest.main()
