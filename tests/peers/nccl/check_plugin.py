#!/usr/bin/env python3
"""What `record --trace …,nccl` costs a job of two GPUs, and whether it finds all of its collectives.

usage: python3 tests/peers/nccl/check_plugin.py --swinscope PROGRAM [-o FOLDER] [--repeats 5] [--steps 100] [--limit PERCENT]

Records allreduce_job.py with `--trace nvtx`, where nothing else costs a GPU anything, without and with NCCL's plugin, in turn, and
prints for each kind of step the median over the repeats, the cost in per cent and how far the repeats spread. Then, of one recording
with `cuda,nvtx,nccl`: kernels of NCCL, those that the plugin's operations are joined to, those with a sequence number, channels
with times (NCCL keeps 64 launches of a channel: of more at once it tells the times of others) and the error of these, and the kernels that `swinscope collectives` leaves unmatched. Needs torch, NCCL 2.28 or newer
and two GPUs. With scripts/gpu_run.sh where libraries have to be found:

    scripts/gpu_run.sh python3 tests/peers/nccl/check_plugin.py --swinscope bin/swinscope

exit: 0 everything is joined and matched; 1 something is not, or a cost is over --limit; 2 the job cannot be recorded.
"""
import argparse
import json
import pathlib
import sqlite3
import statistics
import subprocess
import sys

HERE = pathlib.Path(__file__).parent


def run(command):
    done = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    if done.returncode != 0:
        print(f"{' '.join(map(str, command))}: status {done.returncode}\n{done.stdout[-2000:]}\n{done.stderr[-4000:]}", file=sys.stderr)
        sys.exit(2)
    return done


def record(arguments, name, trace):
    """The job's own figures; its recording is in the folder."""
    folder = pathlib.Path(arguments.output) / name
    figures = folder.with_suffix(".json")
    command = [arguments.swinscope, "record", "--force", "-o", folder, "--trace", trace, "--", sys.executable, "-m",
               "torch.distributed.run", "--standalone", "--nproc_per_node", arguments.gpus, HERE / "allreduce_job.py",
               "--steps", arguments.steps, "--json", figures]
    said = run(command).stderr
    for line in said.splitlines():
        if line.startswith("swinscope:"):
            print(f"  {name}: {line}", flush=True)
    return json.loads(figures.read_text(encoding="utf-8"))


def cost(arguments):
    """Prints the table; the largest cost in per cent that is beyond the spread of the repeats."""
    runs = {"without": [], "with": []}
    for repeat in range(arguments.repeats):
        for kind, trace in (("without", "nvtx"), ("with", "nvtx,nccl")):
            runs[kind].append(record(arguments, f"{kind}{repeat}", trace))
    first = runs["with"][0]
    print(f"{first['gpu']}, {arguments.gpus} GPUs, PyTorch {first['torch']}, NCCL {first['nccl']}; medians of {arguments.repeats} "
          f"runs of {arguments.steps} steps")
    print(f"{'step':10} {'without ms':>11} {'with ms':>9} {'cost %':>8} {'spread %':>9}")
    worst = 0.0
    for step in first["ms"]:
        medians = {kind: [one["ms"][step][1] for one in all_runs] for kind, all_runs in runs.items()}
        before, after = (statistics.median(medians[kind]) for kind in ("without", "with"))
        percent = 100 * (after / before - 1)
        spread = 100 * max((max(values) - min(values)) / before for values in medians.values())
        print(f"{step:10} {before:11.4f} {after:9.4f} {percent:8.2f} {spread:9.2f}")
        worst = max(worst, percent if percent > spread else 0.0)
    return worst


def one(database, query):
    return database.execute(query).fetchone()[0]


KERNELS = "CUPTI_ACTIVITY_KIND_KERNEL WHERE shortName IN (SELECT id FROM StringIds WHERE value LIKE 'nccl%')"


def look_at(path):
    """Of one rank's file: what was counted, by name."""
    database = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    errors = [row[0] for row in database.execute("SELECT errorNs FROM SWINSCOPE_NCCL_CHANNEL WHERE errorNs IS NOT NULL")]
    joined = "SELECT DISTINCT correlationId, coalesce(graphNodeId, 0) FROM SWINSCOPE_NCCL_OPERATION WHERE correlationId IS NOT NULL"
    return {
        "kernels": one(database, f"SELECT count(*) FROM {KERNELS}"),
        "in graphs": one(database, f"SELECT count(*) FROM {KERNELS} AND graphNodeId IS NOT NULL"),
        "joined": one(database, f"SELECT count(*) FROM ({joined})"),
        "numbered": one(database, "SELECT count(*) FROM SWINSCOPE_COLLECTIVE WHERE seq IS NOT NULL"),
        "operations": one(database, "SELECT count(*) FROM SWINSCOPE_NCCL_OPERATION"),
        "channels": one(database, "SELECT count(*) FROM SWINSCOPE_NCCL_CHANNEL"),
        "timed": len(errors),
        "error us": round(statistics.median(errors) / 1000, 2) if errors else None,
        "dropped": one(database, "SELECT coalesce(sum(count), 0) FROM SWINSCOPE_DROPS"),
    }


def matched(arguments):
    """Prints what the recording has; whether nothing is missing."""
    record(arguments, "traced", "cuda,nvtx,nccl")
    folder = pathlib.Path(arguments.output) / "traced"
    is_whole = True
    for path in sorted(folder.glob("rank?.db")):
        found = look_at(path)
        print(f"{path.name}: " + ", ".join(f"{name} {value}" for name, value in found.items()))
        is_whole = is_whole and found["kernels"] == found["joined"] > 0 and found["channels"] > 0
    text = run([arguments.swinscope, "collectives", folder, "--scope", "trace", "--format", "json"]).stdout
    data = json.loads(text)["data"]
    rows = data if isinstance(data, list) else data["collectives"]
    unmatched = sum(row["collectives"] for row in rows if row["matched_by"] == "not matched")
    print(f"unmatched by swinscope collectives: {unmatched}")
    return is_whole and unmatched == 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--swinscope", required=True)
    parser.add_argument("-o", "--output", default="runs/nccl_plugin")
    parser.add_argument("--gpus", type=int, default=2)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--limit", type=float, help="exit with 1 where a step costs more than so many per cent")
    arguments = parser.parse_args()
    pathlib.Path(arguments.output).mkdir(parents=True, exist_ok=True)
    is_whole = matched(arguments)
    worst = cost(arguments)
    print(f"largest cost beyond the spread: {worst:.2f} %; {'everything' if is_whole else 'NOT everything'} is joined and matched")
    return 0 if is_whole and (arguments.limit is None or worst <= arguments.limit) else 1


if __name__ == "__main__":
    sys.exit(main())
