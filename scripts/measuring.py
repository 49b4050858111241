"""What the scripts that run our programs and keep their figures have in common."""
import json
import os
import subprocess
import time

LEVELS = ("eager", "tensorcore", "fused", "window", "attention", "graph")


class Failed(Exception):
    pass


def run(command, deadline):
    """The standard output of a command; its last lines of error output where it fails."""
    left = deadline - time.monotonic()
    if left <= 0:
        raise Failed("no time is left")
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=left)
    except subprocess.TimeoutExpired:
        raise Failed("no time is left") from None
    if done.returncode != 0:
        raise Failed(" | ".join(done.stderr.strip().splitlines()[-3:]) or f"exit status {done.returncode}")
    return done.stdout


def known_levels(parser, words):
    """The rungs that --levels names, in its order."""
    unknown = sorted(set(words.split(",")) - set(LEVELS))
    if unknown:
        parser.error(f"--levels: {', '.join(unknown)}: unknown; known are {', '.join(LEVELS)}")
    return words.split(",")


def write_whole(file, document):
    """So that a reader never sees half of it."""
    with open(file + ".new", "w", encoding="utf-8") as opened:
        json.dump(document, opened, indent=1)
    os.replace(file + ".new", file)


def bar_chart(title, levels, milliseconds):
    """In Markdown."""
    names = ", ".join(f'"{level}"' for level in levels)
    return "\n".join(["```mermaid", "xychart-beta", f'  title "{title}"', f"  x-axis [{names}]",
                      f'  y-axis "ms" 0 --> {max(milliseconds):.0f}', f"  bar [{', '.join(f'{ms:.1f}' for ms in milliseconds)}]", "```"])
