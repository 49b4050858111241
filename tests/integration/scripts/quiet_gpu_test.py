"""scripts/quiet_gpu.py: when nothing else is on the GPU, by readings of nvidia-smi."""
import os
import subprocess
import sys
import tempfile
import unittest

SCRIPTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../scripts")
sys.dont_write_bytecode = True
sys.path.insert(0, SCRIPTS)
from quiet_gpu import is_quiet  # noqa: E402


def judged(readings, seconds=30.0):
    """The verdict, and how many readings it took."""
    given = list(readings)
    verdict = is_quiet(seconds, read=lambda: given.pop(0), pause=lambda _: None)
    return verdict, len(readings) - len(given)


class QuietGpu(unittest.TestCase):
    def test_three_quiet_readings_in_a_row(self):
        self.assertEqual(judged([0, 0, 1, 9]), (True, 3))
        self.assertEqual(judged([100, 0, 0, 7, 0, 0, 0]), (True, 7))

    def test_work_that_does_not_end(self):
        self.assertEqual(judged([100] * 99, seconds=2.0), (False, 5))

    def test_what_is_not_known(self):
        self.assertEqual(judged([None]), (None, 1))

    def test_the_command_asks_nvidia_smi(self):
        with tempfile.TemporaryDirectory() as folder:
            for said, status in (("0\\n1\\n", 0), ("0\\n97\\n", 1), ("[N/A]\\n", 0)):
                path = os.path.join(folder, "nvidia-smi")
                with open(path, "w", encoding="utf-8") as file:
                    file.write(f"#!/bin/sh\nprintf '{said}'\n")
                os.chmod(path, 0o755)
                environment = dict(os.environ, PATH=folder + os.pathsep + os.environ["PATH"])
                done = subprocess.run([sys.executable, os.path.join(SCRIPTS, "quiet_gpu.py"), "--seconds", "1"], env=environment,
                                      capture_output=True, text=True, check=False)
                self.assertEqual(done.returncode, status, done.stderr)

    def test_only_the_gpus_that_are_visible(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "nvidia-smi")
            with open(path, "w", encoding="utf-8") as file:
                file.write('#!/bin/sh\n[ "$3 $4" = "-i 1" ] && echo 0 || echo 100\n')
            os.chmod(path, 0o755)
            for visible, status in (("1", 0), ("0", 1), ("", 1)):
                environment = dict(os.environ, PATH=folder + os.pathsep + os.environ["PATH"], CUDA_VISIBLE_DEVICES=visible)
                done = subprocess.run([sys.executable, os.path.join(SCRIPTS, "quiet_gpu.py"), "--seconds", "1"], env=environment,
                                      capture_output=True, text=True, check=False)
                self.assertEqual(done.returncode, status, done.stderr)


if __name__ == "__main__":
    unittest.main()
