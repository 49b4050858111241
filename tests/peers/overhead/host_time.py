#!/usr/bin/env python3
"""How much longer programs with unusual lives take under `swinscope record`: those of tests/integration/record (they leave by pthread_exit,
forbid themselves all but four system calls, close every descriptor, fork, exec, start 3,000 threads) and one in which calls of the C
library fail for ever while it uses NVTX.

    tests/peers/overhead/host_time.py --swinscope PATH/TO/swinscope --programs PATH/TO/build/bin [--rounds 15] [--seconds 1]

Each program computes for --seconds first, so that what is measured is a program of that length and not its start alone. Alone and
recorded take turns; a run's time is that of the program itself, from its start to its end as its parent sees it, not that of `record`,
which goes on to store. One line a program: median of both, how much longer (median of the differences of a round, and 95 % of a sign test), share.
Exit 1 where the share is above 5 % with certainty.
"""
import argparse
import os
import statistics
import subprocess
import sys
import tempfile

LIVES = ["pthread_exit", "seccomp", "unshare", "closeall 3", "workers 50", "exec 20", "clearenv", "threads 3000", "jumps", "nofiles"]
FAILING = ["memory", "open", "mmap", "madvise", "ftruncate", "fcntl", "key", "thread"]
BOUND = 0.05
TIMER = """
import subprocess, sys, time
began = time.perf_counter()
subprocess.run(sys.argv[2:], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
open(sys.argv[1], "w").write(str(time.perf_counter() - began))
"""


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--swinscope", required=True)
    parser.add_argument("--programs", required=True)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--seconds", type=float, default=1.0)
    return parser.parse_args()


def measure(command, recorder, folder):
    """Seconds of one run."""
    result = os.path.join(folder, "seconds")
    subprocess.run([*recorder, sys.executable, "-c", TIMER, result, *command], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    with open(result) as file:
        return float(file.read())


def interval(differences):
    """The median of differences, and the ends of its 95 % interval by the sign test."""
    ordered, n = sorted(differences), len(differences)
    below, chance, ways = 0, 0.0, 1
    for k in range(n):
        chance += ways / 2**n
        if chance > 0.025:
            break
        below, ways = k + 1, ways * (n - k) // (k + 1)
    below = max(0, below - 1)
    return statistics.median(ordered), ordered[below], ordered[n - 1 - below]


def main():
    arguments = parse()
    programs = os.path.abspath(arguments.programs)
    compute = f"import time\nend = time.process_time() + {arguments.seconds}\nwhile time.process_time() < end: pass"
    cases = {life: [os.path.join(programs, "nvtx_hosts"), *life.split()] for life in LIVES}
    for kind in FAILING:
        cases[f"{kind} fails for ever"] = ["env", "LD_PRELOAD=" + os.path.join(programs, "libfault_library.so"), os.path.join(programs, "faulty_program"), kind, "1", "ever"]
    too_long = []
    for name, command in cases.items():
        command = ["sh", "-c", '"$0" -c "$1"; shift; exec "$@"', sys.executable, compute, *command]
        times = {False: [], True: []}
        for _ in range(arguments.rounds):
            for recorded in (False, True):
                with tempfile.TemporaryDirectory() as folder:
                    recorder = [os.path.abspath(arguments.swinscope), "record", "-q", "-o", os.path.join(folder, "run"), "--"] if recorded else []
                    times[recorded].append(measure(command, recorder, folder))
        middle, least, most = interval([b - a for a, b in zip(times[False], times[True])])
        alone = statistics.median(times[False])
        print(f"{name:24} alone {alone * 1e3:8.1f} ms, recorded {statistics.median(times[True]) * 1e3:8.1f} ms, longer by {middle * 1e3:6.1f} "
              f"({least * 1e3:.1f} to {most * 1e3:.1f}) ms, {middle / alone:+.1%}", flush=True)
        if least / alone > BOUND:
            too_long.append(name)
    if too_long:
        print(f"more than {BOUND:.0%} longer: {', '.join(too_long)}")
    return 1 if too_long else 0


if __name__ == "__main__":
    sys.exit(main())
