#!/usr/bin/env python3
"""What `swin infer --precision fp8` and int8 gain and cost on this GPU (H100 or H200), measured again.

usage: python3 scripts/eight_bits.py [--swin build/gpu/bin/swin] [--precisions fp8,int8] [--out DIR] [--rounds N] [--seconds S] [PART…]

PART speed     each of --cases MODEL:BATCH in fp16 and --precisions, turn by turn: medians, and fp16 over each
     energy    joules an image of --energy-cases, by the power that nvidia-smi shows meanwhile
     accuracy  top-1 of --models trained on procedural pictures (--seeds trainings of --train-images pictures each), on pictures
               that were held out: in fp16, in --precisions with the ranges of each observer, and how many answers differ
Default: all of them. DIR/PART.json has the figures; a table is printed. Nothing else may be on the GPU.
Exit status: 0, 1 where a program failed or --seconds are over, 2 where it cannot be run.
"""
import argparse
import itertools
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import threading
import time

import measuring

CASES = "swin_base:128,swin_large:128,swinv2_base:128,swin_base:32,swin_large:32,swinv2_base:32,swin_base:1,swin_large:1,swinv2_base:1"


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--swin", default="build/gpu/bin/swin")
    parser.add_argument("--precisions", default="fp8,int8")
    parser.add_argument("--out", default="runs/eight_bits")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=3000.0)
    parser.add_argument("--cases", default=CASES)
    parser.add_argument("--energy-cases", default="swin_base:128,swin_large:128,swinv2_base:128")
    parser.add_argument("--models", default="swin_tiny,swinv2_tiny")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--pictures", type=int, default=30000)
    parser.add_argument("--held-out", type=int, default=5000)
    parser.add_argument("--train-images", type=int, default=200000)
    parser.add_argument("--observers", default="mse")
    parser.add_argument("--data", default="", help="folder of `swin make-data` (default: made in DIR)")
    parser.add_argument("parts", nargs="*", metavar="PART")
    options = parser.parse_args()
    options.precisions = options.precisions.split(",")
    unknown = sorted(set(options.precisions) - {"fp8", "int8"})
    if unknown:
        parser.error(f"--precisions: {unknown[0]!r} is none; fp8 and int8 are")
    return options


class Runner:
    def __init__(self, options):
        self.options = options
        self.deadline = time.monotonic() + options.seconds

    def swin(self, *words):
        return measuring.run([self.options.swin, *map(str, words)], self.deadline)

    def infer(self, model, batch, precision, *more):
        document = json.loads(self.swin("infer", "--model", model, "--device", "cuda", "--precision", precision, "--batch", batch,
                                        "--quiet", "--json", *more))
        return document["data"][0]


def cases_of(words):
    return [(model, int(batch)) for model, batch in (case.split(":") for case in words.split(","))]


