#!/usr/bin/env python3
"""usage: docs_commands_test.py BUILD [PAGE…]
Runs the commands of README.md, the guides in docs/ and the manual pages' examples, in the order printed and with the
programs of a build, a scratch folder for each page. A command that fails there, or is neither run nor in the table of
documented_commands.py, fails this test."""
import os
import pathlib
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
import unittest

from documented_commands import INSTEAD, NOT_RUN, OUTSIDE

ROOT = pathlib.Path(__file__).resolve().parents[3]
BUILD = pathlib.Path()
# References: their commands show how a figure was made, on the machine that it names.
REFERENCES = {"architecture.md", "glossary.md", "metrics.md", "performance.md", "performance-tools.md", "schema.md"}
REFERENCE_FOLDERS = {"kernels", "notes"}
SHELLS = {"", "sh", "bash", "shell", "console"}


class Command:
    def __init__(self, text, output=()):
        self.text = text
        self.output = list(output)  # as printed below it; empty: not shown


def blocks(text):
    """The blocks of a Markdown page that a reader takes for commands: indented by four spaces, or fenced as a shell's."""
    block, fence = [], None
    for line in text.splitlines() + [""]:
        mark = re.match(r"(```+)\s*(\w*)", line)
        if fence is None and mark:
            if block:
                yield block
            fence, block = mark.group(2), []
        elif fence is not None and line.startswith("```"):
            if fence in SHELLS and block:
                yield block
            fence, block = None, []
        elif fence is not None:
            block.append(line)
        elif line.startswith("    ") and (block or not re.match(r"\s*[-*\d]", line)):
            block.append(line[4:])
        elif line.strip() or not block:
            if block:
                yield block
            block = []
        else:
            block.append("")  # an empty line within a block
    if block:
        yield block


def commands_of(block):
    """The commands of a block. With a prompt, what follows a command is what it prints."""
    lines, joined = [line.rstrip() for line in block], []
    has_prompt = any(line.startswith("$ ") for line in lines)
    until = None  # the line that ends what a command is given as its input
    for line in lines:
        if until is not None:
            joined[-1].text += "\n" + line
            until = None if line == until else until
        elif has_prompt and not line.startswith("$ "):
            if joined and line:
                joined[-1].output.append(line)
        elif joined and joined[-1].text.endswith("\\"):
            joined[-1].text = joined[-1].text[:-1] + line.strip()
        elif line and not line.startswith("#"):
            joined.append(Command(line[2:] if has_prompt else line))
            given = re.search(r"<<'(\w+)'", line)
            until = given and given.group(1)
    for command in joined:
        if "\n" not in command.text:
            command.text = re.sub(r"\s+# .*", "", command.text).strip()
    return joined


def page_commands(page):
    text = page.read_text()
    if page.suffix == ".md":
        return [command for block in blocks(text) for command in commands_of(block)]
    examples = re.search(r"^\.SH EXAMPLES\n\.nf\n(.*?)^\.fi", text, re.M | re.S)
    lines = examples.group(1).replace("\\-", "-").splitlines() if examples else []
    return [command for command in commands_of(lines)]


def pages():
    guides = [page for page in sorted((ROOT / "docs").rglob("*.md"))
              if page.name not in REFERENCES and page.parent.name not in REFERENCE_FOLDERS]
    return [ROOT / "README.md"] + guides + sorted((ROOT / "docs" / "man").glob("*.1"))


def fill(folder):
    """The files that a reader has, under the names that the pages give them."""
    data = ROOT / "data"
    (folder / "data").symlink_to(data)
    (folder / "scripts").symlink_to(ROOT / "scripts")
    trace = data / "pytorch_swin_tiny_graph_1gpu.kineto.json.gz"
    for name in ("trace.json.gz", "run.json.gz"):
        shutil.copy(trace, folder / name)
    for rank in (0, 1):
        shutil.copy(data / "pytorch_swin_tiny_ddp_2gpu" / f"rank{rank}.kineto.json.gz", folder / f"rank{rank}.json.gz")
    with sqlite3.connect(folder / "report.sqlite") as report:
        report.executescript((ROOT / "tests/golden/nsys_3_25.sql").read_text())
        report.executescript("""
            INSERT INTO StringIds VALUES (1, 'gemm');
            INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL (start, end, deviceId, contextId, streamId, correlationId, globalPid,
                demangledName, shortName) VALUES (1000, 2000, 0, 1, 7, 1, 100 << 24, 1, 1),
                (3000, 4000, 0, 1, 7, 2, 100 << 24, 1, 1);
            INSERT INTO NVTX_EVENTS (start, end, eventType, text, globalTid) VALUES (500, 5000, 59, 'batch', (100 << 24) + 1);""")
    report.close()


def photos(folder):
    """Pictures of one's own: made by swin itself, which the test has anyway."""
    made = folder / ".photos"
    subprocess.run([BUILD / "bin/swin", "make-data", made, "--images", "24", "-q"], check=True, capture_output=True)
    (folder / "photos").mkdir()
    for picture in sorted(made.rglob("*.jpg"))[:4]:
        shutil.copy(picture, folder / "photos")
    shutil.rmtree(made)


