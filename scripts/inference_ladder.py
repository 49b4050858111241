#!/usr/bin/env python3
"""The inference ladder: what each rung of `--level` is worth, and each feature of the highest one, on one GPU.

usage: python3 scripts/inference_ladder.py --swin build/gpu/bin/swin [--model swin_base] [--batches 1,32,128] [--levels eager,tensorcore,…]
           [--without all|none|FEATURE,…] [--seconds S] [--json FILE]

Times a pass of each rung and batch (`swin infer --json`, the rung's own precision) and compares its logits with those of the first rung:
the relative norm of the difference may be 3e-3 in fp16, else it has FAILED. Then leaves out one feature of the highest rung after another
(--without), with products chosen by their time alone. Prints tables and a chart in Markdown, as in docs/notes/021. The file of --json is written
anew after each pass. A GPU that is busy with other work is refused. What no time is left for (--seconds), or what fails, is named and left
out: exit status 1.
"""
import argparse
import array
import json
import math
import os
import sys
import tempfile
import time

from measuring import LEVELS, Failed, bar_chart, known_levels, run, write_whole
from quiet_gpu import need_quiet_gpu

LOGITS_TOLERANCE = 3e-3
NOTHING = "(nothing)"


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--swin", required=True)
    parser.add_argument("--model", default="swin_base")
    parser.add_argument("--batches", default="1,32,128")
    parser.add_argument("--levels", default=",".join(LEVELS))
    parser.add_argument("--without", default="all")
    parser.add_argument("--seconds", type=float, default=3600.0)
    parser.add_argument("--json")
    arguments = parser.parse_args()
    arguments.levels = known_levels(parser, arguments.levels)
    try:
        arguments.batches = [int(word) for word in arguments.batches.split(",")]
    except ValueError:
        parser.error(f"--batches: {arguments.batches}: not numbers")
    return arguments


def read_logits(file):
    """Of a safetensors file: 8 bytes that say how long the header is, the header as JSON, the data."""
    with open(file, "rb") as opened:
        header = json.loads(opened.read(int.from_bytes(opened.read(8), "little")))
        place = header["logits"]
        if place["dtype"] != "F32":
            raise Failed(f"{file}: logits of type {place['dtype']}")
        begin, end = place["data_offsets"]
        opened.seek(begin, os.SEEK_CUR)
        values = array.array("f")
        values.frombytes(opened.read(end - begin))
    if sys.byteorder != "little":
        values.byteswap()
    return values


def difference(values, reference):
    """Norm of the difference over the norm of the reference."""
    if len(values) != len(reference):
        raise Failed(f"{len(values)} logits instead of {len(reference)}")
    return math.sqrt(sum((a - b) ** 2 for a, b in zip(values, reference)) / sum(b * b for b in reference))


def measure(arguments, batch, options, deadline):
    """Figures of a pass, and its logits."""
    with tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, "logits.safetensors")
        command = [arguments.swin, "infer", "--device", "cuda", "--model", arguments.model, "--batch", str(batch), "--steps",
                   str(max(30, min(200, 3200 // batch))), "--warmup", "10", "--logits", file, "--quiet", "--json", *options]
        document = json.loads(run(command, deadline))
        about = document["run"]
        return {"batch": batch, "precision": about["precision"], "features": about["features"], "gpu": about["gpu"],
                "ns": document["data"][0]["step_time_median_ns"]}, read_logits(file)


class Ladder:
    def __init__(self, arguments):
        self.arguments, self.deadline = arguments, time.monotonic() + arguments.seconds
        self.rungs, self.ablations, self.failures = [], [], []

    def attempt(self, name, work):
        try:
            work()
        except (Failed, OSError, ValueError, LookupError, TypeError) as error:  # or an answer that is not understood
            self.failures.append(f"{name}: {error}")
            print(f"left out: {self.failures[-1]}", file=sys.stderr, flush=True)
        if self.arguments.json:
            write_whole(self.arguments.json, {"schema": "swinscope.inference_ladder/1", "model": self.arguments.model,
                                              "failures": self.failures, "rungs": self.rungs, "without": self.ablations})

    def climb(self, batch):
        reference = None

        def rung(level):
            nonlocal reference
            row, logits = measure(self.arguments, batch, ["--level", level], self.deadline)
            if reference is None:
                reference = logits
            self.rungs.append({"level": level, **row, "difference": difference(logits, reference)})
            if not self.rungs[-1]["difference"] <= LOGITS_TOLERANCE:  # NaN, too
                raise Failed(f"its logits differ by {self.rungs[-1]['difference']:.1e} from those of {self.arguments.levels[0]}")

        for level in self.arguments.levels:
            self.attempt(f"{level}, batch {batch}", lambda: rung(level))

    def leave_out(self, batch):
        level = self.arguments.levels[-1]
        highest = [row["features"] for row in self.rungs if (row["level"], row["batch"]) == (level, batch)]
        if not highest or self.arguments.without == "none":
            return
        features = highest[0].split(", ") if self.arguments.without == "all" else self.arguments.without.split(",")

        def without(feature):
            options = ["--level", level, "--tune-seconds", "0"] + ([] if feature == NOTHING else ["--without", feature])
            row, _ = measure(self.arguments, batch, options, self.deadline)
            self.ablations.append({"without": feature, **row})

        for feature in [NOTHING, *features]:
            self.attempt(f"without {feature}, batch {batch}", lambda: without(feature))

    def table(self, title, rows, key):
        """A row for each value of the key, a column for each batch."""
        times = {(row[key], row["batch"]): row["ns"] * 1e-6 for row in rows}
        lines = [f"| {title} | " + " | ".join(f"batch {batch}" for batch in self.arguments.batches) + " |",
                 "|---" * (1 + len(self.arguments.batches)) + "|"]
        for name in dict.fromkeys(row[key] for row in rows):
            cells = (f"{times[name, batch]:.3f} ms" if (name, batch) in times else "not run" for batch in self.arguments.batches)
            lines.append(f"| {name} | " + " | ".join(cells) + " |")
        return lines

    def report(self):
        if not self.rungs:
            return
        lines = [f"{self.arguments.model}, {self.rungs[0]['gpu']}; logits differ from those of {self.arguments.levels[0]} by "
                 f"{max(row['difference'] for row in self.rungs):.1e} at most", "", *self.table("level", self.rungs, "level"), ""]
        if self.ablations:
            lines += [*self.table("without", self.ablations, "without"), ""]
        largest = [row for row in self.rungs if row["batch"] == self.rungs[-1]["batch"]]
        lines.append(bar_chart(f"{self.arguments.model}, batch {largest[0]['batch']}: milliseconds a pass",
                               [row["level"] for row in largest], [row["ns"] * 1e-6 for row in largest]))
        print("\n".join(lines))


def main():
    arguments = parse()
    need_quiet_gpu()
    ladder = Ladder(arguments)
    for batch in arguments.batches:
        ladder.climb(batch)
    for batch in arguments.batches:
        ladder.leave_out(batch)
    ladder.report()
    return 1 if ladder.failures else 0


if __name__ == "__main__":
    sys.exit(main())
