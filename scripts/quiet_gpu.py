#!/usr/bin/env python3
"""Whether nothing else runs on the GPUs of this machine: what is timed beside other work says nothing.

usage: python3 scripts/quiet_gpu.py [--seconds 30]

Waits until no kernel has run for a second and a half, for --seconds at most; where CUDA_VISIBLE_DEVICES is set, on those GPUs. Exit
status: 0 they are quiet, or nvidia-smi cannot say; 1 they are not.
"""
import argparse
import os
import subprocess
import sys
import time

APART = 0.5  # seconds between readings, each of the second before it
READINGS = 3
QUIET_PERCENT = 1  # of the time in which some kernel runs: a desktop's is above, an idle driver's is 0


def utilization():
    """Percent, of the busiest GPU; None where that is not known."""
    try:
        command = ["nvidia-smi", "--query-gpu=utilization.gpu", "--format=csv,noheader,nounits"]
        if os.environ.get("CUDA_VISIBLE_DEVICES"):
            command += ["-i", os.environ["CUDA_VISIBLE_DEVICES"]]
        said = subprocess.run(command, capture_output=True, text=True, timeout=20, check=True).stdout
        return max(int(line) for line in said.split())
    except (OSError, subprocess.SubprocessError, ValueError):
        return None


def is_quiet(seconds, read=utilization, pause=time.sleep):
    """Whether the GPUs were quiet within so long; None where that is not known."""
    in_a_row, left = 0, seconds
    while in_a_row < READINGS:
        percent = read()
        if percent is None:
            return None
        in_a_row = in_a_row + 1 if percent <= QUIET_PERCENT else 0
        if in_a_row == READINGS:
            break
        if left <= 0:
            return False
        pause(APART)
        left -= APART
    return True


def need_quiet_gpu(seconds=30.0):
    """Ends the program where the GPU is busy."""
    quiet = is_quiet(seconds)
    if quiet is None:
        print("nvidia-smi does not say how busy the GPU is: whether other work is on it is not known", file=sys.stderr, flush=True)
    elif not quiet:
        sys.exit("error: the GPU is busy with other work, beside which no time means anything\n"
                 "  hint: end it (nvidia-smi lists processes; a stopped one may keep its kernel running)")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=30.0)
    need_quiet_gpu(parser.parse_args().seconds)
