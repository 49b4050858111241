"""Which sources scripts/tidy.sh gives to clang-tidy, in a repository with a source of its own for each commit. ninja and clang-tidy are
stand-ins: one says what each source includes, the other one refuses every source with the word "bad"."""
import os
import shutil
import stat
import subprocess
import tempfile
import unittest

SCRIPTS = os.path.join(os.path.dirname(__file__), "../../../scripts")
NINJA = """#!/bin/sh
cd "$2/../.."  # -C build/asan
for source in $(ls | grep '[.]cpp$'); do
  echo "$source.o: #deps 2, deps mtime 1 (VALID)"
  echo "    ../../$source"
  sed -n 's,#include "\\(.*\\)",    ../../\\1,p' $source
  echo
done
"""
CLANG_TIDY = """#!/bin/sh
[ "$1" != --version ] || { echo "LLVM version 14" && exit 0; }
for source; do :; done
echo "$source" >>looked_at
! grep -q bad "$source"
"""


class Tidy(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = os.path.join(folder.name, "clone")
        for path in ("scripts", "build/asan", "programs"):
            os.makedirs(os.path.join(self.root, path))
        for script in ("tidy.sh", "common.sh"):
            shutil.copy(os.path.join(SCRIPTS, script), os.path.join(self.root, "scripts"))
        self.write("build/asan/compile_commands.json", "[]")
        self.write(".gitignore", "/build/\n/programs/\n/looked_at\n")
        for name, text in (("ninja", NINJA), ("clang-tidy", CLANG_TIDY)):
            self.write("programs/" + name, text)
            os.chmod(os.path.join(self.root, "programs", name), stat.S_IRWXU)
        self.git("init", "-q", "-b", "main")
        for name in ("first", "second", "third"):
            self.write(name + ".cpp", '#include "shared.h"\n' if name == "first" else f"// {name}\n")
            self.write("shared.h", "// once\n")
            self.commit(name)

    def write(self, path, text):
        with open(os.path.join(self.root, path), "w", encoding="utf-8") as file:
            file.write(text)

    def git(self, *words):
        identity = ("-c", "user.name=n", "-c", "user.email=e")
        return subprocess.run(["git", *identity, *words], cwd=self.root, stdout=subprocess.PIPE, text=True, check=True).stdout.strip()

    def commit(self, message):
        self.git("add", "-A")
        self.git("commit", "-q", "-m", message)

    # The exit status, and what clang-tidy was asked to look at.
    def tidy(self, *words):
        looked_at = os.path.join(self.root, "looked_at")
        if os.path.exists(looked_at):
            os.remove(looked_at)
        environment = {key: value for key, value in os.environ.items() if key != "SWINSCOPE_BASE"}
        environment["PATH"] = os.path.join(self.root, "programs") + ":" + environment["PATH"]
        done = subprocess.run(["bash", "scripts/tidy.sh", *words], cwd=self.root, env=environment, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, check=False)
        if not os.path.exists(looked_at):
            return done.returncode, []
        with open(looked_at, encoding="utf-8") as file:
            return done.returncode, sorted(file.read().split())

    def pass_all(self):
        self.assertEqual(self.tidy("--all"), (0, ["first.cpp", "second.cpp", "third.cpp"]))
        shutil.rmtree(os.path.join(self.root, "build/tidy"))  # as on another machine

    def test_every_commit_since_all_passed_is_looked_at(self):
        self.pass_all()
        self.write("fourth.cpp", "bad\n")
        self.commit("fourth")
        self.write("fifth.cpp", "// fifth\n")
        self.commit("fifth")
        self.assertEqual(self.tidy(), (123, ["fifth.cpp", "fourth.cpp"]))

    def test_the_base_is_where_all_passed(self):
        head = self.git("rev-parse", "HEAD")
        self.pass_all()
        with open(os.path.join(self.root, "scripts/tidy_base"), encoding="utf-8") as file:
            self.assertEqual(file.read().strip(), head)
        self.commit("the base")
        self.assertEqual(self.tidy(), (0, []))

    def test_no_base_where_not_all_passed_or_not_all_is_committed(self):
        base = os.path.join(self.root, "scripts/tidy_base")
        self.write("fourth.cpp", "")
        self.assertEqual(self.tidy("--all")[0], 0)
        self.assertFalse(os.path.exists(base))
        self.write("fourth.cpp", "bad\n")
        self.commit("fourth")
        self.assertEqual(self.tidy("--all"), (123, ["fourth.cpp"]))
        self.assertFalse(os.path.exists(base))

    def test_a_header_is_looked_at_through_one_source(self):
        for name in ("second", "shared", "third"):
            self.write(name + ".cpp", '#include "shared.h"\n')
        self.write("only.h", "// once\n")
        self.write("user.cpp", '#include "only.h"\n#include "shared.h"\n')
        self.commit("several include it")
        self.assertEqual(self.tidy("--all")[0], 0)
        shutil.rmtree(os.path.join(self.root, "build/tidy"))
        self.write("shared.h", "// twice\n")
        self.assertEqual(self.tidy(), (0, ["shared.cpp"]))  # that of its name
        self.write("only.h", "// twice\n")
        shutil.rmtree(os.path.join(self.root, "build/tidy"))
        self.assertEqual(self.tidy(), (0, ["shared.cpp", "user.cpp"]))
        self.write("third.cpp", '#include "shared.h"\n// again\n')
        shutil.rmtree(os.path.join(self.root, "build/tidy"))
        self.assertEqual(self.tidy(), (0, ["third.cpp", "user.cpp"]))  # it is looked at anyway

    def test_without_the_base_the_newest_commit_is_looked_at(self):
        self.write("scripts/tidy_base", "0123456789012345678901234567890123456789\n")
        self.commit("a base from elsewhere")
        self.write("second.cpp", "// again\n")
        self.commit("second")
        self.assertEqual(self.tidy(), (0, ["second.cpp"]))


if __name__ == "__main__":
    unittest.main()
