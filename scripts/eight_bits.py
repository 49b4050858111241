#!/usr/bin/env python3
"""What fp8 and int8 gain and cost on this GPU (H100 or H200), inference and training, measured again.

usage: python3 scripts/eight_bits.py [--swin build/gpu/bin/swin] [--precisions fp8,int8] [--out DIR] [--rounds N] [--seconds S] [PART…]

PART speed     each of --cases MODEL:BATCH in fp16 and --precisions, turn by turn: medians, and fp16 over each
     predicted each of --cases in fp16 by `swinscope scale`, which layers `swin quantize` keeps in fp16, from both what `swinscope advise` predicts of
               --precisions, written to DIR/predicted.ledger.json, and behind all predictions each case in fp16 and, as quantized, in them:
               how far off the predictions are, of the step. Needs --swinscope
     energy    joules an image of --energy-cases, by the power that nvidia-smi shows meanwhile
     accuracy  top-1 of --models trained on procedural pictures (--seeds trainings of --train-images pictures each), on pictures
               that were held out: in fp16, in --precisions with the ranges of each observer, and how many answers differ. What was trained stays
               in DIR/trained for the parts learning and qat
     training  a step of --training-cases MODEL:BATCH in fp16 and fp8, turn by turn; and the losses of --loss-steps steps of the first
               one in both, from the same start on the same synthetic images: the mean of the last tenth
     learning  --models trained as in accuracy, in fp16 and in fp8: top-1 of both, evaluated in fp16
     qat       --models trained as in accuracy (--seeds of them), then so many images more (--tune-images) in 16 bits and with --qat in --precisions:
               top-1 in fp16 and of the weights that `swin quantize` makes of either
     chart     of DIR/speed.json and DIR/accuracy.json: images a second beside top-1, a point for each model and precision that both have at the
               largest batch, with the least and the most of its seeds: DIR/chart.svg
Losses of accuracy are known to the root of the answers that differ: 320 of 20,000 held-out pictures make 0.09 points.
Default: speed, energy and accuracy. DIR/PART.json has the figures; a table is printed. Nothing else may be on the GPU.
Exit status: 0, 1 where a program failed or --seconds are over, 2 where it cannot be run.
"""
import argparse
import html
import itertools
import json
import math
import os
import pathlib
import re
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
    parser.add_argument("--swinscope", default="build/gpu/bin/swinscope")
    parser.add_argument("--precisions", default="fp8,int8")
    parser.add_argument("--out", default="runs/eight_bits")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=3000.0)
    parser.add_argument("--cases", default=CASES)
    parser.add_argument("--energy-cases", default="swin_base:128,swin_large:128,swinv2_base:128")
    parser.add_argument("--models", default="swin_tiny,swinv2_tiny")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--first-seed", type=int, default=1)
    parser.add_argument("--pictures", type=int, default=45000)
    parser.add_argument("--held-out", type=int, default=20000)
    parser.add_argument("--train-images", type=int, default=200000)
    parser.add_argument("--observers", default="mse")
    parser.add_argument("--training-cases", default="swin_large:64")
    parser.add_argument("--loss-steps", type=int, default=200)
    parser.add_argument("--tune-images", type=int, default=25600)
    parser.add_argument("--tune-lr", type=float, default=1e-5)
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


def advise(runner, recording, precision, *more):
    words = ["advise", recording, "--warmup-steps", 30, "--apply", f"precision-fp16-{precision}", "--format", "json", *more]
    return json.loads(measuring.run([runner.options.swinscope, *map(str, words)], runner.deadline))["data"]


def quantized(runner, model, batch, precision, file):
    """The layers that accuracy keeps in fp16, and what `swin infer` runs then; at batch 1 nothing is to be rounded."""
    if batch == 1:
        return [], ["--precision", precision]
    report = json.loads(runner.swin("quantize", "--model", model, "--batch", batch, "--precision", precision, "-o", file, "--force", "--json"))
    return [row["layers"] for row in report["data"] if row["precision"] == "fp16"], ["--precision", precision, "--weights", file]


