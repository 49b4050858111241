#!/usr/bin/env python3
"""Holds `swin train` on a real GPU to its bits: two runs with one seed, runs that are killed and resumed, a full disk.

usage: python3 tests/gpu/check_training.py --swin build/gpu/bin/swin [--model swin_tiny] [--precision fp16] [--steps 100] [--kills 3]

Exit status: 0 all checks hold, 1 one does not, 77 there is no GPU (ctest reports the test as skipped). Each check prints one line with
its figures. The full disk is a file system in memory, which only root may mount.
"""
import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from check_collector import gpu_count

ARGS = None
FAILED = []
SEED = 7
EVERY = 20  # steps from one checkpoint to the next


def say(name, ok, text):
    print(f"{'PASS' if ok else 'FAIL'} {name}: {text}", flush=True)
    if not ok:
        FAILED.append(name)


def train(folder, log, *options):
    return [ARGS.swin, "train", "--device", ARGS.device, "--model", ARGS.model, "--precision", ARGS.precision, "--batch-per-gpu", "16",
            "--dataset-size", "256", "--seed", str(SEED), "--steps", str(ARGS.steps), "--warmup", "0", "--drop-path", "0.2", "-q",
            "--checkpoint", str(folder), "--log", str(log), *options]


def run(command, **more):
    return subprocess.run(command, capture_output=True, text=True, **more)


def steps_of(log):
    """(step, loss) as they stand in it."""
    if not log.exists():
        return []
    lines = [line for line in log.read_text(encoding="utf-8").splitlines(keepends=True) if line.endswith("\n")]
    return [(row["step"], row["loss"]) for row in map(json.loads, lines) if row["type"] == "step"]


def checkpoint(folder):
    file = folder / "checkpoint.safetensors"
    return file.read_bytes() if file.exists() else b""


def check_two_runs(tmp):
    """Leaves the run that the others are compared with."""
    results = [run(train(tmp / name, tmp / (name + ".jsonl"))) for name in ("whole", "again")]
    losses = [steps_of(tmp / (name + ".jsonl")) for name in ("whole", "again")]
    same = checkpoint(tmp / "whole") == checkpoint(tmp / "again")
    ok = all(result.returncode == 0 for result in results) and len(losses[0]) == ARGS.steps and losses[0] == losses[1] and same
    say("two runs", ok, f"{len(losses[0])} steps, the same losses: {losses[0] == losses[1]}, from {losses[0][0][1]:.6f} to {losses[0][-1][1]:.6f}; "
        f"the same checkpoint of {len(checkpoint(tmp / 'whole')) >> 20} MiB: {same}" if losses[0] else results[0].stderr[-500:])


def check_kill(tmp, number):
    folder, log = tmp / f"killed{number}", tmp / f"killed{number}.jsonl"
    every = ("--checkpoint-every", str(EVERY))
    process = subprocess.Popen(train(folder, log, *every), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    at = random.randrange(EVERY + 5, ARGS.steps - 5)
    while process.poll() is None and len(steps_of(log)) < at:
        time.sleep(0.002)
    ended_itself = process.poll() is not None
    process.send_signal(signal.SIGKILL)
    process.wait()
    killed_after = len(steps_of(log))
    resumed = run(train(folder, log, *every, "--resume", "--json"))
    if resumed.returncode != 0 or ended_itself:
        say(f"kill -9 ({number})", False, "it ended before it was killed" if ended_itself else resumed.stderr[-500:])
        return
    resumed_at = json.loads(resumed.stdout)["data"][0]["resumed_at"]
    whole = dict(steps_of(tmp / "whole.jsonl"))
    logged = steps_of(log)  # those after the last checkpoint twice
    same = all(whole[step] == loss for step, loss in logged) and {step for step, _ in logged} == set(whole)
    same_file = checkpoint(folder) == checkpoint(tmp / "whole")
    say(f"kill -9 ({number})", same and same_file and 0 < resumed_at < ARGS.steps, f"killed after step {killed_after}, resumed after step "
        f"{resumed_at}, the losses before and after are those of the whole run: {same}; the same checkpoint at the end: {same_file}")


def check_full_disk(tmp):
    """A file system with room for one checkpoint, not for a second one beside it; then with room for both."""
    size = len(checkpoint(tmp / "whole"))
    disk = tmp / "disk"
    disk.mkdir()
    if run(["mount", "-t", "tmpfs", "-o", f"size={size * 3 // 2}", "tmpfs", str(disk)]).returncode != 0:
        print("SKIP full disk: only root may mount a file system")
        return
    folder, log, every = disk / "kept", tmp / "full.jsonl", ("--checkpoint-every", str(EVERY))
    try:
        full = run(train(folder, log, *every))
        said = next((line for line in full.stderr.splitlines() if "no checkpoint of step" in line), "nothing")
        kept = len(checkpoint(folder))
        run(["mount", "-o", f"remount,size={size * 3}", str(disk)])
        resumed = run(train(folder, log, *every, "--resume", "--json"))
        resumed_at = json.loads(resumed.stdout)["data"][0]["resumed_at"] if resumed.returncode == 0 else -1
        same = checkpoint(folder) == checkpoint(tmp / "whole")
    finally:
        run(["umount", str(disk)])
    ok = full.returncode == 1 and "No space left" in said and resumed_at == EVERY and same  # what is kept can be resumed from
    say("full disk", ok, f"status {full.returncode}, said: {said}; {kept >> 20} MiB kept; with room again resumed after step {resumed_at}, "
        f"the same checkpoint at the end: {same}")


def main():
    global ARGS
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--swin", required=True)
    parser.add_argument("--device", choices=("cuda", "cpu"), default="cuda", help="cpu: to try this script where there is no GPU")
    parser.add_argument("--model", default="swin_tiny")
    parser.add_argument("--precision", default="fp16")
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--kills", type=int, default=3)
    ARGS = parser.parse_args()
    if ARGS.device == "cuda" and gpu_count() == 0:
        print("SKIPPED: no NVIDIA GPU with a driver on this machine")
        return 77
    with tempfile.TemporaryDirectory(prefix="swinscope_") as tmp:
        checks = [check_two_runs, check_full_disk, *(lambda tmp, n=n: check_kill(tmp, n) for n in range(ARGS.kills))]
        for check in checks:
            try:
                check(Path(tmp))
            except Exception as error:  # the other checks still say what they find
                say(getattr(check, "__name__", "check"), False, repr(error))
    return 1 if FAILED else 0


if __name__ == "__main__":
    sys.exit(main())
