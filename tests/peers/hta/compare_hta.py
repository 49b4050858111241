#!/usr/bin/env python3
"""Compares `swinscope analyze --definition hta` with Holistic Trace Analysis, figure by figure, and times both.

usage: compare_hta.py --swinscope PATH [TRACE] [--runs N] [--synthetic N] [--venv DIR] [--csv FILE]

TRACE is a Kineto .json or .json.gz; without it, the real trace in data/. HTA is installed from requirements.txt (pinned) into
a virtual environment on first use, which needs the network. Every figure of HTA's tables must be within --tolerance, relative
(0.1 %); a figure that HTA gives as zero or as not a number must be the same here, and neither side may have extra rows.

--synthetic N adds N generated traces (and N exotic ones): the real trace is of one GPU and one stream, so HTA's overlap is
not a number there, and several streams, NCCL kernels and dropped steps would go unseen.

The times are those of whole processes, from start to exit, medians of --runs. HTA's process does its four analyses only.

exit: 0 all equal; 1 a figure differs or --min-speedup is missed; 2 wrong usage, or one of the tools cannot be run.
"""
import argparse
import csv
import hashlib
import json
import math
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

import synthetic_trace

HERE = pathlib.Path(__file__).resolve().parent
REPOSITORY = HERE.parents[2]
DEFAULT_TRACE = REPOSITORY / "data" / "pytorch_swinv2b_upernet_amp_1gpu.kineto.json.gz"
DEFAULT_VENV = REPOSITORY / "build" / "peers" / "hta-venv"
REQUIREMENTS = HERE / "requirements.txt"
SCHEMA = "swinscope.hta/1"
SECONDS_LIMIT = 600
HTA_DEFAULT_NAMES = 10
HTA_DURATION_RATIO = 0.8

# Table: (columns that name a row, columns that are compared).
KERNEL_FIGURES = ["sum_us", "max_us", "min_us", "mean_us", "stddev"]
TABLES = {
    "temporal_breakdown": (["rank"], ["idle_time_us", "compute_time_us", "non_compute_time_us", "kernel_time_us",
                                      "idle_time_pctg", "compute_time_pctg", "non_compute_time_pctg"]),
    "idle_breakdown": (["rank", "stream", "idle_category"], ["idle_time_us", "idle_time_ratio"]),
    "comm_comp_overlap": (["rank"], ["comp_comm_overlap_pctg"]),
    "kernel_types": (["kernel_type"], ["sum_us", "percentage"]),
    "top_kernels": (["rank", "kernel_type", "name"], KERNEL_FIGURES),
    "kernels": (["rank", "kernel_type", "name"], KERNEL_FIGURES + ["count"]),
}


class ToolError(Exception):
    """One of the two tools could not be run."""


def run_process(command, stdout_path=None):
    """Runs to the end and returns the wall time in seconds; raises ToolError with the end of stderr."""
    with open(stdout_path or os.devnull, "wb") as output:
        begin = time.perf_counter()
        try:
            done = subprocess.run(command, stdout=output, stderr=subprocess.PIPE, timeout=SECONDS_LIMIT, check=False)
        except (OSError, subprocess.TimeoutExpired) as error:
            raise ToolError(f"cannot run {command[0]}: {error}") from error
        seconds = time.perf_counter() - begin
    if done.returncode != 0:
        tail = done.stderr.decode("utf-8", "replace")[-1500:]
        raise ToolError(f"exit {done.returncode}: {' '.join(map(str, command))}\n{tail}")
    return seconds


def prepare_venv(folder):
    """Creates or updates the environment; returns its python. A stamp keeps later runs off the network."""
    python = folder / "bin" / "python"
    stamp = folder / "requirements.sha256"
    wanted = hashlib.sha256(REQUIREMENTS.read_bytes()).hexdigest()
    if python.exists() and stamp.exists() and stamp.read_text(encoding="ascii") == wanted:
        return python
    print(f"installing HTA into {folder}", file=sys.stderr)
    run_process([sys.executable, "-m", "venv", "--clear", folder])
    run_process([python, "-m", "pip", "install", "--quiet", "--no-deps", "-r", REQUIREMENTS])
    stamp.write_text(wanted, encoding="ascii")
    return python


class Hta:
    """HTA on one trace: it reads folders, so the trace is linked into one of its own."""

    def __init__(self, python, trace, scratch):
        self.python_ = python
        self.folder_ = pathlib.Path(tempfile.mkdtemp(dir=scratch))
        self.output_ = pathlib.Path(scratch) / "hta.json"
        (self.folder_ / trace.name).symlink_to(trace.resolve())

    def run(self, *flags):
        return run_process([self.python_, HERE / "hta_tables.py", self.folder_, "-o", self.output_, *flags])

    def tables(self):
        self.run("--every-kernel")
        return json.loads(self.output_.read_text(encoding="utf-8"))


