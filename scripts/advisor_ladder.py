#!/usr/bin/env python3
"""The advisor against the ladder: what `swinscope advise` predicts for each rung of `--level` from the recording of `eager` alone, beside what
each rung took without a recorder.

usage: swinscope sweep --vary level=eager,tensorcore,fused,window,attention,graph --warmup-steps 30 -o DIR -- swin infer … --steps 20 --warmup 30 --level {level}
       python3 scripts/advisor_ladder.py --swinscope build/release/bin/swinscope [--warmup-steps 30] [--ledger FILE] DIR…

A rung is the changes that it and those below it make (RUNGS). Prints a table in Markdown and the median and largest error of the changed
program's step, the median of its timing runs (with the half width of its 95 % confidence interval where there are several); not of unsteady ones, whose steps, or those of `eager`, differ by more than 5 % (quartiles over median), nor of those that the
host is said to decide. --ledger: only predicts, and writes the predictions down before the other rungs are looked at.
"""
import argparse
import json
import os
import statistics
import subprocess
import sys

# What each rung adds: kinds of changes, a word that the title has to hold, and one that it must not hold.
RUNGS = {
    "tensorcore": [("precision", "in fp16 instead of fp32", None)],
    "fused": [("epilogue", "", "copy"), ("bandwidth", "norm", None), ("normalization", "", "copy"), ("optimizer", "", None)],
    "window": [("layout", "copy", None), ("epilogue", "copy", None), ("normalization", "copy", None), ("fusion", "norm", None), ("mlp", "", None)],
    "attention": [("attention", "", None), ("projection", "", None), ("overlap", "", None)],
    "graph": [("graph", "", None)],
}
# Kernels that a title of that kind may name and no rung treats so: the bias of positions, and V2's split into normalized queries, keys and
# values, stay kernels of their own until `attention`.
NEVER = {"epilogue": "add_bias_kernel", "fusion": "split_kernel"}
# Kinds whose kernels we have for rows of 128 and 256 values only: the first stages of these models.
OF_BASE = ["projection", "mlp"]
READS_ROWS = "the product that reads them normalize"  # likewise; products that normalize what they write are of any width
UNSTEADY_PERCENT = 5
OF_THE_HOST = 0.9  # what advise warns of


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--swinscope", required=True)
    parser.add_argument("--warmup-steps", type=int, default=30)
    parser.add_argument("--ledger")
    parser.add_argument("folders", nargs="+", metavar="DIR")
    return parser.parse_args()


def swinscope(arguments, *words):
    done = subprocess.run([arguments.swinscope, *words, "--format", "json"], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(done.stderr.strip())
    return json.loads(done.stdout)["data"]


def advise(arguments, folder, *words):
    recording = os.path.join(folder, "leveleager", "tracing")
    return swinscope(arguments, "advise", recording, "--warmup-steps", str(arguments.warmup_steps), *words)


def is_base(folder):
    with open(os.path.join(folder, "experiment.json")) as file:
        return any(word.endswith("_base") for word in json.load(file)["command"])


def ids_of(advice, rung, base):
    """Of the changes that make this rung of the first one."""
    cards = advice["opportunities"]
    wanted = []
    for name, kinds in RUNGS.items():
        wanted += kinds
        if name == rung:
            break
    def is_made(card):
        if card["kind"] in OF_BASE and not base:
            return False
        title = card["change"]
        if READS_ROWS in title and not base:
            return False
        if card["kind"] in NEVER and NEVER[card["kind"]] in title:
            return False
        return any(card["kind"] == kind and word in title and (other is None or other not in title) for kind, word, other in wanted)

    ids = [card["id"] for card in cards if is_made(card)]
    # What saves nothing alone is no card: where the host decides the step, fewer bits, for example. It is applied by its kind.
    alone = {row["of"] for row in advice["abstained"] if "none saves" in row["reason"]}
    kinds = {kind for kind, _, _ in wanted if kind in alone and (base or kind not in OF_BASE)}
    return ids + ["precision-fp32-fp16" if kind == "precision" else kind for kind in sorted(kinds)]


def measured(arguments, folder):
    """By rung: the step of the timing runs, how well it is known (nothing for one run), and how far single steps differ, in per cent."""
    data = swinscope(arguments, "analyze", folder)
    spreads = {row["point"].removeprefix("level="): row["spread_percent"] for row in data["point_steps"]}
    return {row["level"]: (row["step_ns"], row["step_ci95_ns"], spreads[row["level"]]) for row in data["points"]}


def in_ms(step_ns, interval_ns):
    return f"{step_ns * 1e-6:.2f}" + (f" ± {interval_ns * 1e-6:.2f}" if interval_ns else "")


def main():
    arguments = parse()
    lines, errors, outside = [], [], 0
    for folder in arguments.folders:
        advice = advise(arguments, folder)
        steps = measured(arguments, folder)
        for rung in RUNGS:
            ids = ids_of(advice, rung, is_base(folder))
            words = ["--apply", ",".join(ids)]
            if arguments.ledger:
                words += ["--ledger", arguments.ledger, "--label", f"{folder}, {rung} from eager"]
            joint = advise(arguments, folder, *words)
            if arguments.ledger:
                continue
            step_ns, interval_ns, spread = steps[rung]
            error = 100 * (joint["joint_step_ns"] - step_ns) / step_ns
            remarks = ["unsteady"] if max(steps["eager"][2], spread) > UNSTEADY_PERCENT else []
            if joint["joint_by_gpu_ns"] < OF_THE_HOST * joint["joint_step_ns"]:
                remarks.append("the host's")
            if not remarks:
                errors.append(abs(error))
                outside += not joint["joint_step_least_ns"] <= step_ns <= joint["joint_step_most_ns"]
            lines.append(f"| {folder} | {rung} | {joint['joint_step_ns'] * 1e-6:.2f} | {joint['joint_step_least_ns'] * 1e-6:.2f} to "
                         f"{joint['joint_step_most_ns'] * 1e-6:.2f} | {in_ms(step_ns, interval_ns)} | {', '.join([f'{error:+.1f} %', *remarks])} |")
    if arguments.ledger:
        print(f"{arguments.ledger}: predictions of {', '.join(arguments.folders)}")
        return
    print("| ladder | rung | predicted, ms | interval | measured, ms | error |\n|---|---|---|---|---|---|")
    print("\n".join(lines))
    if errors:
        print(f"\nmedian {statistics.median(errors):.1f} %, largest {max(errors):.1f} %; {outside} of {len(errors)} outside of their interval")


if __name__ == "__main__":
    main()
