"""scripts/training_figures.sh over fake programs: what is timed waits for what is not, parts can be chosen, and what fails is named."""
import os
import subprocess
import tempfile
import unittest

SCRIPT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../scripts/training_figures.sh")
# Says what it is asked, in a file; one that has to wait does, before it says so. What $FAILS names fails.
PYTHON = """#!/bin/bash
while [ $# -gt 0 ]; do
  case $1 in
    --time-after) go=$2 && shift ;;
    --cases | --models) what=$2 && shift ;;
    *.py) script=$(basename "$1") ;;
    speed | gradients | curve | accuracy) command=$1 ;;
  esac
  shift
done
while [ -n "$go" ] && [ ! -e "$go" ]; do sleep 0.02; done
echo "$script $command $what" >>"$SAID"
echo "figures of $script $command"
[ "$script" != "$FAILS" ]
"""


class TrainingFigures(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.said = os.path.join(self.folder.name, "said")
        for path, script in (("bin/python3", PYTHON), ("build/bin/swin", '#!/bin/sh\necho "swin $1" >>"$SAID"\n'),
                             ("build/bin/swinscope", '#!/bin/sh\necho "swinscope $1" >>"$SAID"\n')):
            file = os.path.join(self.folder.name, path)
            os.makedirs(os.path.dirname(file), exist_ok=True)
            with open(file, "w", encoding="utf-8") as opened:
                opened.write(script)
            os.chmod(file, 0o755)

    def tearDown(self):
        self.folder.cleanup()

    def run_script(self, *words, fails=""):
        tools = os.path.join(self.folder.name, "bin")
        environment = dict(os.environ, PATH=tools + os.pathsep + os.environ["PATH"], SAID=self.said, FAILS=fails)
        done = subprocess.run(["bash", SCRIPT, "-o", os.path.join(self.folder.name, "out"), "--build", os.path.join(self.folder.name, "build"),
                               *words], env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        with open(self.said, encoding="utf-8") as opened:
            return done, opened.read().splitlines()

    def test_all_parts_in_turn(self):
        done, said = self.run_script()
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertEqual([line.strip() for line in said],
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
        self.assertEqual([line.strip() for line in said],
                         ["training_ladder.py", "compare_training.py accuracy", "swinscope record", "swinscope analyze"])

    def test_bad_input(self):
        open(self.said, "w", encoding="utf-8").close()
        done, _ = self.run_script("quickly")
        self.assertEqual(done.returncode, 2)
        self.assertIn("error: quickly: unknown", done.stdout)
        os.remove(os.path.join(self.folder.name, "build", "bin", "swin"))
        done, said = self.run_script("ladder")
        self.assertEqual((done.returncode, said), (1, []))
        self.assertIn("not built", done.stdout)


if __name__ == "__main__":
    unittest.main()