class Swinscope:
    """The program under test on one trace."""

    def __init__(self, program, trace, scratch):
        self.command_ = [program, "analyze", trace, "--definition", "hta", "--format", "json"]
        self.output_ = pathlib.Path(scratch) / "swinscope.json"

    def run(self):
        return run_process(self.command_, self.output_)

    def tables(self):
        self.run()
        try:
            document = json.loads(self.output_.read_text(encoding="utf-8"))
            if document["schema"] != SCHEMA:
                raise ToolError(f"swinscope wrote schema {document['schema']}, not {SCHEMA}")
            return {table: document["data"][table] for table in TABLES}
        except (ValueError, KeyError, TypeError) as error:
            raise ToolError(f"swinscope's output is not what we expect: {error!r}") from error


def compare_figure(theirs, ours, tolerance):
    """Returns (equal, relative difference); None stands for not a number, which equals only itself."""
    if theirs is None or ours is None:
        return theirs is None and ours is None, 0.0 if theirs is ours else math.inf
    if not all(isinstance(value, (int, float)) for value in (theirs, ours)):
        return False, math.inf
    if theirs == 0:
        return ours == 0, 0.0 if ours == 0 else math.inf
    difference = abs(ours - theirs) / abs(theirs)
    return difference <= tolerance, difference


def quantile(values, share):
    ordered = sorted(values)
    position = (len(ordered) - 1) * share
    low = math.floor(position)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (position - low) * (ordered[high] - ordered[low])


def tied_cuts(kernels):
    """The (rank, kernel type) where HTA's limit on names falls between two equal sums: which one it names is undefined."""
    groups = {}
    for kernel in kernels:
        groups.setdefault((kernel["rank"], kernel["kernel_type"]), []).append(kernel["sum_us"])
    tied = set()
    for group, sums in groups.items():
        sums.sort(reverse=True)
        if len(sums) <= HTA_DEFAULT_NAMES:
            continue
        running = [sum(sums[: k + 1]) for k in range(len(sums))]
        limit = quantile(running, HTA_DURATION_RATIO)
        beyond = [k for k, total in enumerate(running) if total > limit]
        cut = min(beyond + [HTA_DEFAULT_NAMES])
        if sums[cut - 1] == sums[cut]:
            tied.add(group)
    return tied


def index_rows(table, rows, skipped):
    """Rows by their naming columns. HTA may list a kernel type with zero time, which says nothing: left out."""
    keys, _ = TABLES[table]
    indexed = {}
    for row in rows:
        if table == "kernel_types" and row.get("sum_us") == 0:
            continue
        if table == "top_kernels" and (row.get("rank"), row.get("kernel_type")) in skipped:
            continue
        key = tuple(row.get(column) for column in keys)
        if key in indexed:
            raise ToolError(f"two rows {key} in {table}")
        indexed[key] = row
    return indexed


def compare_tables(theirs, ours, tolerance):
    """Yields (table, row, figure, HTA's, ours, relative difference, equal) for every figure and every missing row."""
    skipped = tied_cuts(theirs["kernels"])
    for table, (_, figures) in TABLES.items():
        their_rows = index_rows(table, theirs[table], skipped)
        our_rows = index_rows(table, ours[table], skipped)
        for key in their_rows.keys() | our_rows.keys():
            if key not in their_rows or key not in our_rows:
                there, here = ("row" if key in rows else "no row" for rows in (their_rows, our_rows))
                yield table, key, "row", there, here, math.inf, False
                continue
            for figure in figures:
                their_value, our_value = their_rows[key].get(figure), our_rows[key].get(figure, "missing")
                equal, difference = compare_figure(their_value, our_value, tolerance)
                yield table, key, figure, their_value, our_value, difference, equal


def show_value(value):
    if value is None:
        return "nan"
    return f"{value:.10g}" if isinstance(value, float) else str(value)


def show_line(result):
    table, key, figure, theirs, ours, difference, equal = result
    name = " ".join(str(part) for part in key)
    name = name if len(name) <= 48 else name[:45] + "..."
    verdict = "" if equal else "  DIFFERS"
    print(f"  {table:18} {name:48} {figure:22} {show_value(theirs):>12} {show_value(ours):>12} {difference:10.2%}{verdict}")


def show_results(title, results, verbose):
    """Prints the short tables whole and the kernels as one line a figure, unless verbose; every difference always."""
    print(f"{title}: {len(results)} figures")
    print(f"  {'table':18} {'row':48} {'figure':22} {'HTA':>12} {'swinscope':>12} {'difference':>10}")
    order = {table: position for position, table in enumerate(TABLES)}
    results.sort(key=lambda result: (order[result[0]], str(result[1])))
    for result in results:
        if verbose or result[0] not in ("top_kernels", "kernels") or not result[6]:
            show_line(result)
    for table in ("top_kernels", "kernels"):
        for figure in TABLES[table][1]:
            part = [result for result in results if result[0] == table and result[2] == figure]
            worst = max((result[5] for result in part), default=0.0)
            print(f"  {table:18} {f'all {len(part)} names':48} {figure:22} {'':>12} {'':>12} {worst:10.2%}  (largest)")


