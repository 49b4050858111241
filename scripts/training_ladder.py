#!/usr/bin/env python3
"""The training ladder: what each rung of `--level` is worth, on one GPU.

usage: python3 scripts/training_ladder.py --swin build/gpu/bin/swin [--swinscope build/gpu/bin/swinscope] [--model swin_large] [--batch 64]
           [--levels eager,tensorcore,…] [--steps 20] [--warmup 5] [--keep FOLDER] [--seconds S] [--json FILE]

Times each rung by itself (`swin train --json`, synthetic images on the GPU, the rung's own precision); then, with --swinscope, records
two steps of each (`swinscope record`), from which the kernels and launches of a step come. Prints a table and a chart in Markdown
as in docs/notes/042, with the ratio to the first rung. --keep: where recordings stay, FOLDER/LEVEL/rank0.db. The file of --json
is written anew after each of them. A GPU that is busy with other work is refused. What no time is left for (--seconds), or what fails, is named and left out: exit status 1.
"""
import argparse
import json
import os
import sys
import tempfile
import time

from measuring import LEVELS, Failed, bar_chart, known_levels, run, write_whole
from quiet_gpu import need_quiet_gpu

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
    arguments.levels = known_levels(parser, arguments.levels)
    if arguments.warmup < 1:
        parser.error("--warmup: at least 1, so that no step is measured that is launched for the first time")
    return arguments


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
    lines += ["", bar_chart(f"{arguments.model}, batch {arguments.batch}: milliseconds a training step",
                            [row["level"] for row in rows], [row["step_ns"] * 1e-6 for row in rows])]
    return "\n".join(lines)


def write(arguments, rows, failures):
    if arguments.json and rows:
        write_whole(arguments.json, {"model": arguments.model, "batch": arguments.batch, "failures": failures, "rows": rows})


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

    for level in arguments.levels:
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
