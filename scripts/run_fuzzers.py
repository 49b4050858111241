#!/usr/bin/env python3
"""usage: scripts/run_fuzzers.py BIN_DIR [--seconds N] [--each N] [--jobs N] [--seed S] [--corpus DIR] [--out DIR] [fuzz_NAME…]

Runs the libFuzzer targets in BIN_DIR, or those that are named: each in N processes (1) of N seconds (10), as many at a time as there are
cores (--jobs). The processes of a target share what they find in OUT/corpus/<target>/, which stays for the next time; the
seeds are in CORPUS/<target>/ (tests/fuzz/corpus). A process that finds a fault leaves its input in OUT/findings/ and goes on.
OUT/summary.md is the table. Ends with 1 when there is a finding, and says how to repeat it."""

import argparse
import collections
import concurrent.futures
import ctypes
import os
import pathlib
import re
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
MOST_FINDINGS = 5  # of one process: behind them they are one fault again and again
ADDR_NO_RANDOMIZE = 0x0040000


def plain_addresses():
    """Kernels with much randomization lay libraries into the shadow memory of sanitizers as old as clang 14. Where it is not allowed they run as they are."""
    ctypes.CDLL(None).personality(ADDR_NO_RANDOMIZE)


def run(words, log):
    """Its status and CPU seconds."""
    with open(log, "wb") as output:
        process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT, preexec_fn=plain_addresses)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    return process.returncode, usage.ru_utime + usage.ru_stime


def fuzz(name, number, options):
    """One process after the other until its time is over; another one only behind a finding."""
    found, seeds = options.out / "corpus" / name, options.corpus / name
    end = time.monotonic() + options.seconds
    cpu, executions, findings = 0.0, 0, 0
    while findings < MOST_FINDINGS and (left := round(end - time.monotonic())) > 0:
        log = options.out / "logs" / f"{name}-{number}-{findings}.log"
        status, seconds = run(
            [options.programs / name, f"-max_total_time={left}", "-timeout=30", "-rss_limit_mb=2048", "-print_final_stats=1",
             f"-seed={options.seed * 1000 + number * 10 + findings}", f"-artifact_prefix={options.out}/findings/{name}-", found, seeds], log)
        cpu += seconds
        text = log.read_text(errors="replace")
        runs = [*re.findall(r"stat::number_of_executed_units: *(\d+)", text), *re.findall(r"^#(\d+)", text, re.M)]
        executions += int(runs[0 if "stat::number" in text else -1]) if runs else 0
        if status == 0:
            break
        findings += 1
        print(f"error: {name} found a fault: {log}", *text.splitlines()[-40:], sep="\n  ", file=sys.stderr, flush=True)
    return name, cpu, executions, findings


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("programs", type=lambda text: pathlib.Path(text).resolve())
    parser.add_argument("names", nargs="*")
    parser.add_argument("--seconds", type=int, default=10)
    parser.add_argument("--each", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--corpus", type=pathlib.Path, default=ROOT / "tests/fuzz/corpus")
    parser.add_argument("--out", type=lambda text: pathlib.Path(text).resolve(), default=ROOT / "build/fuzz")
    options = parser.parse_intermixed_args()
    known = sorted(path.name for path in options.programs.glob("fuzz_*") if os.access(path, os.X_OK))
    names = options.names or known
    for name in names:
        if name not in known:
            print(f"error: {options.programs / name}: no such program\n  hint: there are {', '.join(known) or 'none'}", file=sys.stderr)
            return 2
        if not any((options.corpus / name).glob("*")):
            print(f"error: {name} has no seeds in {options.corpus / name}/", file=sys.stderr)
            return 1
    for folder in ("logs", "findings", *(f"corpus/{name}" for name in names)):
        (options.out / folder).mkdir(parents=True, exist_ok=True)
    sums = collections.defaultdict(lambda: [0.0, 0, 0])
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for name, *figures in pool.map(lambda pair: fuzz(*pair, options), [(name, number) for number in range(options.each) for name in names]):
            sums[name] = [a + b for a, b in zip(sums[name], figures)]
    lines = ["| fuzzer | processes | CPU minutes | executions | inputs kept | findings |", "|---|---|---|---|---|---|"]
    for name in names:
        cpu, executions, findings = sums[name]
        kept = len(list((options.out / "corpus" / name).iterdir()))
        lines.append(f"| `{name}` | {options.each} | {cpu / 60:.1f} | {executions:,} | {kept} | {findings} |")
    (options.out / "summary.md").write_text("\n".join(lines) + "\n")
    print("\n".join(lines))
    total = sum(figures[2] for figures in sums.values())
    if total:
        print(f"error: {total} findings; their inputs are in {options.out / 'findings'}/\n"
              f"  hint: BIN_DIR/fuzz_NAME INPUT shows one again; mended, it becomes a seed in tests/fuzz/corpus/fuzz_NAME/", file=sys.stderr)
    return 1 if total else 0


if __name__ == "__main__":
    sys.exit(main())
