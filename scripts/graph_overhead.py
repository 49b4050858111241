#!/usr/bin/env python3
"""What recording costs a pass that is a CUDA graph of our kernels: untraced, with the graph's nodes, with graphs as a whole.

usage: python3 scripts/graph_overhead.py --swin build/gpu/bin/swin --swinscope build/gpu/bin/swinscope [--model swin_base]
           [--batches 1,128] [--rounds 5] [--seconds S] [--json FILE]

The three are run in turns (`swin infer --json`, fp16), --rounds times, each a process of its own; a figure is the median over the rounds
of a run's median pass. A first run, which is not counted, chooses the products that all use. A GPU that is busy with other work is
refused. What was lost of a recording is counted.
"""
import argparse
import json
import os
import sqlite3
import statistics
import sys
import tempfile
import time

from measuring import Failed, run, write_whole
from quiet_gpu import need_quiet_gpu

VARIANTS = {"untraced": None, "nodes": [], "graphs": ["--cuda-graph-trace", "graph"]}


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--swin", required=True)
    parser.add_argument("--swinscope", required=True)
    parser.add_argument("--model", default="swin_base")
    parser.add_argument("--batches", default="1,128")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=3600.0)
    parser.add_argument("--json")
    arguments = parser.parse_args()
    try:
        arguments.batches = [int(word) for word in arguments.batches.split(",")]
    except ValueError:
        parser.error(f"--batches: {arguments.batches}: not numbers")
    return arguments


def measure(arguments, batch, options, deadline):
    """A pass in ms, and how many records were lost; `options`: of `record`, None without it."""
    pass_of = [os.path.abspath(arguments.swin), "infer", "--device", "cuda", "--model", arguments.model, "--batch", str(batch), "--precision", "fp16",
               "--steps", str(max(100, 3000 // batch)), "--warmup", "20", "--quiet", "--json"]
    lost = 0
    with tempfile.TemporaryDirectory() as folder:
        recording = os.path.join(folder, "run")
        command = pass_of if options is None else [arguments.swinscope, "record", "-q", "-o", recording, *options, "--", *pass_of]
        document = json.loads(run(command, deadline))
        if options is not None:
            with sqlite3.connect(os.path.join(recording, "rank0.db")) as db:
                lost = db.execute("SELECT coalesce(sum(count), 0) FROM SWINSCOPE_DROPS").fetchone()[0]
    return {"ms": document["data"][0]["step_time_median_ns"] / 1e6, "lost": lost, "gpu": document["run"]["gpu"]}


def main():
    arguments = parse()
    need_quiet_gpu()
    deadline = time.monotonic() + arguments.seconds
    document = {"model": arguments.model, "batches": {}}
    for batch in arguments.batches:
        results = {variant: [] for variant in VARIANTS}
        document["batches"][batch] = results
        try:
            measure(arguments, batch, None, deadline)
            for _ in range(arguments.rounds):
                for variant, options in VARIANTS.items():
                    results[variant].append(measure(arguments, batch, options, deadline))
        except Failed as failure:
            print(f"error: batch {batch}: {failure}", file=sys.stderr)
            return 1
        base = statistics.median(result["ms"] for result in results["untraced"])
        for variant, found in results.items():
            times = sorted(result["ms"] for result in found)
            middle = statistics.median(times)
            print(f"{arguments.model} batch {batch:4} {variant:9} {middle:8.3f} ms {100 * (middle / base - 1):+7.2f}%  ({times[0]:.3f} to {times[-1]:.3f}, "
                  f"{len(times)} runs, {sum(result['lost'] for result in found)} records lost)", flush=True)
        if arguments.json:
            write_whole(arguments.json, document)
    return 0


if __name__ == "__main__":
    sys.exit(main())
