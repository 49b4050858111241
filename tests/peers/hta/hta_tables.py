#!/usr/bin/env python3
"""Runs Holistic Trace Analysis on a folder of traces and writes its tables as JSON. compare_hta.py starts it.

usage: hta_tables.py FOLDER -o FILE.json [--every-kernel]

Without --every-kernel it is what is timed: HTA's four analyses with their defaults, nothing of our own. With it, the kernel
breakdown runs a second time without the limit of ten kernels, and launches are counted in HTA's own event frame, because
HTA's kernel table has no count. NaN becomes null.
"""
import argparse
import json
import logging
import warnings

warnings.simplefilter("ignore")
logging.disable(logging.WARNING)

from hta.trace_analysis import TraceAnalysis  # noqa: E402  (after the warnings are silenced)

NO_LIMIT = 10**9
COLUMNS = {
    "idle_time(us)": "idle_time_us",
    "compute_time(us)": "compute_time_us",
    "non_compute_time(us)": "non_compute_time_us",
    "kernel_time(us)": "kernel_time_us",
    "idle_time": "idle_time_us",
    "sum": "sum_us",
    "sum (us)": "sum_us",
    "max (us)": "max_us",
    "min (us)": "min_us",
    "mean (us)": "mean_us",
}


def rows(frame):
    """A data frame's rows with our column names; 15 decimals are more than HTA's own rounding leaves."""
    renamed = frame.rename(columns=COLUMNS)
    return json.loads(renamed.to_json(orient="records", double_precision=15))


def count_launches(traces, kernels):
    """Adds `count`: rows on a stream with the kernel's name, in the frame that HTA made its table from."""
    counts = {}
    for rank, frame in traces.traces.items():
        names = frame.loc[frame["stream"] != -1, "name"].value_counts()
        for symbol, count in names.items():
            counts[rank, traces.symbol_table.get_sym_table()[symbol]] = int(count)
    for kernel in kernels:
        kernel["count"] = counts[kernel["rank"], kernel["name"]]


def run_analyses(folder, every_kernel):
    analysis = TraceAnalysis(trace_dir=folder)
    idle, _ = analysis.get_idle_time_breakdown(ranks=analysis.t.get_ranks(), visualize=False)
    kernel_types, top_kernels = analysis.get_gpu_kernel_breakdown(visualize=False)
    tables = {
        "temporal_breakdown": rows(analysis.get_temporal_breakdown(visualize=False)),
        "idle_breakdown": rows(idle),
        "comm_comp_overlap": rows(analysis.get_comm_comp_overlap(visualize=False)),
        "kernel_types": rows(kernel_types),
        "top_kernels": rows(top_kernels),
    }
    if every_kernel:
        _, kernels = analysis.get_gpu_kernel_breakdown(visualize=False, num_kernels=NO_LIMIT)
        tables["kernels"] = rows(kernels)
        count_launches(analysis.t, tables["kernels"])
    return tables


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", help="a folder that holds the traces of one job, one file a rank")
    parser.add_argument("-o", "--output", required=True, help="the JSON file to write")
    parser.add_argument("--every-kernel", action="store_true", help="add the unlimited kernel table with counts")
    options = parser.parse_args()
    with open(options.output, "w", encoding="utf-8") as output:
        json.dump(run_analyses(options.folder, options.every_kernel), output)


if __name__ == "__main__":
    main()