def names_in_recording(runner, recording, kept):
    """What the run calls them: a product within a fused kernel has the kernel's name, stage1.mlp or stage2.attn.window."""
    if not kept:
        return []
    report = json.loads(measuring.run([runner.options.swinscope, "layers", str(recording), "--warmup-steps", "30", "--format", "json"], runner.deadline))
    layers = {re.sub(r"block\d+\.", "", row["path"]) for row in report["data"]["layers"]}
    names = []
    for name in kept:
        block = name.rpartition(".")[0]
        names.append(next((one for one in (name, block, block + ".window") if one in layers), name))
    return list(dict.fromkeys(names))


def predicted(runner):
    options = runner.options
    out = pathlib.Path(options.out)
    ledger = out / "predicted.ledger.json"
    ledger.unlink(missing_ok=True)
    predictions = {}
    for model, batch in cases_of(options.cases):
        folder = out / f"{model}_{batch}_fp16"
        shutil.rmtree(folder, ignore_errors=True)
        measuring.run([options.swinscope, "scale", "--gpus", "1", "--repeat", "1", "--warmup-steps", "30", "--progress", "never", "-q", "-o", str(folder), "--", options.swin,
                       "infer", "--model", model, "--device", "cuda", "--precision", "fp16", "--batch-per-gpu", str(batch), "--steps", str(steps_for(batch)), "--warmup", "30", "--quiet"],
                      runner.deadline)
        recording = next(folder.rglob("tracing"))
        for precision in options.precisions:
            kept, words = quantized(runner, model, batch, precision, folder / f"{precision}.safetensors")
            names = names_in_recording(runner, recording, kept)
            advice = advise(runner, recording, precision, "--ledger", ledger, "--label", f"{model} infer {batch}, {precision} from fp16",
                            *(["--keep-precision", ",".join(names)] if names else []))
            predictions[model, batch, precision] = advice, kept, words
    rows, errors = [], []
    print(f"{'model, batch':<20}{'':<6}{'fp16 [ms]':>11}{'predicted':>11}{'measured':>10}{'error [%]':>11}{'fp16/it':>9}  kept in fp16", flush=True)
    for (model, batch), same in itertools.groupby(predictions, key=lambda key: key[:2]):
        fp16_ns = runner.infer(model, batch, "fp16", "--steps", steps_for(batch), "--warmup", 30)["step_time_median_ns"]
        for key in same:
            advice, kept, words = predictions[key]
            step_ns = runner.infer(model, batch, *words[1:], "--steps", steps_for(batch), "--warmup", 30)["step_time_median_ns"]
            error = 100.0 * (advice["joint_step_ns"] / step_ns - 1.0)
            errors.append(abs(error))
            rows.append({"model": model, "batch": batch, "precision": key[2], "kept_in_fp16": kept, "traced_fp16_ns": advice.get("timed_step_ns") or advice["replayed_step_ns"],
                         "fp16_ns": fp16_ns, "predicted_ns": advice["joint_step_ns"], "least_ns": advice["joint_step_least_ns"], "most_ns": advice["joint_step_most_ns"],
                         "measured_ns": step_ns, "error_percent": error, "ratio": fp16_ns / step_ns})
            print(f"{model + ', ' + str(batch):<20}{key[2]:<6}{fp16_ns * 1e-6:>11.3f}{advice['joint_step_ns'] * 1e-6:>11.3f}{step_ns * 1e-6:>10.3f}{error:>11.1f}{rows[-1]['ratio']:>9.3f}"
                  f"  {' '.join(kept)}", flush=True)
    print(f"median {statistics.median(errors):.1f} %, largest {max(errors):.1f} %", flush=True)
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


def seeds_of(options):
    return range(options.first_seed, options.first_seed + options.seeds)