def known_options(words):
    """The options that a program's help, or a script's text, has."""
    if words[0] in ("swinscope", "swin", "swinscope-gui"):
        line = [BUILD / "bin" / words[0]] + [w for w in words[1:2] if not w.startswith("-")] + ["--help"]
        run = subprocess.run(line, capture_output=True, text=True)
        if run.returncode != 0:
            raise AssertionError(f"{' '.join(words[:2])}: no such command")
        text = run.stdout
    else:
        script = ROOT / words[0]
        if not os.access(script, os.X_OK):
            raise AssertionError(f"{words[0]}: no such script")
        text = script.read_text()
    return set(re.findall(r"(?<![\w-])--?[a-zA-Z][\w-]*", text))


def check_words(text):
    """Of a command that is not run: what it names exists."""
    if text.startswith("python3 -c "):
        compile(re.match(r'python3 -c "(.*)"$', text).group(1), "<documented>", "exec")
        return
    for part in text.split(" -- "):
        words = part.split()
        if words[0] in OUTSIDE and "swinscope" in words:
            words = words[words.index("swinscope"):]  # a launcher, and what it launches
        if words[0] in OUTSIDE:
            continue
        known = known_options(words)
        for word in words[1:]:
            option = word.split("=")[0]
            if option.startswith("-") and option not in known:
                raise AssertionError(f"{words[0]} has no option {option}")


def changed(text, used):
    for row in INSTEAD:
        if row[0] in text:
            used.add(row)
            text = text.replace(row[0], row[1].format(bin=BUILD / "bin"))
    return text


def not_run(text, used):
    for row in NOT_RUN:
        if re.fullmatch(row[0], text):
            used.add(row)
            return True
    return False


def check_output(shown, printed):
    """What a page shows of the output stands there, in this order; blanks and the ends of lines may differ."""
    squeezed, at = " ".join(printed.split()), 0
    for line in shown:
        wanted = " ".join(line.split())
        at = squeezed.find(wanted, at)
        if at < 0:
            raise AssertionError(f"is shown, but not printed: {line}")


def run_command(command, folder, used):
    text = changed(command.text, used)
    # `export` is for the lines that follow; here each one has a shell of its own, and PATH is set.
    environment = dict(os.environ, PATH=f"{BUILD / 'bin'}:{os.environ['PATH']}", HOME=str(folder / ".home"), NO_COLOR="1")
    for name in ("RANK", "WORLD_SIZE", "SWINSCOPE_OUT", "XDG_CONFIG_HOME", "XDG_CACHE_HOME"):
        environment.pop(name, None)
    begun = time.monotonic()
    run = subprocess.run(["bash", "-c", text], cwd=folder, env=environment, capture_output=True, text=True,
                         stdin=subprocess.DEVNULL)
    print(f"{time.monotonic() - begun:6.1f} s  {text}", flush=True)
    if run.returncode != 0:
        raise AssertionError(f"ended with {run.returncode}\n{run.stderr[-2000:]}")
    if command.output:
        check_output(command.output, run.stdout)


def check_page(page_list, used):
    """Every command of a page, in order. Returns what is wrong, a text each."""
    wrong = []
    with tempfile.TemporaryDirectory(prefix="swinscope-docs-") as name:
        folder = pathlib.Path(name)
        fill(folder)
        if any("photos/" in command.text for command in page_list):
            photos(folder)
        for command in page_list:
            plain = command.text.replace("build/release/bin/", "")
            try:
                if not_run(plain, used):
                    check_words(plain)
                else:
                    run_command(command, folder, used)
            except AssertionError as error:
                wrong.append(f"{command.text}\n    {error}")
    return wrong


class Documented(unittest.TestCase):
    """The test itself: that it finds commands, and notices what is wrong with them."""

    def test_commands_are_found(self):
        text = "Words\n\n    first x  # says so\n    second \\\n        --more\n\n    third\n\n```sh\nfourth\n```\n```json\n{}\n```\n- item\n"
        found = [command.text for block in blocks(text) for command in commands_of(block)]
        self.assertEqual(found, ["first x", "second --more", "third", "fourth"])
        console = list(blocks("    $ one\n    printed  by one\n\n    $ two\n"))
        self.assertEqual([(c.text, c.output) for b in console for c in commands_of(b)],
                         [("one", ["printed  by one"]), ("two", [])])

    def test_mistakes_are_noticed(self):
        used = set()
        self.assertEqual(check_page([Command("true"), Command("swinscope --version")], used), [])
        for text in ("no-such-command", "swinscope analyze none", "swinscope kernels trace.json.gz --tpo 3"):
            self.assertEqual(len(check_page([Command(text)], used)), 1, text)
        # Not run, but looked at.
        for text in ("swin train --device cuda --no-such-option 3", "swinscope gui --no-such-option", "scripts/swinv2_scaling.sh --nothing"):
            self.assertEqual(len(check_page([Command(text)], used)), 1, text)
        self.assertEqual(len(check_page([Command("swinscope --version", ["another program"])], used)), 1)

    def test_pages(self):
        used, wrong = set(), []
        for page in pages():
            for text in check_page(page_commands(page), used):
                wrong.append(f"{page.relative_to(ROOT)}: {text}")
        wrong += [f"documented_commands.py: no page has {row[0]}" for row in NOT_RUN + INSTEAD if row not in used]
        self.assertFalse(wrong, "\n" + "\n".join(wrong))


if __name__ == "__main__":
    BUILD = pathlib.Path(sys.argv.pop(1)).resolve()
    unittest.main()
