"""scripts/swin_large_scaling.sh on CPU ranks, with the real programs: an experiment that analyze and compare read, images from files, a
rank that is killed, and parts that are left out when there is no time."""
import os
import subprocess
import sys
import tempfile
import unittest

SCRIPT = os.path.join(os.path.dirname(__file__), "../../../scripts/swin_large_scaling.sh")
BUILD = sys.argv.pop()


class ScalingScript(unittest.TestCase):
    def run_script(self, *words):
        return subprocess.run(["bash", SCRIPT, "--build", BUILD, "--cpus-only", "--gpus", "1,2", *words], stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, check=False)

    def test_weak_scaling_and_a_killed_rank(self):
        with tempfile.TemporaryDirectory() as folder:
            done = self.run_script("-o", folder, "weak", "strong", "kill", "blocks")
            self.assertEqual(done.returncode, 0, done.stdout)
            for words in ("weak scaling", "strong scaling, 8 images in all", "rank 1 of 2 killed; the job ended with status", "rank0.db: ",
                          "rank1.db: ", "ranks  repeats", "efficiency"):
                self.assertIn(words, done.stdout)
            self.assertNotIn("room for all-reduces", done.stdout)  # needs GPUs
            self.assertTrue(os.path.exists(os.path.join(folder, "weak", "experiment.json")))
            again = self.run_script("-o", folder, "weak")  # goes on where it stopped: nothing is measured again
            self.assertEqual(again.returncode, 0, again.stdout)

    def test_images_from_files(self):
        with tempfile.TemporaryDirectory() as folder:
            pictures = os.path.join(folder, "pictures")
            subprocess.run([os.path.join(BUILD, "bin", "swin"), "make-data", pictures, "--images", "48", "--size", "32", "-q"], check=True)
            done = self.run_script("-o", os.path.join(folder, "out"), "--data", pictures, "files")
            self.assertEqual(done.returncode, 0, done.stdout)
            # Three numbers of cores with one rank and with two: what each is bound by, with the part that images are.
            self.assertEqual(done.stdout.count("\nWhere the time goes (sum "), 6)
            self.assertEqual(done.stdout.count("\ninput  "), 6)

    def test_what_no_time_is_left_for_is_said(self):
        with tempfile.TemporaryDirectory() as folder:
            done = self.run_script("-o", folder, "--seconds", "0", "weak")
            self.assertEqual(done.returncode, 1)
            self.assertIn("left out: weak (no time is left)", done.stdout)

    def test_bad_input(self):
        done = self.run_script("weakly")
        self.assertEqual(done.returncode, 2)
        self.assertIn("error: weakly: unknown", done.stdout)


if __name__ == "__main__":
    unittest.main()
