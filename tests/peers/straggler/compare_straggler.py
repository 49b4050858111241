#!/usr/bin/env python3
"""Compares `swinscope stragglers` with the published answers of StragglerAnalysis for its three production jobs.

usage: compare_straggler.py --swinscope PATH --data DIR [--jobs AR,SE,ST] [--keep DIR] [--csv FILE]

DIR is the folder data/ of https://github.com/ByteDance-Seed/StragglerAnalysis (Apache-2.0): trace-JOB.parquet, meta-JOB.yaml,
result-JOB.json, mw-JOB.json and ms-JOB.json. Each trace becomes a run of swinscope (pipeline_job.py; --keep keeps it), of which
swinscope's own dependency graph, matching of collectives and replay say

    S        slowdown by stragglers               within 0.5 %
    M_W      share of the slowest 3 % of workers  within 0.01
    M_S      share of the last pipeline stage     within 0.01

Needs pyarrow (requirements.txt).

exit: 0 all within these; 1 a figure differs by more; 2 wrong usage, or something cannot be read or run.
"""
import argparse
import csv
import json
import pathlib
import subprocess
import sys
import tempfile
import time

import pipeline_job

SLOWDOWN_TOLERANCE = 0.005  # relative
SHARE_TOLERANCE = 0.01
FIGURES = ["S", "M_W", "M_S"]


class ToolError(Exception):
    """Something cannot be read or run."""


def published(data, job):
    def read(kind):
        return json.loads((data / f"{kind}-{job}.json").read_text())
    return {"S": read("result")["blocking_slowdown"], "M_W": read("mw")["Mw"], "M_S": read("ms")["Ms"]}


def ours(swinscope, run):
    command = [swinscope, "stragglers", run, "--format", "json", "--quiet"]
    begin = time.monotonic()
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    seconds = time.monotonic() - begin
    if done.returncode != 0:
        raise ToolError(f"{' '.join(map(str, command))} exits {done.returncode}: {done.stderr.strip()[-500:]}")
    facts = json.loads(done.stdout)["data"]
    shares = {"M_W": facts["slowest_removed_percent"], "M_S": facts["last_stage_removed_percent"]}
    return {"S": facts["slowdown"], **{name: share / 100 for name, share in shares.items()}}, facts, seconds


def is_near(figure, expected, found):
    tolerance = SLOWDOWN_TOLERANCE * expected if figure == "S" else SHARE_TOLERANCE
    return abs(found - expected) <= tolerance


def compare_job(job, arguments, folder):
    expected = published(arguments.data, job)
    world_size = pipeline_job.world_size_of(arguments.data / f"meta-{job}.yaml")
    trace = pipeline_job.Job(arguments.data / f"trace-{job}.parquet", world_size)
    pipeline_job.write_run(trace, folder)
    found, facts, seconds = ours(arguments.swinscope, folder)
    print(f"{job}: {len(trace.workers)} workers of {trace.world_size} ranks, {facts['steps']} steps, slowest: "
          f"{facts['slowest_ranks']}; replay error {facts['replay_error_percent']:.2f} %; swinscope took {seconds:.1f} s")
    rows = []
    for figure in FIGURES:
        near = is_near(figure, expected[figure], found[figure])
        rows.append([job, figure, expected[figure], found[figure], near])
        print(f"  {figure:4} published {expected[figure]:9.6f}  swinscope {found[figure]:9.6f}  {'' if near else 'DIFFERS'}")
    return rows


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--swinscope", required=True, type=pathlib.Path)
    parser.add_argument("--data", required=True, type=pathlib.Path, help="data/ of StragglerAnalysis")
    parser.add_argument("--jobs", default="AR,SE,ST", type=lambda text: text.split(","))
    parser.add_argument("--keep", type=pathlib.Path, help="keep the runs that the traces become here")
    parser.add_argument("--csv", type=pathlib.Path)
    return parser.parse_args()


def main():
    arguments = parse_arguments()
    rows = []
    with tempfile.TemporaryDirectory() as temporary:
        for job in arguments.jobs:
            rows += compare_job(job, arguments, (arguments.keep or pathlib.Path(temporary)) / job)
    if arguments.csv:
        with arguments.csv.open("w", newline="") as file:
            csv.writer(file).writerows([["job", "figure", "published", "swinscope", "is_near"], *rows])
    return 0 if all(row[-1] for row in rows) else 1


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (OSError, ToolError, ValueError, KeyError, ImportError) as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(2)
