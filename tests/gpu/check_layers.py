#!/usr/bin/env python3
"""Holds what `swinscope layers` says of a recorded `swin infer` to the steps that ran: with its kernels launched one by one, as a CUDA
graph, and as a graph whose products were chosen in the whole pass before.

usage: python3 tests/gpu/check_layers.py --swinscope build/gpu/bin/swinscope --swin build/gpu/bin/swin [--model swin_tiny] [--batch 4]

Exit status: 0 all checks hold, 1 one does not, 77 there is no GPU (ctest reports the test as skipped). Each check prints one line with
its figures.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from check_collector import gpu_count

STEPS, WARMUP = 5, 2
COVERED_PERCENT = 99.0
TUNED = {"XDG_CACHE_HOME": "{tmp}/cache"}  # empty: no choice is known yet
# Of each task: name, options of swin, variables. The first is what the others are compared with.
RUNS = {
    "classification": [("one by one", ["--level", "attention", "--tune-seconds", "0"], {}),
                       ("graph", ["--level", "graph", "--tune-seconds", "0"], {}),
                       ("tuned graph", ["--level", "graph", "--tune-seconds", "2"], TUNED)],
    "segmentation": [("one by one", ["--level", "attention"], {}), ("graph", ["--level", "graph"], {})],
}


def layers_of(arguments, task, options, variables, tmp, folder):
    """What `layers --format json` says of a recording."""
    environment = {**os.environ, **{name: value.format(tmp=tmp) for name, value in variables.items()}}
    program = [arguments.swin, "infer", "--device", "cuda", "--task", task, "--model", arguments.model, "--precision", "fp16", "-q",
               "--batch", str(arguments.batch), "--steps", str(STEPS), "--warmup", str(WARMUP), *options]
    subprocess.run([arguments.swinscope, "record", "-q", "-o", folder, "--", *program], env=environment, check=True, stdout=subprocess.DEVNULL)
    shown = subprocess.run([arguments.swinscope, "layers", "--format", "json", folder], check=True, stdout=subprocess.PIPE, text=True)
    return json.loads(shown.stdout)["data"]


def judge(arguments, data, expected):
    """The first thing that is not as it must be, else nothing. The GPU's FLOPs of an image do not depend on how it is launched."""
    if (data["steps"], data["images"]) != (STEPS + WARMUP, (STEPS + WARMUP) * arguments.batch):
        return f"{data['steps']} steps of {data['images']} images"
    if data["gpu_by_layer_percent"] < COVERED_PERCENT:
        return "GPU time without a layer"
    if abs(data["gflop_per_image"] / expected - 1.0) > 1e-3:
        return f"{expected:.3f} GFLOP an image were expected"
    phases = {row["phase"] for row in data["layers"]}
    if phases != {"forward"}:
        return f"phases {sorted(phases)}"
    for row in data["layers"]:  # each step runs the same: a call that is lost or belongs to another layer leaves no whole number a step
        if row["calls"] == 0 or row["calls"] % data["steps"] != 0:
            return f"{row['calls']} calls of {row['operation']} in {row['path']}"
    return ""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--swinscope", required=True)
    parser.add_argument("--swin", required=True)
    parser.add_argument("--model", default="swin_tiny")
    parser.add_argument("--batch", type=int, default=4)
    arguments = parser.parse_args()
    if gpu_count() == 0:
        print("SKIPPED: no NVIDIA GPU with a driver on this machine")
        return 77
    failed = False
    for task, runs in RUNS.items():
        expected = None
        for name, options, variables in runs:
            with tempfile.TemporaryDirectory(prefix="swinscope_") as tmp:
                data = layers_of(arguments, task, options, variables, tmp, str(Path(tmp) / "run"))
            expected = expected or data["gflop_per_image"]
            wrong = judge(arguments, data, expected)
            failed = failed or bool(wrong)
            print(f"{'FAIL' if wrong else 'PASS'} {task}, {name}: {data['steps']} steps, {data['gflop_per_image']:.3f} GFLOP an image, "
                  f"{data['gpu_by_layer_percent']:.2f} % of the GPU time{': ' + wrong if wrong else ''}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
