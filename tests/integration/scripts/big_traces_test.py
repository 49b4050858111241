#!/usr/bin/env python3
"""tests/bench/big_traces.py on a hundredth of its traces: usage: big_traces_test.py SWINSCOPE"""
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
CASES = ("summaries", "job", "export", "huge", "advice", "growth")
GROWTH = r"(info|analyze): CPU time grows by the power of [0-9.]+, memory of -?[0-9.]+"

done = subprocess.run([sys.executable, ROOT / "tests/bench/big_traces.py", sys.argv[1], *CASES, "--small", "--repeat", "1", "--events",
                       "1000000"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
lines = [line for line in done.stdout.splitlines() if not re.fullmatch(GROWTH, line)]
expected = ("ranks --from summaries, 40 files", "ranks --from auto, 40 files", "analyze, 2 ranks of 2,000 kernels",
            "ranks, 2 ranks of 2,000 kernels", "analyze, export of 50,000 kernels and calls", "analyze, export of 5,000 kernels and calls",
            "advise, 2 ranks of 4 steps of PyTorch")
expected += tuple(f"{command}, {size},000 ranges" for command in ("info", "analyze") for size in (1, 2, 5, 10, 20))
if done.returncode != 0 or len(lines) != len(expected) or len(done.stdout.splitlines()) != len(expected) + 2:
    sys.exit(f"status {done.returncode}\n{done.stdout}{done.stderr}")
for line, what in zip(lines, expected):
    if not re.fullmatch(re.escape(what) + r" +[0-9.]+ s +[0-9.]+ s CPU +[0-9.]+ GB *([0-9.]+ M events/s)?", line):
        sys.exit(f"{what}: {line}")