def trained(runner, model, seed, precision, data):
    """The file of its weights, which other parts may have made."""
    folder = pathlib.Path(runner.options.out) / "trained" / f"{model}_{seed}_{precision}_{runner.options.train_images}"
    if not folder.exists():
        making = folder.with_suffix(".making")
        shutil.rmtree(making, ignore_errors=True)
        runner.swin("train", "--model", model, "--device", "cuda", "--precision", precision, "--batch", 128, "--label-smoothing", 0, "--data", data, "--images",
                    runner.options.train_images, "--lr", 0.0001, "--lr-warmup", 100, "--seed", seed, "--checkpoint", making, "--quiet")
        making.rename(folder)
    return checkpoint_of(folder)


def accuracy(runner):
    options = runner.options
    data = pictures_of(runner)
    held_out = data / "val"
    classes = sorted(entry.name for entry in held_out.iterdir())
    rows = []
    print(f"{'model, seed':<18}{'held out':>9}{'fp16 [%]':>10}{'':>6}{'[%]':>8}{'loss':>7}{'differ [%]':>12}  observer", flush=True)
    for model in options.models.split(","):
        for seed in seeds_of(options):
            folder = pathlib.Path(options.out) / f"{model}_{seed}"
            folder.mkdir(exist_ok=True)
            weights = trained(runner, model, seed, "fp16", data)
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


def learning(runner):
    options = runner.options
    data = pictures_of(runner)
    classes = sorted(entry.name for entry in (data / "val").iterdir())
    rows = []
    print(f"{'model, seed':<18}{'held out':>9}{'fp16 [%]':>10}{'fp8 [%]':>10}{'gain':>7}", flush=True)
    for model, seed in itertools.product(options.models.split(","), seeds_of(options)):
        percents = {}
        for precision in ("fp16", "fp8"):
            found = answers(runner, model, trained(runner, model, seed, precision, data), "fp16", data / "val")
            percents[precision] = share_right(found, classes)
        rows.append({"model": model, "seed": seed, "held_out": len(found), "percent": percents})
        print(f"{model + ', ' + str(seed):<18}{len(found):>9}{percents['fp16']:>10.2f}{percents['fp8']:>10.2f}{percents['fp8'] - percents['fp16']:>7.2f}", flush=True)
    return rows


def train(runner, model, batch, precision, *more):
    return json.loads(runner.swin("train", "--model", model, "--device", "cuda", "--precision", precision, "--batch", batch, "--quiet", "--json", *more))["data"][0]


def losses(file):
    rows = (json.loads(line) for line in pathlib.Path(file).read_text().splitlines())
    return [row["loss"] for row in rows if row["type"] == "step"]


