"""What the tests of scripts that measure figures have in common: fake programs that say what they were asked."""
import os
import subprocess
import tempfile
import unittest

SCRIPTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../scripts")
# Says what it is asked, in a file; one that has to wait does, before it says so. What $FAILS names fails.
PYTHON = """#!/bin/bash
while [ $# -gt 0 ]; do
  case $1 in
    --time-after) go=$2 && shift ;;
    --cases | --models) what=$2 && shift ;;
    --image) what="$what at $2" && shift ;;
    --window) what="$what by $2" && shift ;;
    --compile-only) what="$what compiled" ;;
    *.py) script=$(basename "$1") ;;
    speed | gradients | curve | accuracy | errors) command=$1 ;;
  esac
  shift
done
while [ -n "$go" ] && [ ! -e "$go" ]; do sleep 0.02; done
echo "$script $command $what${CUDA_VISIBLE_DEVICES:+ on $CUDA_VISIBLE_DEVICES}" >>"$SAID"
echo "figures of $script $command"
[ "$script" != "$FAILS" ]
"""


class FiguresCase(unittest.TestCase):
    """Of one script, whose name a subclass gives."""
    script = None

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
        environment.pop("CUDA_VISIBLE_DEVICES", None)
        folders = ["-o", os.path.join(self.folder.name, "out"), "--build", os.path.join(self.folder.name, "build")]
        done = subprocess.run(["bash", os.path.join(SCRIPTS, self.script), *folders, *words], env=environment, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, check=False)
        with open(self.said, encoding="utf-8") as opened:
            return done, [line.strip() for line in opened.read().splitlines()]

    def check_bad_input(self, part="ladder"):
        open(self.said, "w", encoding="utf-8").close()
        done, _ = self.run_script("quickly")
        self.assertEqual(done.returncode, 2)
        self.assertIn("error: quickly: unknown", done.stdout)
        os.remove(os.path.join(self.folder.name, "build", "bin", "swin"))
        done, said = self.run_script(part)
        self.assertEqual((done.returncode, said), (1, []))
        self.assertIn("not built", done.stdout)
