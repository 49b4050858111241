"""scripts/inference_figures.sh over fake programs: what is timed waits for what is not, parts can be chosen, and what fails is named."""
import unittest

from figures_case import FiguresCase

MODELS = "swin_tiny,swin_small,swin_base,swin_large,swinv2_tiny,swinv2_small,swinv2_base,swinv2_large"


class InferenceFigures(FiguresCase):
    script = "inference_figures.sh"

    def test_all_parts_in_turn(self):
        done, said = self.run_script("--cases", "swin_base:1")
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertEqual(said, ["gpu_check.py", "gpu_check.py", f"compare_torch.py errors {MODELS}",
                                f"compare_torch.py errors {MODELS} at 384", "compare_torch.py speed swin_base:1", "inference_ladder.py", "swin peaks",
                                "swinscope record", "swinscope layers", "swinscope record", "swinscope layers"])
        self.assertIn("figures of compare_torch.py speed", done.stdout)

    def test_what_fails_is_named_and_the_rest_is_done(self):
        done, said = self.run_script("ladder", "layers", fails="inference_ladder.py")
        self.assertEqual(done.returncode, 1)
        self.assertIn("error: failed: ladder\n", done.stdout)
        self.assertEqual(said, ["inference_ladder.py", "swin peaks", "swinscope record", "swinscope layers", "swinscope record",
                                "swinscope layers"])

    def test_bad_input(self):
        self.check_bad_input()


if __name__ == "__main__":
    unittest.main()