def steps_for(batch):
    return max(20, min(400, 6000 // batch))


def speed(runner):
    rows = []
    precisions = ["fp16", *runner.options.precisions]
    print(f"{'model, batch':<20}" + "".join(f"{name + ' [ms]':>11}" for name in precisions)
          + "".join(f"{'fp16/' + name:>11}" for name in precisions[1:]), flush=True)
    for model, batch in cases_of(runner.options.cases):
        times = {precision: [] for precision in precisions}
        for round_number in range(runner.options.rounds):
            for precision in precisions if round_number % 2 == 0 else reversed(precisions):
                row = runner.infer(model, batch, precision, "--steps", steps_for(batch), "--warmup", 10)
                times[precision].append(row["step_time_median_ns"] * 1e-6)
        medians = {precision: statistics.median(found) for precision, found in times.items()}
        ratios = {precision: medians["fp16"] / medians[precision] for precision in precisions[1:]}
        rows.append({"model": model, "batch": batch, "ms": times, "ratio": ratios})
        print(f"{model + ', ' + str(batch):<20}" + "".join(f"{medians[name]:>11.3f}" for name in precisions)
              + "".join(f"{ratio:>11.3f}" for ratio in ratios.values()), flush=True)
    return rows


class Power:
    """Watts that nvidia-smi shows, twenty times a second."""

    def __enter__(self):
        self.watts = []
        self.process = subprocess.Popen(["nvidia-smi", "--query-gpu=power.draw.instant", "--format=csv,noheader,nounits", "-i", "0", "-lms", "50"],
                                        stdout=subprocess.PIPE, text=True)
        self.thread = threading.Thread(target=self.read)
        self.thread.start()
        return self

    def read(self):
        for line in self.process.stdout:
            try:
                self.watts.append(float(line))
            except ValueError:
                pass  # "[N/A]"

    def __exit__(self, *_):
        self.process.terminate()
        self.thread.join()
        self.process.wait()


def energy(runner):
    rows = []
    print(f"{'model, batch':<20}{'':<6}{'W':>8}{'ms':>9}{'mJ an image':>13}", flush=True)
    for model, batch in cases_of(runner.options.energy_cases):
        for precision in ("fp16", *runner.options.precisions):
            once = runner.infer(model, batch, precision, "--steps", 20, "--warmup", 5)["step_time_median_ns"] * 1e-9
            steps = int(4.0 / once)
            with Power() as power:
                row = runner.infer(model, batch, precision, "--steps", steps, "--warmup", 5)
            # What is above half of the most is the run itself, not its beginning and end; its first second warms up.
            busy = [watts for watts in power.watts if watts > 0.5 * max(power.watts)][20:]
            if len(busy) < 20:
                raise measuring.Failed(f"{model}: nvidia-smi showed the power {len(power.watts)} times")
            watts = statistics.mean(busy)
            joules = watts * row["step_time_median_ns"] * 1e-9 / batch
            rows.append({"model": model, "batch": batch, "precision": precision, "watts": watts, "step_ms": row["step_time_median_ns"] * 1e-6,
                         "joules_per_image": joules})
            print(f"{model + ', ' + str(batch):<20}{precision:<6}{watts:>8.0f}{row['step_time_median_ns'] * 1e-6:>9.3f}{joules * 1e3:>13.2f}", flush=True)
    return rows


def answers(runner, model, weights, precision, pictures):
    row = runner.infer(model, 128, precision, "--weights", weights, "--images", pictures)
    return {entry["file"]: entry["class"] for entry in row["files"]}


def share_right(found, classes):
    right = sum(classes.index(pathlib.Path(file).parent.name) == number for file, number in found.items())
    return 100.0 * right / len(found)


def accuracy(runner):
    options = runner.options
    data = pathlib.Path(options.data or os.path.join(options.out, "pictures"))
    if not data.exists():
        runner.swin("make-data", data, "--images", options.pictures, "--validation", options.held_out / options.pictures, "--size", 256, "--quiet")
    held_out = data / "val"
    classes = sorted(entry.name for entry in held_out.iterdir())
    rows = []
    print(f"{'model, seed':<18}{'held out':>9}{'fp16 [%]':>10}{'':>6}{'[%]':>8}{'loss':>7}{'differ [%]':>12}  observer", flush=True)
    for model in options.models.split(","):
        for seed in range(1, options.seeds + 1):
            folder = pathlib.Path(options.out) / f"{model}_{seed}"
            shutil.rmtree(folder, ignore_errors=True)
            runner.swin("train", "--model", model, "--device", "cuda", "--precision", "bf16", "--batch", 128, "--label-smoothing", 0, "--data", data, "--images",
                        options.train_images, "--lr", 0.0001, "--lr-warmup", 100, "--seed", seed, "--checkpoint", folder, "--quiet")
            weights = next(iter(sorted(folder.glob("*.safetensors"))))
            exact = answers(runner, model, weights, "fp16", held_out)
            before = share_right(exact, classes)
            for precision, observer in itertools.product(options.precisions, options.observers.split(",")):
                rounded = folder / f"{precision}_{observer}.safetensors"
                report = json.loads(runner.swin("quantize", "--model", model, "--weights", weights, "--calibration-data", data / "train",
                                                "--batch", 128, "--images", 512, "--observer", observer, "--precision", precision,
                                                "-o", rounded, "--force", "--json"))
                found = answers(runner, model, rounded, precision, held_out)
                after = share_right(found, classes)
                differ = 100.0 * sum(exact[file] != number for file, number in found.items()) / len(found)
                rows.append({"model": model, "seed": seed, "precision": precision, "observer": observer, "held_out": len(found),
                             "fp16_percent": before, "percent": after, "differ_percent": differ, "cosine": report["run"]["cosine"],
                             "kept_in_fp16": [row["layers"] for row in report["data"] if row["precision"] == "fp16"]})
                print(f"{model + ', ' + str(seed):<18}{len(found):>9}{before:>10.2f}{precision:>6}{after:>8.2f}{before - after:>7.2f}{differ:>12.2f}  {observer}",
                      flush=True)
            shutil.rmtree(folder, ignore_errors=True)
    return rows


def main():
    options = parse()
    parts = {"speed": speed, "energy": energy, "accuracy": accuracy}
    unknown = sorted(set(options.parts) - set(parts))
    if unknown:
        print(f"error: {unknown[0]}: unknown; parts are {', '.join(parts)}", file=sys.stderr)
        return 2
    if not os.access(options.swin, os.X_OK):
        print(f"error: {options.swin}: no such program\n  hint: build it with CUDA, or name it with --swin", file=sys.stderr)
        return 2
    os.makedirs(options.out, exist_ok=True)
    runner = Runner(options)
    status = 0
    for name in options.parts or parts:
        try:
            measuring.write_whole(os.path.join(options.out, f"{name}.json"), parts[name](runner))
        except measuring.Failed as failure:
            print(f"error: {name}: {failure}", file=sys.stderr)
            status = 1
    return status


if __name__ == "__main__":
    sys.exit(main())