def training(runner):
    options = runner.options
    precisions = ("fp16", "fp8")
    rows = []
    print(f"{'model, batch':<20}{'fp16 [ms]':>11}{'fp8 [ms]':>11}{'fp16/fp8':>11}", flush=True)
    for model, batch in cases_of(options.training_cases):
        times = {precision: [] for precision in precisions}
        for round_number in range(options.rounds):
            for precision in precisions if round_number % 2 == 0 else reversed(precisions):
                row = train(runner, model, batch, precision, "--steps", 30, "--warmup", 10)
                times[precision].append(row["step_time_median_ns"] * 1e-6)
        medians = {precision: statistics.median(found) for precision, found in times.items()}
        rows.append({"model": model, "batch": batch, "ms": times, "ratio": medians["fp16"] / medians["fp8"]})
        print(f"{model + ', ' + str(batch):<20}{medians['fp16']:>11.3f}{medians['fp8']:>11.3f}{rows[-1]['ratio']:>11.3f}", flush=True)
    model, batch = cases_of(options.training_cases)[0]
    curves = {}
    for precision in precisions:
        log = os.path.join(options.out, f"{model}_{precision}.jsonl")
        pathlib.Path(log).unlink(missing_ok=True)
        train(runner, model, batch, precision, "--steps", options.loss_steps, "--warmup", 0, "--lr", 0.0001, "--lr-warmup", 20, "--dataset-size", 4 * batch, "--log", log)
        curves[precision] = losses(log)
    tail = {precision: statistics.mean(curve[-max(1, len(curve) // 10):]) for precision, curve in curves.items()}
    difference = 100.0 * abs(tail["fp8"] / tail["fp16"] - 1.0)
    rows.append({"model": model, "batch": batch, "losses": curves, "last_tenth": tail, "difference_percent": difference})
    print(f"loss of the last tenth of {options.loss_steps} steps: fp16 {tail['fp16']:.4f}, fp8 {tail['fp8']:.4f}, {difference:.2f} % apart", flush=True)
    return rows


def checkpoint_of(folder):
    return next(iter(sorted(pathlib.Path(folder).glob("*.safetensors"))))


def pictures_of(runner):
    options = runner.options
    data = pathlib.Path(options.data or os.path.join(options.out, "pictures"))
    if not data.exists():
        runner.swin("make-data", data, "--images", options.pictures, "--validation", options.held_out / options.pictures, "--size", 256, "--quiet")
    return data


def quantized_share(runner, model, weights, precision, data, classes):
    rounded = weights.parent / f"{precision}_rounded.safetensors"
    runner.swin("quantize", "--model", model, "--weights", weights, "--calibration-data", data / "train", "--batch", 128, "--images", 512,
                "--precision", precision, "-o", rounded, "--force", "--json")
    return share_right(answers(runner, model, rounded, precision, data / "val"), classes)


def qat(runner):
    options = runner.options
    data = pictures_of(runner)
    classes = sorted(entry.name for entry in (data / "val").iterdir())
    rows = []
    print(f"{'model, seed':<18}{'fine-tuned':<12}{'fp16 [%]':>10}{'':>6}{'[%]':>8}{'loss':>7}", flush=True)
    for model, seed in itertools.product(options.models.split(","), seeds_of(options)):
        folder = pathlib.Path(options.out) / f"{model}_{seed}_qat"
        shutil.rmtree(folder, ignore_errors=True)
        start = trained(runner, model, seed, "fp16", data)
        tuned = ("--model", model, "--device", "cuda", "--batch", 128, "--label-smoothing", 0, "--data", data, "--quiet",
                 "--weights", start, "--images", options.tune_images, "--lr", options.tune_lr, "--seed", seed)
        runner.swin("train", *tuned, "--precision", "fp16", "--checkpoint", folder / "fp16")
        for precision in options.precisions:
            runner.swin("train", *tuned, "--precision", precision, "--qat", "--checkpoint", folder / precision)
        exact = {name: share_right(answers(runner, model, checkpoint_of(folder / name), "fp16", data / "val"), classes)
                 for name in ("fp16", *options.precisions)}
        for precision in options.precisions:
            for name in ("fp16", precision):
                after = quantized_share(runner, model, checkpoint_of(folder / name), precision, data, classes)
                # What the rounded model loses against the one that was fine-tuned in 16 bits.
                rows.append({"model": model, "seed": seed, "tuned_in": name, "precision": precision, "fp16_percent": exact[name], "percent": after,
                             "loss": exact["fp16"] - after})
                print(f"{model + ', ' + str(seed):<18}{name if name == 'fp16' else name + ' --qat':<12}{exact[name]:>10.2f}{precision:>6}{after:>8.2f}{exact['fp16'] - after:>7.2f}",
                      flush=True)
        shutil.rmtree(folder, ignore_errors=True)
    return rows


COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7")
WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 720, 420, 64, 96, 24, 48


def points_of(out):
    """By model and precision: images a second, and top-1 of each seed, in percent."""
    speeds = json.loads((out / "speed.json").read_text())
    points = {}
    for row in json.loads((out / "accuracy.json").read_text()):
        of_model = [speed for speed in speeds if speed["model"] == row["model"]]
        if not of_model:
            continue
        largest = max(of_model, key=lambda speed: speed["batch"])
        for precision, percent in (("fp16", row["fp16_percent"]), (row["precision"], row["percent"])):
            rate = 1e3 * largest["batch"] / statistics.median(largest["ms"][precision])
            points.setdefault((row["model"], precision), (rate, {}))[1][row["seed"]] = percent
    return points


def scale_of(values, first, last):
    """From a value to its place, and round values for ticks."""
    low, high = min(values), max(values)
    step = 10 ** math.floor(math.log10(max(high - low, 1e-3 * high, 1e-9)))
    step *= 1 if (high - low) / step < 4 else 2
    low, high = step * math.floor(low / step), step * math.ceil(high / step + 1e-9)
    high = high if high > low else low + step
    ticks = [low + i * step for i in range(round((high - low) / step) + 1)]
    return lambda value: first + (last - first) * (value - low) / (high - low), ticks


def chart(runner):
    out = pathlib.Path(runner.options.out)
    try:
        points = points_of(out)
    except OSError as error:
        raise measuring.Failed(f"{error}; the parts speed and accuracy write it") from None
    if not points:
        raise measuring.Failed("no model has both a speed and an accuracy")
    x, x_ticks = scale_of([rate for rate, _ in points.values()], LEFT, WIDTH - RIGHT)
    y, y_ticks = scale_of([percent for _, percents in points.values() for percent in percents.values()], HEIGHT - BOTTOM, TOP)
    lines = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" font-size="12">',
             "<title>Images a second beside top-1</title>", f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>']
    for tick in x_ticks:
        lines += [f'<line x1="{x(tick):.1f}" x2="{x(tick):.1f}" y1="{TOP}" y2="{HEIGHT - BOTTOM}" stroke="#ddd"/>',
                  f'<text x="{x(tick):.1f}" y="{HEIGHT - BOTTOM + 16}" text-anchor="middle">{tick:,.0f}</text>']
    for tick in y_ticks:
        lines += [f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y(tick):.1f}" y2="{y(tick):.1f}" stroke="#ddd"/>',
                  f'<text x="{LEFT - 6}" y="{y(tick) + 4:.1f}" text-anchor="end">{tick:g}</text>']
    lines += [f'<text x="{(LEFT + WIDTH - RIGHT) / 2}" y="{HEIGHT - 8}" text-anchor="middle">images a second</text>',
              f'<text x="14" y="{HEIGHT / 2}" text-anchor="middle" transform="rotate(-90 14 {HEIGHT / 2})">top-1, %</text>']
    models = sorted({model for model, _ in points})
    rows = []
    for (model, precision), (rate, percents) in sorted(points.items()):
        colour, values = COLOURS[models.index(model) % len(COLOURS)], list(percents.values())
        middle, label = statistics.mean(values), 16 if precision == "int8" else -6  # as fast as fp8, nearly
        lines += [f'<line x1="{x(rate):.1f}" x2="{x(rate):.1f}" y1="{y(min(values)):.1f}" y2="{y(max(values)):.1f}" stroke="{colour}"/>',
                  f'<circle cx="{x(rate):.1f}" cy="{y(middle):.1f}" r="5" fill="{colour}"/>',
                  f'<text x="{x(rate) + 8:.1f}" y="{y(middle) + label:.1f}" fill="{colour}">{html.escape(model)}, {precision}</text>']
        rows.append({"model": model, "precision": precision, "images_per_second": rate, "percent": middle, "least": min(values), "most": max(values)})
        print(f"{model:<16}{precision:<6}{rate:>9.0f} images a second{middle:>8.2f} % ({min(values):.2f} to {max(values):.2f})", flush=True)
    (out / "chart.svg").write_text("\n".join([*lines, "</svg>"]) + "\n")
    return rows


def main():
    options = parse()
    first = {"speed": speed, "energy": energy, "accuracy": accuracy}
    parts = {**first, "predicted": predicted, "training": training, "learning": learning, "qat": qat, "chart": chart}
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
    for name in options.parts or first:
        try:
            measuring.write_whole(os.path.join(options.out, f"{name}.json"), parts[name](runner))
        except measuring.Failed as failure:
            print(f"error: {name}: {failure}", file=sys.stderr)
            status = 1
    return status


if __name__ == "__main__":
    sys.exit(main())