def write_csv(path, trace_results):
    with open(path, "w", newline="", encoding="utf-8") as output:
        writer = csv.writer(output)
        writer.writerow(["trace", "table", "row", "figure", "hta", "swinscope", "relative_difference", "equal"])
        for title, results in trace_results:
            for table, key, figure, theirs, ours, difference, equal in results:
                writer.writerow([title, table, " ".join(map(str, key)), figure, show_value(theirs), show_value(ours),
                                 difference, equal])


def compare_trace(options, python, trace, title, scratch):
    theirs = Hta(python, trace, scratch).tables()
    ours = Swinscope(options.swinscope, trace, scratch).tables()
    return title, list(compare_tables(theirs, ours, options.tolerance))


def compare_synthetic(options, python, scratch):
    """Generated traces: a line each, and the differences where there are any."""
    collected = []
    for exotic in (False, True):
        for seed in range(1, options.synthetic + 1):
            title = f"synthetic{'-exotic' if exotic else ''}-{seed}"
            trace = pathlib.Path(scratch) / f"{title}.json"
            synthetic_trace.write_trace(trace, seed, exotic)
            title, results = compare_trace(options, python, trace, title, scratch)
            differing = [result for result in results if not result[6]]
            print(f"{title}: {len(results)} figures, {len(differing)} differ")
            for result in differing:
                show_line(result)
            collected.append((title, results))
    return collected


def measure_times(options, python, scratch):
    """Prints both medians and returns how many times faster swinscope is. Runs alternate, so that a slow phase hits both."""
    hta = Hta(python, options.trace, scratch)
    swinscope = Swinscope(options.swinscope, options.trace, scratch)
    times = {"HTA": [], "swinscope": []}
    for _ in range(options.runs):
        times["HTA"].append(hta.run())
        times["swinscope"].append(swinscope.run())
    for tool, seconds in times.items():
        middle = statistics.median(seconds)
        print(f"{tool:9} {middle:8.3f} s  (median of {len(seconds)} processes, {min(seconds):.3f} to {max(seconds):.3f})")
    speedup = statistics.median(times["HTA"]) / statistics.median(times["swinscope"])
    print(f"swinscope is {speedup:.1f} times faster on {os.cpu_count()} CPUs")
    return speedup


def parse_options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("trace", nargs="?", type=pathlib.Path, default=DEFAULT_TRACE)
    parser.add_argument("--swinscope", required=True, type=pathlib.Path, help="the built program")
    parser.add_argument("--venv", type=pathlib.Path, default=DEFAULT_VENV, help="HTA's environment, made when missing")
    parser.add_argument("--runs", type=int, default=3, help="timed runs of each tool; 0: no timing")
    parser.add_argument("--min-speedup", type=float, default=0.0, help="fail when swinscope is not this many times faster")
    parser.add_argument("--tolerance", type=float, default=0.001, help="largest relative difference")
    parser.add_argument("--synthetic", type=int, default=0, help="also compare on this many generated traces of each kind")
    parser.add_argument("--csv", type=pathlib.Path, help="write every compared figure")
    parser.add_argument("--verbose", action="store_true", help="print every kernel's figures")
    options = parser.parse_args()
    if not options.trace.is_file():
        parser.error(f"no trace {options.trace}")
    if not options.trace.name.endswith((".json", ".json.gz")):
        parser.error("HTA reads .json and .json.gz only")
    if options.runs < 0 or options.synthetic < 0:
        parser.error("--runs and --synthetic must not be negative")
    if options.min_speedup > 0 and options.runs == 0:
        parser.error("--min-speedup needs --runs")
    options.swinscope = options.swinscope.resolve()
    options.venv = options.venv.absolute()
    return options


def run_comparison(options):
    python = prepare_venv(options.venv)
    with tempfile.TemporaryDirectory() as scratch:
        compared = [compare_trace(options, python, options.trace, options.trace.name, scratch)]
        show_results(*compared[0], options.verbose)
        compared += compare_synthetic(options, python, scratch)
        speedup = measure_times(options, python, scratch) if options.runs > 0 else math.inf
    if options.csv:
        write_csv(options.csv, compared)
    differing = sum(not result[6] for _, results in compared for result in results)
    figures = sum(len(results) for _, results in compared)
    print(f"{figures - differing} of {figures} figures equal within {options.tolerance:.3%}")
    if speedup < options.min_speedup:
        print(f"slower than asked: {speedup:.1f} times, not {options.min_speedup:g}")
    return 1 if differing or speedup < options.min_speedup else 0


def main():
    options = parse_options()
    try:
        return run_comparison(options)
    except ToolError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
