"""scripts/inference_figures.sh over fake programs: what is timed waits for what is not, parts can be chosen, and what fails is named."""
import unittest

from figures_case import FiguresCase

MODELS = "swin_tiny,swin_small,swin_base,swin_large,swinv2_tiny,swinv2_small,swinv2_base,swinv2_large"


class InferenceFigures(FiguresCase):
    script = "inference_figures.sh"

    def test_all_parts_in_turn(self):
        done, said = self.run_script("--cases", "swin_base:1")
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertEqual(said[:6], ["inference_ladder.py", "swin peaks", "swinscope record", "swinscope layers", "swinscope record",
                                    "swinscope layers"])
        checked = said[6:]
        compiled = checked.index("compare_torch.py speed swin_base:1 compiled")  # beside the others
        self.assertLess(compiled, checked.index("compare_torch.py speed swin_base:1"))
        del checked[compiled]
        self.assertEqual(checked, ["gpu_check.py", "gpu_check.py", f"compare_torch.py errors {MODELS}", f"compare_torch.py errors {MODELS} at 384",
                                    f"compare_torch.py errors {MODELS} at 384 by 12", "compare_torch.py speed swin_base:1", "gpu_check.py"])
        self.assertNotIn(" on ", "".join(said))
        self.assertIn("figures of compare_torch.py speed", done.stdout)

    def test_what_fails_is_named_and_the_rest_is_done(self):
        done, said = self.run_script("ladder", "layers", fails="inference_ladder.py")
        self.assertEqual(done.returncode, 1)
        self.assertIn("error: failed: ladder\n", done.stdout)
        self.assertEqual(said, ["inference_ladder.py", "swin peaks", "swinscope record", "swinscope layers", "swinscope record",
                                "swinscope layers"])

    def test_what_is_not_timed_on_a_second_gpu(self):
        done, said = self.run_script("--checks-gpu", "1", "--cases", "swin_base:1")
        self.assertEqual(done.returncode, 0, done.stdout)
        said = [line for line in said if not line.startswith("swin")]
        self.assertEqual([line for line in said if line.endswith(" on 0")], ["inference_ladder.py   on 0", "compare_torch.py speed swin_base:1 on 0"])
        checked = [line for line in said if line.endswith(" on 1") and " compiled " not in line]
        self.assertEqual(checked, ["gpu_check.py   on 1", "gpu_check.py   on 1", f"compare_torch.py errors {MODELS} on 1", f"compare_torch.py errors {MODELS} at 384 on 1",
                                       f"compare_torch.py errors {MODELS} at 384 by 12 on 1", "gpu_check.py   on 1"])
        compiled, timed = (said.index(f"compare_torch.py speed swin_base:1{how}") for how in (" compiled on 1", " on 0"))
        self.assertLess(compiled, timed)

    def test_what_fails_on_the_second_gpu_is_named(self):
        done, _ = self.run_script("--checks-gpu", "1", "ladder", "models", fails="gpu_check.py")
        self.assertEqual(done.returncode, 1)
        self.assertIn("error: failed: models\n", done.stdout)

    def test_what_was_not_compiled_ahead_is_no_failure(self):
        done, said = self.run_script("compile", "ladder", "--cases", "swin_base:1", fails="compare_torch.py")
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertEqual(said, ["compare_torch.py speed swin_base:1 compiled", "inference_ladder.py", "swin peaks"])

    def test_bad_input(self):
        self.check_bad_input()
        for number in ("0", "second"):
            done, _ = self.run_script("--checks-gpu", number)
            self.assertEqual(done.returncode, 2)
            self.assertIn(f"error: --checks-gpu {number}: not the number of a second GPU", done.stdout)


if __name__ == "__main__":
    unittest.main()
