#!/usr/bin/env python3
"""Runs every skill of nsys-ai on recordings of swinscope, and compares its figures with swinscope's own.

    tests/peers/nsys_clients/nsys_ai_skills.py --swinscope PATH/TO/swinscope [--venv DIR] RECORDING.db...

makes the virtual environment on first use (requirements.txt; it needs the network once). For each skill one line: what it gave,
why it abstained, or the error. The kernels' and copies' times, counts and bytes are compared with `swinscope kernels --scope trace`.
Exit 1: a skill ended with an error, or a figure differs by more than nsys-ai rounds.
"""
import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import venv

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.join(HERE, "..", "..", "..")
# These ask for what no trace has: a model's sizes, a region's name, another tool's files.
NEED_PARAMETERS = "*"


def client(folder):
    program = os.path.join(folder, "bin", "nsys-ai")
    if not os.path.exists(program):
        venv.create(folder, with_pip=True)
        subprocess.run([os.path.join(folder, "bin", "pip"), "install", "--quiet", "-r", os.path.join(HERE, "requirements.txt")], check=True)
    return program


def skills(program):
    lines = subprocess.run([program, "skill", "list"], capture_output=True, text=True, check=True).stdout.splitlines()[2:]
    words = [line.split() for line in lines if line and not line.startswith("*") and not line.startswith(" ")]
    return [line[0] for line in words if len(line) > 2 and line[1] != NEED_PARAMETERS]


def run(program, skill, recording, *parameters):
    """(rows or None, what was said)"""
    command = [program, "skill", "run", skill, recording, "--format", "json", "--no-cache"]
    for parameter in parameters:
        command += ["-p", parameter]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600)
    if done.returncode != 0:
        said = (done.stderr or done.stdout).strip().splitlines()
        return None, f"FAULT rc {done.returncode}: {said[-1] if said else ''}"
    try:
        rows = json.loads(done.stdout)
    except json.JSONDecodeError:
        return None, "FAULT no JSON: " + done.stdout.strip()[:120]
    rows = rows if isinstance(rows, list) else [rows]
    for row in rows:
        if isinstance(row, dict) and ("error" in row or "_error" in row):
            said = str(row.get("error", row.get("_error")))
            # DuckDB takes its SQLite reader from the network.
            return (rows, "needs an extension of DuckDB") if "'kernels' view" in said else (None, f"FAULT {said}")
        if isinstance(row, dict) and (row.get("_abstained") or row.get("_diagnostic")):
            return rows, "abstains: " + str(row.get("reason") or row.get("message"))
    return rows, f"{len(rows)} rows"


def kernels(swinscope, recording):
    command = [swinscope, "kernels", recording, "--scope", "trace", "--names", "full", "--format", "json", "-q"]
    return json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)["data"]


def differs(name, ours, theirs, rounding):
    if abs(ours - theirs) <= rounding:
        return 0
    print(f"  DIFFERS {name}: swinscope {ours}, nsys-ai {theirs}")
    return 1


def compare(program, swinscope, recording, copy):
    """Figures that both have. nsys-ai prints milliseconds and MB with two digits."""
    faults = compared = 0
    ours = kernels(swinscope, recording)
    total = {}
    for row in ours:
        if row["operation"] not in ("copy", "set", "memcpy", "memset"):
            name = row["full_name"]
            count, time = total.get(name, (0, 0))
            total[name] = (count + row["calls"], time + row["total_ns"])
    theirs, _ = run(program, "top_kernels", copy, "limit=1000000")
    for row in theirs or []:
        if row.get("kernel_name") not in total:
            continue
        count, time = total[row["kernel_name"]]
        compared += 2
        faults += differs(row["kernel_name"][:60] + " calls", count, row["invocations"], 0)
        faults += differs(row["kernel_name"][:60] + " ms", time / 1e6, row["total_ms"], 0.00501)
    query = ("SELECT copyKind, count(*) AS copies, sum(bytes) AS bytes, sum(end - start) AS ns FROM CUPTI_ACTIVITY_KIND_MEMCPY "
             "GROUP BY copyKind")
    done = subprocess.run([swinscope, "query", recording, query, "--format", "json"], capture_output=True, text=True, check=True)
    copies = {row["copyKind"]: row for row in json.loads(done.stdout)["data"]}
    theirs, _ = run(program, "memory_transfers", copy)
    for row in theirs or []:
        if "copyKind" not in row:
            continue
        own = copies[row["copyKind"]]
        compared += 3
        faults += differs(f"copies of kind {row['copyKind']}", own["copies"], row["count"], 0)
        faults += differs(f"MB of kind {row['copyKind']}", own["bytes"] / 1e6, row["total_mb"], 0.00501)
        faults += differs(f"ms of kind {row['copyKind']}", own["ns"] / 1e6, row["total_ms"], 0.00501)
    print(f"  {compared} figures compared, {faults} differ")
    return faults if compared else 1


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("recordings", nargs="+")
    parser.add_argument("--swinscope", required=True)
    parser.add_argument("--venv", default=os.path.join(ROOT, "build", "peers", "nsys-ai-venv"))
    arguments = parser.parse_args()
    program = client(arguments.venv)
    faults = 0
    for original in arguments.recordings:
        print(f"## {original}")
        # nsys-ai writes indexes into the file that it reads, and a cache beside it.
        folder = tempfile.mkdtemp()
        recording = shutil.copy(original, folder)
        for skill in skills(program):
            rows, said = run(program, skill, recording)
            faults += rows is None
            print(f"  {skill}: {said}")
        faults += compare(program, arguments.swinscope, original, recording)
        shutil.rmtree(folder)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
