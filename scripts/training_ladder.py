#!/usr/bin/env python3
"""The training ladder: what each rung of `--level` is worth, on one GPU.

usage: python3 scripts/training_ladder.py --swin build/gpu/bin/swin [--swinscope build/gpu/bin/swinscope] [--model swin_large] [--batch 64]
           [--levels eager,tensorcore,…] [--steps 20] [--warmup 5] [--keep FOLDER] [--seconds S] [--json FILE]

Times each rung by itself (`swin train --json`, synthetic images on the GPU, the rung's own precision); then, with --swinscope, records
two steps of each (`swinscope record`), from which the kernels and launches of a step come. Prints a table and a chart in Markdown
for docs/performance.md, with the ratio to the first rung. --keep: where recordings stay, FOLDER/LEVEL/rank0.db. The file of --json
is written anew after each of them. A GPU that is busy with other work is refused. What no time is left for (--seconds), or what fails, is named and left out: exit status 1.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile
import time

from quiet_gpu import need_quiet_gpu

LEVELS = ("eager", "tensorcore", "fused", "window", "attention", "graph")
RECORDED_STEPS = 2


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--swin", required=True)
    parser.add_argument("--swinscope")
    parser.add_argument("--model", default="swin_large")
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--levels", default=",".join(LEVELS))
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--warmup", type=int, default=5)
    parser.add_argument("--keep")
    parser.add_argument("--seconds", type=float, default=3600.0)
    parser.add_argument("--json")
    arguments = parser.parse_args()
    unknown = sorted(set(arguments.levels.split(",")) - set(LEVELS))
    if unknown:
        parser.error(f"--levels: {', '.join(unknown)}: unknown; known are {', '.join(LEVELS)}")
    if arguments.warmup < 1:
        parser.error("--warmup: at least 1, so that no step is measured that is launched for the first time")
    return arguments


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


def train_command(arguments, level, steps):
    return [arguments.swin, "train", "--device", "cuda", "--model", arguments.model, "--batch-per-gpu",
            str(arguments.batch), "--level", level, "--dataset-size", str(2 * arguments.batch), "--steps", str(steps),
            "--warmup", str(arguments.warmup), "--quiet", "--json"]


def measure(arguments, level, deadline):
    document = json.loads(run(train_command(arguments, level, arguments.steps), deadline))
    data, about = document["data"][0], document["run"]
    return {"level": level, "precision": about["precision"], "features": about["features"], "gpu": about["gpu"],
            "step_ns": data["step_time_median_ns"], "images_per_second": data["images_per_second"],
            "memory_bytes": about["memory_bytes"], "loss_first": data["loss_first"], "loss_last": data["loss_last"],
            "steps_skipped": data["steps_skipped"]}


def record(arguments, level, folder, deadline):
    """Kernels of a step and the calls that launch them: of a graph one."""
    first = arguments.warmup + 1
    recording = os.path.join(folder, level)
    run([arguments.swinscope, "record", "--quiet", "--force", "--output", recording, "--steps",
         f"{first}:{first + RECORDED_STEPS}", "--"] + train_command(arguments, level, RECORDED_STEPS + 2), deadline)
    sql = "SELECT COUNT(*) AS kernels, COUNT(DISTINCT correlationId) AS launches FROM CUPTI_ACTIVITY_KIND_KERNEL"
    file = os.path.join(recording, "rank0.db")
    counts = json.loads(run([arguments.swinscope, "query", "--format", "json", file, sql], deadline))["data"][0]
    return {name: count / RECORDED_STEPS for name, count in counts.items()}


def table(arguments, rows):
    lines = [f"{arguments.model}, batch {arguments.batch}, {rows[0]['gpu']}", "",
             "| level | ms a step | images/s | faster than the first | kernels | launches | memory |",
             "|---|---|---|---|---|---|---|"]
    for row in rows:
        count = lambda name: f"{row[name]:.0f}" if name in row else "not recorded"
        lines.append(f"| {row['level']} ({row['precision']}) | {row['step_ns'] * 1e-6:.2f} | "
                     f"{row['images_per_second']:.0f} | {rows[0]['step_ns'] / row['step_ns']:.2f} | {count('kernels')} | "
                     f"{count('launches')} | {row['memory_bytes'] / 2**30:.1f} GiB |")
    times = ", ".join(f"{row['step_ns'] * 1e-6:.1f}" for row in rows)
    names = ", ".join(f'"{row["level"]}"' for row in rows)
    highest = max(row["step_ns"] for row in rows) * 1e-6
    lines += ["", "```mermaid", "xychart-beta",
              f'  title "{arguments.model}, batch {arguments.batch}: milliseconds a training step"',
              f"  x-axis [{names}]", f'  y-axis "ms" 0 --> {highest:.0f}', f"  bar [{times}]", "```"]
    return "\n".join(lines)


def write(arguments, rows, failures):
    if not arguments.json or not rows:
        return
    with open(arguments.json + ".new", "w", encoding="utf-8") as file:
        json.dump({"model": arguments.model, "batch": arguments.batch, "failures": failures, "rows": rows}, file, indent=1)
    os.replace(arguments.json + ".new", arguments.json)


def main():
    arguments = parse()
    need_quiet_gpu()
    deadline = time.monotonic() + arguments.seconds
    rows, failures = [], []

    def attempt(level, work):
        try:
            work()
        except (Failed, OSError, ValueError, LookupError, TypeError) as error:  # or an answer that is not understood
            failures.append(f"{level}: {error}")
            print(f"left out: {failures[-1]}", file=sys.stderr, flush=True)
        write(arguments, rows, failures)

    for level in arguments.levels.split(","):
        attempt(level, lambda: rows.append(measure(arguments, level, deadline)))
    with tempfile.TemporaryDirectory() as temporary:
        folder = arguments.keep or temporary
        os.makedirs(folder, exist_ok=True)
        for row in rows if arguments.swinscope else []:
            attempt(row["level"], lambda: row.update(record(arguments, row["level"], folder, deadline)))
    if rows:
        print(table(arguments, rows))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
