#!/usr/bin/env python3
"""What swinscope, nsys-ai and Holistic Trace Analysis find of the faults of data/planted, as a table for docs/planted.md.

    tests/peers/planted/planted_scores.py --swinscope PATH/TO/swinscope [--nsys-ai PROGRAM] [--hta PYTHON]

PROGRAM is nsys-ai 0.3.0's (pip install nsys-ai), PYTHON an interpreter that has HTA (tests/peers/hta/requirements.txt); a peer that
is not given is left out, and said. How each is judged:

  swinscope   the checks of expected.json, all of them, as planted_test has them
  nsys-ai     root_cause_matcher on the imported trace of rank 0: found where one of its patterns says a word of `found` (expected.json),
              wrong where one says a word of `wrong`; patterns of severity info count for `found` only
  HTA         has no findings but figures: found where its own figure singles the fault out (RULES below says which)
"""
import argparse
import json
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
PLANTED = os.path.join(HERE, "..", "..", "..", "data", "planted")

# Run by HTA's interpreter: the fault's figures as JSON.
HTA_PROGRAM = r"""
import json, logging, sys
logging.disable(logging.CRITICAL)
from hta.trace_analysis import TraceAnalysis
files = {i: f for i, f in enumerate(sys.argv[1:])}
analysis = TraceAnalysis(trace_files=files, trace_dir="/")
times = analysis.get_temporal_breakdown(visualize=False)
idle, _ = analysis.get_idle_time_breakdown(ranks=sorted(files), visualize=False)
overlap = analysis.get_comm_comp_overlap(visualize=False)
print(json.dumps({
    "idle_pctg": list(times["idle_time_pctg"]), "compute": list(times["compute_time(us)"]),
    "host_wait": float(idle[idle.idle_category == "host_wait"].idle_time.sum()), "idle": float(idle.idle_time.sum()),
    "overlap": list(overlap["comp_comm_overlap_pctg"])}))
"""


def is_host_bound(figures):
    return max(figures["idle_pctg"]) > 50 and figures["host_wait"] > 0.5 * figures["idle"]


# fault -> what of HTA's figures singles it out; None: it has no figure for it.
RULES = {
    "healthy": lambda f: max(f["idle_pctg"]) < 10,
    "healthy_two_ranks": lambda f: max(f["idle_pctg"]) < 10 and min(f["overlap"]) > 50,
    "host_gaps": is_host_bound,
    "sync_each_kernel": None,
    "tiny_kernels": is_host_bound,
    "input_wait": None,
    "pageable_copies": None,
    "fp32_products": None,
    "slow_rank": lambda f: max(f["compute"]) > 1.1 * min(f["compute"]),
    "late_collective": lambda f: max(f["overlap"]) < 5,
    "slow_kernel": None,
}


def traces(fault):
    folder = os.path.join(PLANTED, fault, "trace")
    return [os.path.join(folder, name) for name in sorted(os.listdir(folder))]


def at(document, pointer):
    for key in pointer.strip("/").split("/"):
        document = document[int(key)] if isinstance(document, list) else (document or {}).get(key)
    return document


def of_swinscope(program, fault, expected):
    """'found', or what is missing and what is wrong."""
    misses, wrong = 0, 0
    for check in expected["checks"]:
        words = [word.replace("{trace}", os.path.join(PLANTED, fault, "trace")) for word in check["command"].split()]
        done = subprocess.run([program, *words, "--format", "json"], capture_output=True, text=True, check=False)
        misses += done.returncode != check.get("status", 0)
        document = json.loads(done.stdout)
        misses += sum(at(document, place) != value for place, value in check.get("expect", {}).items())
        said = [(json.dumps(at(document, place)), text) for place, texts in check.get("says", {}).items() for text in texts]
        misses += sum(text not in where for where, text in said)
        not_said = [(json.dumps(at(document, place)), text) for place, texts in check.get("says_not", {}).items() for text in texts]
        wrong += sum(text in where for where, text in not_said)
    return judged(not misses, wrong)


def judged(found, wrong):
    return ("found" if found else "not found") + (f", {wrong} wrong" if wrong else "")


def patterns_of(nsys_ai, swinscope, fault):
    with tempfile.TemporaryDirectory() as folder:
        run = os.path.join(folder, "run")
        subprocess.run([swinscope, "import", *traces(fault), "-o", run], check=True, capture_output=True)
        done = subprocess.run([nsys_ai, "skill", "run", "root_cause_matcher", os.path.join(run, "rank0.db"), "--format", "json",
                               "--no-cache"], capture_output=True, text=True, check=False)
    return json.loads(done.stdout[done.stdout.index("["):])


def of_nsys_ai(nsys_ai, swinscope, fault, expected):
    if fault == "slow_kernel":
        return "not run"  # `nsys-ai diff` wants exports with a session of its own
    patterns = patterns_of(nsys_ai, swinscope, fault)
    words = expected["words"]
    texts = [(pattern.get("severity"), " ".join(str(pattern.get(key, "")) for key in ("pattern", "evidence", "recommendation")))
             for pattern in patterns]
    alarms = [text for severity, text in texts if severity != "info"]
    found = not alarms if not words["found"] else any(re.search(words["found"], text, re.I) for _, text in texts)
    wrong = sum(bool(words["wrong"] and re.search(words["wrong"], text, re.I)) for text in alarms)
    return judged(found, wrong)


def of_hta(python, fault):
    rule = RULES[fault]
    if rule is None:
        return "no figure"
    done = subprocess.run([python, "-c", HTA_PROGRAM, *traces(fault)], capture_output=True, text=True, check=False)
    lines = [line for line in done.stdout.splitlines() if line.startswith("{")]
    if not lines:
        return "error: " + done.stderr.strip().splitlines()[-1][:80]
    return judged(rule(json.loads(lines[-1])), 0)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--swinscope", required=True)
    parser.add_argument("--nsys-ai", dest="nsys_ai")
    parser.add_argument("--hta")
    options = parser.parse_args()
    for name, given in (("nsys-ai", options.nsys_ai), ("HTA", options.hta)):
        if not given:
            print(f"{name} is left out: it is not given", file=sys.stderr)
    print("| fault | what was planted | swinscope | nsys-ai 0.3.0 | HTA 0.5.0 |\n|---|---|---|---|---|")
    for fault in sorted(os.listdir(PLANTED), key=list(RULES).index):
        with open(os.path.join(PLANTED, fault, "expected.json"), encoding="utf-8") as file:
            expected = json.load(file)
        row = [of_swinscope(options.swinscope, fault, expected),
               of_nsys_ai(options.nsys_ai, options.swinscope, fault, expected) if options.nsys_ai else "-",
               of_hta(options.hta, fault) if options.hta else "-"]
        print(f"| `{fault}` | {expected['fault']} | {' | '.join(row)} |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
