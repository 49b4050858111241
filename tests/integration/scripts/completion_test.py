#!/usr/bin/env python3
"""usage: completion_test.py SWINSCOPE SWIN
What shells complete, and what the manual page lists, is what `--help` says. zsh and fish are asked where they are installed."""
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[3]
PROGRAMS = {}
BASH = """
source "$1"
COMP_WORDS=("${@:3}")
COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
"_$2"
printf '%s\\n' "${COMPREPLY[@]}"
"""


def said(name, *words):
    return subprocess.run([PROGRAMS[name], *words], check=True, capture_output=True, text=True).stdout


def commands(name):
    return re.findall(r"^  ([\w-]+)  ", said(name, "--help").split("\nSubcommands:\n")[1], re.M)


def help_options(name, command):
    """{option: its values, () where it may be anything} as --help prints them."""
    found = {}
    for names, values in re.findall(r"^  (-[\w,-]+)(?: \w+:\{(.*?)\})?", said(name, command, "--help"), re.M):
        for option in names.split(","):
            found[option] = tuple(values.split(",")) if values else ()
    return found


def needs(program):
    return unittest.skipUnless(shutil.which(program), f"{program} is not installed")


class Completion(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.place = tempfile.TemporaryDirectory(prefix="swinscope-completion-")
        cls.folder = pathlib.Path(cls.place.name)
        for name in PROGRAMS:
            for shell in ("bash", "zsh", "fish"):
                (cls.folder / f"{name}.{shell}").write_text(said(name, "completion", shell))

    @classmethod
    def tearDownClass(cls):
        cls.place.cleanup()

    def bash(self, name, *words):
        ended = subprocess.run(["bash", "-c", BASH, "bash", self.folder / f"{name}.bash", name, name, *words], check=True,
                               capture_output=True, text=True)
        return ended.stdout.split()

    def fish(self, name, line):
        ended = subprocess.run(["fish", "--no-config", "-c", f"source {self.folder / name}.fish; complete -C '{line}'"], check=True,
                               capture_output=True, text=True, env={"HOME": str(self.folder), "PATH": "/usr/bin:/bin"})
        return [row.split("\t")[0] for row in ended.stdout.splitlines()]

    def test_bash_offers_commands(self):
        for name in PROGRAMS:
            self.assertEqual(set(commands(name)) - set(self.bash(name, "")), set())
        self.assertEqual(self.bash("swinscope", "critical"), ["critical-path"])

    def test_bash_offers_each_option_of_each_command(self):
        for name in PROGRAMS:
            for command in commands(name):
                self.assertEqual(set(self.bash(name, command, "-")), set(help_options(name, command)), command)

    def test_bash_offers_each_value(self):
        checked = 0
        for name in PROGRAMS:
            for command in commands(name):
                for option, values in help_options(name, command).items():
                    if values:
                        self.assertEqual(self.bash(name, command, option, ""), list(values), f"{command} {option}")
                        self.assertEqual(self.bash(name, command, option, "=", values[0]), [v for v in values if v.startswith(values[0])])
                        checked += 1
        self.assertGreater(checked, 20)
        self.assertEqual(self.bash("swinscope", "completion", "f"), ["fish"])

    def test_bash_leaves_files_and_other_programs_alone(self):
        self.assertEqual(self.bash("swinscope", "kernels", "--output", ""), [])
        self.assertEqual(self.bash("swinscope", "analyze", "tr"), [])
        self.assertEqual(self.bash("swinscope", "record", "--", "python", "-"), [])

    @needs("fish")
    def test_fish_offers_options_and_values(self):
        self.assertEqual(set(commands("swinscope")) - set(self.fish("swinscope", "swinscope ")), set())
        for command in ("record", "kernels", "export"):
            wanted = help_options("swinscope", command)
            self.assertEqual({o for o in wanted if o.startswith("--")} - set(self.fish("swinscope", f"swinscope {command} --")), set())
        self.assertEqual(self.fish("swinscope", "swinscope record --cuda-graph-trace "), ["graph", "node"])

    @needs("zsh")
    def test_zsh_reads_its_file(self):
        for name in PROGRAMS:
            subprocess.run(["zsh", "--no-rcs", "-n", self.folder / f"{name}.zsh"], check=True)
            text = (self.folder / f"{name}.zsh").read_text()
            for command in commands(name):
                part = text.split(f"\n        {command})\n")[1].split(";;")[0]
                for option in help_options(name, command):
                    self.assertRegex(part, rf"[{{,']{option}[}},\[]", command)

    def test_the_manual_page_has_the_options_of_the_program(self):
        ended = subprocess.run([ROOT / "scripts/man-docs.sh", "--check", PROGRAMS["swinscope"]], capture_output=True, text=True)
        self.assertEqual(ended.returncode, 0, ended.stderr)

    def test_the_manual_page_says_of_each_command_what_it_does(self):
        text = (ROOT / "docs/man/swinscope.1").read_text().replace("\\-", "-")
        words = text[text.index(".SH COMMANDS"):text.index(".SH OPTIONS")]
        self.assertEqual([command for command in commands("swinscope") if f".TP\n.B {command}\n" not in words], [])


if __name__ == "__main__":
    PROGRAMS["swin"] = pathlib.Path(sys.argv.pop(2)).resolve()
    PROGRAMS["swinscope"] = pathlib.Path(sys.argv.pop(1)).resolve()
    unittest.main()
