#!/usr/bin/env python3
"""The advisor against PyTorch: what `swinscope advise` predicts for variants of programs from the trace of the eager program alone, beside
what each variant takes without a recorder.

usage: python3 tests/peers/advisor/predict_and_measure.py all --out DIR --swinscope PATH/TO/swinscope     the four phases below
       python3 tests/peers/advisor/predict_and_measure.py record --out DIR     times of the eager programs, and a trace of each
       python3 tests/peers/advisor/predict_and_measure.py predict --out DIR --swinscope PATH     from the traces; needs no GPU
       python3 tests/peers/advisor/predict_and_measure.py measure --out DIR     times of the variants
       python3 tests/peers/advisor/predict_and_measure.py table --out DIR     in Markdown
       python3 tests/peers/advisor/predict_and_measure.py replay --out DIR --swinscope PATH      the eager steps as they are, replayed
       python3 tests/peers/advisor/predict_and_measure.py cards TRACE… --swinscope PATH     kinds of changes found in any traces

Needs torch and timm, and a GPU (--device cpu --smoke runs the flow without one; there nothing can be predicted). DIR/results.json keeps
everything, DIR/ledger.json the predictions as swinscope wrote them. What was predicted for a variant after it was measured is named so,
and no part of the summary. A case that fails is told and left out, the others go on; exit 1 at the end.

A variant is the changes of the kinds that CHANGES names. Two predictions: `predicted` is the step that the advisor gives, of the traced step (of the step without the recorder's cost where that is
known); `from untraced` is the eager step without a recorder less the predicted saving, which is right where the recorder's cost is
hidden or not part of what is saved.
Error = (predicted - measured) / measured. The spread is (longest - shortest) / median of the windows of all measurements of the program.
A program or variant is host-bound where the GPU is done as soon as the host has handed over the last step: its times are those of the machine's
host, and it is not among the steady ones.

`replay` measures each eager program with `swinscope scale`: three timing runs, whose median is the untraced step, and a traced run,
whose replay without the recorder's cost stands beside it.

--recorder swinscope records with `swinscope record --torch-modules` instead of torch.profiler.
"""
import argparse
import collections
import concurrent.futures
import datetime
import json
import os
import queue
import statistics
import subprocess
import sys
import threading

CASES = ("resnet50:train:64", "deit_small:train:64", "swin_tiny:train:32", "resnet50:infer:64", "deit_small:infer:64", "swin_tiny:infer:64",
         "resnet50:infer:8", "deit_small:infer:8", "swin_tiny:infer:8")
# Named before they were measured, and no part of what chose the advisor's rules and constants.
KEPT_OUT = ("vit_base:infer:32", "resnet101:infer:32", "swin_small:train:16")
SMOKE_CASES = ("resnet50:train:2", "deit_small:infer:1", "swin_tiny:infer:1")
SMOKE_PIXELS = 64
VARIANTS = {"train": ("graph", "tf32", "bf16", "fused-adamw", "sdpa", "combined"), "infer": ("graph", "tf32", "fp16", "sdpa", "combined")}

# The kind of change, and what `advise --apply` calls it.
CHANGES = {
    "graph": [("graph", "graph")],
    "tf32": [("precision", "precision-fp32-tf32")],
    "fp16": [("precision", "precision-fp32-fp16")],
    "bf16": [("precision", "precision-fp32-bf16")],
    "fused-adamw": [("optimizer", "optimizer")],
    "sdpa": [("attention", "attention")],
    "compile": [("epilogue", "epilogue"), ("fusion", "fusion")],
}
COMBINED = {"train": ("bf16", "fused-adamw", "sdpa", "graph"), "infer": ("fp16", "sdpa", "graph")}
WITHOUT_ATTENTION = "resnet"
NO_GPU_WORK = "the trace has no GPU events"  # so the advisor says
SAVES_NOTHING = "none saves"
STEADY = 0.05
STEPS = 6  # traced, after a first one that fills the device's queue
TIMING_RUNS = 3
# Before the device's queue is full, the host's steps, by which ranges mark them, are shorter than the device's.
REPLAY_STEPS = {"train": (10, 50), "infer": (150, 200)}  # left out, in all


def mode_of(case):
    return case.split(":")[1]


def now():
    return datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


class Results:
    """DIR/results.json, written anew after each change."""

    def __init__(self, folder):
        self.path = os.path.join(folder, "results.json")
        os.makedirs(folder, exist_ok=True)
        self.document = {"schema": "swinscope.advisor-peers/1", "machines": [], "cases": {}}
        if os.path.exists(self.path):
            with open(self.path, encoding="utf-8") as file:
                self.document = json.load(file)

    def cases(self):
        return self.document["cases"]

    def case(self, name):
        return self.cases().setdefault(name, {"eager": [], "traces": {}, "predictions": {}, "measured": {}})

    def write(self):
        with open(self.path + ".new", "w", encoding="utf-8") as file:
            json.dump(self.document, file, indent=1)
        os.replace(self.path + ".new", self.path)


class Failures:
    """Told at once, and again at the end."""

    def __init__(self):
        self.told = []

    def add(self, what, why):
        self.told.append(f"{what}: {why}")
        print(f"failed: {what}: {why}", flush=True)

    def end(self):
        for line in self.told:
            print(f"error: {line}", file=sys.stderr)
        return 1 if self.told else 0


class Worker:
    """A process of programs.py that does one job after another."""

    def __init__(self, arguments):
        self.process = subprocess.Popen(programs(arguments, "work"), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.answers = queue.Queue()
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        for line in self.process.stdout:
            self.answers.put(json.loads(line))
        self.answers.put(None)

    def ask(self, job, limit):
        """The answer; where there is none, that it failed. A worker that failed does no more."""
        try:
            self.process.stdin.write(json.dumps(job) + "\n")
            self.process.stdin.flush()
            answer = self.answers.get(timeout=limit)
        except queue.Empty:
            self.end()
            return {"failed": f"not done within {limit} s"}
        except OSError:
            answer = None
        return answer if answer is not None else {"failed": f"the process ended with {self.process.wait()}"}

    def end(self):
        self.process.kill()
        self.process.wait()


def programs(arguments, *words):
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "programs.py")
    options = ["--device", arguments.device, "--pixels", str(arguments.pixels)]
    options += ["--smoke"] if arguments.smoke else []
    options += ["--sync-each-step"] if arguments.sync_each_step else []
    return [sys.executable, path, *words, *options]


def run_jobs(arguments, jobs, take):
    """Each job's answer goes to `take`. After one that failed the next one gets a new process."""
    worker = None
    try:
        for job in jobs:
            worker = worker or Worker(arguments)
            answer = worker.ask(job, arguments.limit)
            take(job, answer)
            if "failed" in answer:
                worker.end()
                worker = None
    finally:
        if worker is not None:
            worker.end()


def name_of(job):
    return f"{job['case']} {job['variant']}" if "case" in job else job["do"]


def say_time(job, answer):
    bound = {True: ", host-bound", False: ", GPU-bound", None: ""}[answer["is_host_bound"]]
    print(f"{name_of(job)}: {answer['step_ns'] * 1e-6:.3f} ms, spread {100 * spread(answer['windows_ns']):.1f} %{bound}", flush=True)


def keep_machine(results, phase, answer):
    results.document["machines"].append({"phase": phase, "when": now(), **answer})


def trace_path(arguments, case):
    return os.path.join(arguments.out, "traces", case.replace(":", "_") + ".kineto.json.gz")


def keep_trace(arguments, results, case, path):
    results.case(case)["traces"][arguments.recorder] = os.path.relpath(path, arguments.out)
    results.case(case)["predictions"].pop(arguments.recorder, None)  # they were of another trace


def record(arguments, results, failures):
    # Times first: a process that has had a profiler may be slower than one that has not.
    cases = arguments.cases or (SMOKE_CASES if arguments.smoke else CASES + KEPT_OUT)
    jobs = [{"do": "describe"}] + [{"do": "time", "case": case, "variant": "eager"} for case in cases]
    if arguments.recorder == "kineto":
        os.makedirs(os.path.join(arguments.out, "traces"), exist_ok=True)
        steps = 1 + (2 if arguments.smoke else STEPS)
        jobs += [{"do": "trace", "case": case, "variant": "eager", "path": trace_path(arguments, case), "steps": steps} for case in cases]

    def take(job, answer):
        if "failed" in answer or "skipped" in answer:
            failures.add(f"{job['do']} {name_of(job)}", answer.get("failed") or answer["skipped"])
        elif job["do"] == "describe":
            keep_machine(results, "record", answer)
        elif job["do"] == "time":
            results.case(job["case"])["eager"] = [{"phase": "record", **answer}]
            say_time(job, answer)
        else:
            keep_trace(arguments, results, job["case"], answer["path"])
            print(f"{name_of(job)}: {answer['path']}, {os.path.getsize(answer['path']) >> 10} KiB", flush=True)
        results.write()

    run_jobs(arguments, jobs, take)
    if arguments.recorder == "swinscope":
        for case in cases:
            record_ours(arguments, case, results, failures)


def record_ours(arguments, case, results, failures):
    folder = os.path.join(arguments.out, "traces", case.replace(":", "_") + ".run")
    os.makedirs(os.path.dirname(folder), exist_ok=True)
    command = [arguments.swinscope, "record", "-q", "--force", "--torch-modules", "--trace", "cuda,nvtx,sync", "-o", folder, "--",
               *programs(arguments, "steps", case, "--steps", str(1 + STEPS))]
    done = run_swinscope(command, arguments.limit)
    if done.returncode != 0:
        failures.add(f"swinscope record {case}", done.stderr.strip()[-400:])
        return
    keep_trace(arguments, results, case, folder)
    print(f"{case} eager: {folder}", flush=True)
    results.write()


def run_swinscope(command, limit):
    try:
        return subprocess.run(command, capture_output=True, text=True, timeout=limit)
    except subprocess.TimeoutExpired:
        return subprocess.CompletedProcess(command, 124, "", f"not done within {limit} s")
    except OSError as error:
        return subprocess.CompletedProcess(command, 127, "", str(error))


def advise(arguments, trace, *words):
    """What it says, or None and why not."""
    command = [arguments.swinscope, "advise", trace, "--format", "json", *(words if "--warmup-steps" in words else ("--warmup-steps", "1", *words))]
    if arguments.peaks:
        command += ["--peaks", arguments.peaks]
    done = run_swinscope(command, arguments.limit)
    try:
        return json.loads(done.stdout)["data"], ""
    except (ValueError, KeyError):
        return None, done.stderr.strip()[-400:] or f"swinscope ended with {done.returncode}"


def changes_of(data, variant, case):
    """What is applied for the variant, the kinds that the trace has none of, and why, in the advisor's words."""
    told = {row["of"]: row["reason"] for row in data.get("abstained", [])}
    names, lacks = [], []
    for part in [variant] if variant != "combined" else COMBINED[mode_of(case)]:
        if part == "sdpa" and case.startswith(WITHOUT_ATTENTION):
            continue
        for kind, name in CHANGES[part]:
            # Places that save nothing by themselves may save much together with others.
            if kind in told and SAVES_NOTHING not in told[kind]:
                lacks.append(kind)
            else:
                names.append(name)
    return names, lacks, "; ".join(f"{kind}: {told[kind]}" for kind in lacks)


def predict_variant(arguments, trace, data, variant, case):
    ids, lacks, why = changes_of(data, variant, case)
    prediction = {"made": now(), "applied": ids, "lacks": lacks, "why": why}
    if not ids:
        return prediction
    label = f"{case} {variant} from eager, {arguments.recorder}"
    joint, why = advise(arguments, trace, "--apply", ",".join(ids), "--ledger", ledger_of(arguments, case), "--label", label)
    if joint is None or "joint_step_ns" not in joint:
        return {**prediction, "failed": why or "no step was predicted"}
    # Savings are of the step without the recorder's cost where that is known.
    prediction["before_ns"] = joint.get("unrecorded_step_ns", joint["replayed_step_ns"])
    prediction.update({key: joint[f"joint_{key}"] for key in ("step_ns", "step_least_ns", "step_most_ns")})
    return prediction


def variants_of(arguments, case):
    known = VARIANTS[mode_of(case)]
    wanted = arguments.variants or known
    skipped = {"sdpa"} if case.startswith(WITHOUT_ATTENTION) else set()
    if mode_of(case) == "infer":
        skipped |= {"fused-adamw"}
    return [variant for variant in wanted if variant not in skipped]


def predict_case(arguments, results, failures, name):
    case = results.cases().get(name, {})
    trace = case.get("traces", {}).get(arguments.recorder)
    if trace is None:
        return failures.add(f"predict {name}", f"there is no trace by {arguments.recorder}")
    trace = os.path.join(arguments.out, trace)
    data, why = advise(arguments, trace)
    if data is None and NO_GPU_WORK in why and not is_of_gpu(case):
        data = {"abstained": [{"of": "advice", "reason": NO_GPU_WORK}]}
    if data is None:
        return failures.add(f"predict {name}", why)
    facts = {key: value for key, value in data.items() if not isinstance(value, list)}
    predictions = {"facts": facts, "abstained": data.get("abstained", []), "cards": kinds_of(data), "variants": {}}
    if "opportunities" not in data:
        print(f"{name}: no advice: {'; '.join(row['reason'] for row in predictions['abstained'])}", flush=True)
    for variant in variants_of(arguments, name) if "opportunities" in data else []:
        prediction = predict_variant(arguments, trace, data, variant, name)
        predictions["variants"][variant] = prediction
        if "failed" in prediction:
            failures.add(f"predict {name} {variant}", prediction["failed"])
        else:
            print(f"{name} {variant}: {say_prediction(prediction)}", flush=True)
    case["predictions"][arguments.recorder] = predictions


def predict(arguments, results, failures):
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        names = arguments.cases or list(results.cases())
        list(pool.map(lambda name: predict_case(arguments, results, failures, name), names))
    results.write()
    join_ledgers(arguments, names)
    if not any(case["predictions"].get(arguments.recorder, {}).get("variants") for case in results.cases().values()):
        print("nothing was predicted: the advisor abstains from all of these traces")


def ledger_of(arguments, case):
    return os.path.join(arguments.out, f"ledger.{case.replace(':', '_')}.json")


def join_ledgers(arguments, names):
    """Cases are predicted side by side, each into a ledger of its own, and a ledger has one writer."""
    joint, parts = os.path.join(arguments.out, "ledger.json"), [ledger_of(arguments, name) for name in names]
    ledger = None
    for path in filter(os.path.exists, [joint, *parts]):
        with open(path, encoding="utf-8") as file:
            part = json.load(file)
        if ledger is None:
            ledger = part
        else:
            ledger["predictions"] += part["predictions"]
    if ledger is None:
        return
    with open(joint + ".new", "w", encoding="utf-8") as file:
        json.dump(ledger, file, indent=2)
    os.replace(joint + ".new", joint)
    for path in filter(os.path.exists, parts):
        os.remove(path)


def is_of_gpu(case):
    return any(time["is_host_bound"] is not None for time in case["eager"])


def say_prediction(prediction):
    if "step_ns" not in prediction:
        return f"not predicted: {prediction['why']}"
    text = f"{prediction['step_ns'] * 1e-6:.2f} ms of {prediction['before_ns'] * 1e-6:.2f}"
    return text + (f", without {', '.join(prediction['lacks'])}" if prediction["lacks"] else "")


def measure(arguments, results, failures):
    cases = arguments.cases or list(results.cases())
    jobs = [{"do": "describe"}]
    for case in cases:
        if case not in results.cases():
            failures.add(f"measure {case}", "it was not recorded")
            continue
        results.case(case)["eager"] = [time for time in results.case(case)["eager"] if time["phase"] == "record"]
        around = [{"do": "time", "case": case, "variant": "eager"}]  # before and after: how far the machine's speed has moved
        jobs += around + [{"do": "time", "case": case, "variant": variant} for variant in variants_of(arguments, case)] + around

    def take(job, answer):
        if job["do"] == "describe" and "failed" not in answer:
            keep_machine(results, "measure", answer)
        elif "failed" in answer:
            failures.add(f"measure {name_of(job)}", answer["failed"])
        elif "skipped" in answer:
            print(f"{name_of(job)}: left out: {answer['skipped']}", flush=True)
        else:
            say_time(job, answer)
        if "case" in job:
            case = results.case(job["case"])
            if job["variant"] != "eager":
                case["measured"][job["variant"]] = {"when": now(), **answer}
            elif "step_ns" in answer:
                case["eager"].append({"phase": "measure", **answer})
        results.write()

    run_jobs(arguments, jobs, take)


def replay(arguments, results, failures):
    """The eager step, without a recorder and as it is replayed without what the recorder cost."""
    lines = ["| program | step in the timing runs, ms | runs | traced, ms | replayed without the recorder, ms | error |", "|" + "---|" * 6]
    for case in arguments.cases or CASES + KEPT_OUT:
        folder = os.path.join(arguments.out, "replay", case.replace(":", "_"))
        warmup, steps = map(str, REPLAY_STEPS[mode_of(case)])
        command = [arguments.swinscope, "scale", "-q", "--force", "--gpus", "1", "--repeat", str(TIMING_RUNS), "--warmup-steps", warmup,
                   "-o", folder, "--", *programs(arguments, "steps", case, "--steps", steps)]
        done = run_swinscope(command, (TIMING_RUNS + 1) * arguments.limit)
        if done.returncode != 0:
            failures.add(f"swinscope scale {case}", done.stderr.strip()[-400:])
            continue
        facts, why = advise(arguments, os.path.join(folder, "gpus1", "tracing"), "--warmup-steps", warmup)
        if facts is None or "timed_step_ns" not in facts:
            failures.add(f"replay {case}", why or "no step was replayed")
            continue
        runs = [run_step_ns(arguments, os.path.join(folder, "gpus1", f"timing{run}"), warmup) for run in range(1, TIMING_RUNS + 1)]
        replayed = facts.get("unrecorded_step_ns", facts["replayed_step_ns"])
        timed = facts["timed_step_ns"]
        results.case(case)["replay"] = {"when": now(), "timed_step_ns": timed, "runs_ns": runs, "traced_step_ns": facts["traced_step_ns"],
                                        "unrecorded_step_ns": replayed}
        lines.append(f"| {case} | {in_ms(timed)} | {' '.join(map(in_ms, runs))} | {in_ms(facts['traced_step_ns'])} | {in_ms(replayed)} | "
                     f"{in_percent(100 * (replayed - timed) / timed)} |")
        print(lines[-1], flush=True)
        results.write()
    print("\n" + "\n".join(lines))


def run_step_ns(arguments, run, warmup):
    done = run_swinscope([arguments.swinscope, "analyze", run, "--warmup-steps", warmup, "--no-advice", "--format", "json"], arguments.limit)
    return json.loads(done.stdout)["data"]["step_ns"]


def kinds_of(data):
    kinds = collections.Counter(card["kind"] for card in data.get("opportunities", []))
    return dict(sorted(kinds.items()))


class Row:
    """One variant of one program, predicted from one recorder's trace."""

    def __init__(self, name, case, recorder, variant):
        self.name, self.recorder, self.variant = name, recorder, variant
        eager = case["eager"]
        # What was known before the variants were measured.
        self.eager_ns = next((time["step_ns"] for time in eager if time["phase"] == "record"), None)
        self.eager_spread = spread([window for time in eager for window in time["windows_ns"]])
        self.is_host_bound = statistics.mode(time["is_host_bound"] for time in eager) if eager else None
        self.traced_ns = case["predictions"].get(recorder, {}).get("facts", {}).get("traced_step_ns")
        self.prediction = case["predictions"].get(recorder, {}).get("variants", {}).get(variant, {})
        self.measured = case["measured"].get(variant, {})
        # What the host decides is as steady as the machine, whatever the windows of one second say.
        self.is_steady = "windows_ns" in self.measured and not self.measured["is_host_bound"] and spread(self.measured["windows_ns"]) < STEADY

    def predicted(self):
        """Likely, least and most of the step; None: it was not predicted."""
        if "step_ns" not in self.prediction:
            return None
        return tuple(self.prediction[key] for key in ("step_ns", "step_least_ns", "step_most_ns"))

    def from_untraced(self):
        """The same savings of the eager step without a recorder."""
        if self.predicted() is None or self.eager_ns is None:
            return None
        return tuple(self.eager_ns - (self.prediction["before_ns"] - step) for step in self.predicted())

    def measured_ns(self):
        return self.measured.get("step_ns")

    def error(self, steps):
        if steps is None or not self.measured_ns():
            return None
        return 100 * (steps[0] - self.measured_ns()) / self.measured_ns()

    def is_whole(self):
        """A part of the variant's changes is no prediction of it, and a late one none at all."""
        return not self.prediction.get("lacks") and not self.is_late()

    def is_late(self):
        return "made" in self.prediction and "when" in self.measured and self.prediction["made"] > self.measured["when"]

    def remark(self):
        parts = []
        if self.predicted() is None:
            parts.append("not predicted: " + (self.prediction.get("failed") or self.prediction.get("why") or "no advice"))
        elif self.prediction["lacks"]:
            parts.append("without " + ", ".join(self.prediction["lacks"]))
        elif not self.prediction["applied"]:
            parts.append(self.prediction["why"])
        if self.variant == "bf16" and any("fp16" in change for change in self.prediction.get("applied", [])):
            parts.append("by the card of fp16")
        if self.predicted() is not None and self.is_late():
            parts.append("predicted after it was measured")
        parts += [f"not measured: {self.measured[key]}" for key in ("skipped", "failed") if key in self.measured]
        return "; ".join(parts).replace("|", "/")

    def line(self):
        host = {True: ", host", False: ", GPU", None: ""}[self.is_host_bound]
        cells = [self.name, self.recorder, in_ms_with_spread(self.eager_ns, self.eager_spread) + host, in_ms(self.traced_ns), self.variant,
                 in_ms_of(self.predicted()), in_ms_of(self.from_untraced()),
                 in_ms_with_spread(self.measured_ns(), spread(self.measured.get("windows_ns", []))),
                 in_percent(self.error(self.predicted())), in_percent(self.error(self.from_untraced())), self.remark()]
        return "| " + " | ".join(cells) + " |"


def spread(windows):
    return (max(windows) - min(windows)) / statistics.median(windows) if windows else None


def in_ms_with_spread(ns, share):
    return "" if ns is None else f"{in_ms(ns)} (spread {100 * share:.1f} %)"


def in_ms(ns):
    return "" if ns is None else f"{ns * 1e-6:.2f}"


def in_ms_of(steps):
    return "" if steps is None else f"{in_ms(steps[0])} ({in_ms(steps[1])} to {in_ms(steps[2])})"


def in_percent(error):
    return "" if error is None else f"{error:+.1f} %"


def rows_of(results):
    rows = []
    for name, case in results.cases().items():
        for recorder in case["predictions"] or case["traces"]:
            predicted = case["predictions"].get(recorder, {}).get("variants", {})
            rows += [Row(name, case, recorder, variant) for variant in dict.fromkeys([*predicted, *case["measured"]])]
    return rows


def summary(title, rows):
    """Of both predictions: median and worst error, and how many steps lie outside of their interval."""
    cells = [title]
    for steps_of in (Row.predicted, Row.from_untraced):
        known = [row for row in rows if row.is_whole() and row.error(steps_of(row)) is not None]
        if not known:
            return None
        errors = [row.error(steps_of(row)) for row in known]
        worst = max(known, key=lambda row: abs(row.error(steps_of(row))))
        outside = sum(not steps_of(row)[1] <= row.measured_ns() <= steps_of(row)[2] for row in known)
        cells += [str(len(known)), f"{statistics.median(map(abs, errors)):.1f} %",
                  f"{in_percent(worst.error(steps_of(worst)))} ({worst.name} {worst.variant})", str(outside)]
    del cells[5]
    return "| " + " | ".join(cells) + " |"


def table(arguments, results, failures):
    rows = [row for row in rows_of(results) if not arguments.cases or row.name in arguments.cases]
    titles = ["program", "trace", "eager, ms", "traced, ms", "variant", "predicted, ms", "from untraced, ms", "measured, ms", "error",
              "from untraced", "remark"]
    lines = ["| " + " | ".join(titles) + " |", "|" + "---|" * len(titles), *(row.line() for row in rows), "",
             "| of | predictions | median error | worst | outside | from untraced: median error | worst | outside |", "|" + "---|" * 8]
    steady = [row for row in rows if row.is_steady]
    groups = [("all", rows), (f"steady (spread below {100 * STEADY:.0f} %, the GPU decides)", steady),
              ("steady, kept out", [row for row in steady if row.name in KEPT_OUT]), ("GPU-bound eager", [row for row in rows if row.is_host_bound is False]),
              ("host-bound eager", [row for row in rows if row.is_host_bound])]
    groups += [(variant, [row for row in rows if row.variant == variant]) for variant in dict.fromkeys(row.variant for row in rows)]
    found = [line for line in (summary(title, group) for title, group in groups) if line is not None]
    lines += found if found else ["| nothing was both predicted and measured | | | | | | | |"]
    host = {row.name: row.eager_spread for row in rows if row.is_host_bound}
    if host:
        lines += ["", "Spread of host-bound eager steps: " + ", ".join(f"{name} {100 * share:.0f} %" for name, share in host.items()) + "."]
    lines.append("")
    lines += [f"- {machine['phase']}: {machine['gpu'] or 'no GPU'}, PyTorch {machine['torch']}, timm {machine['timm']}, "
              f"{machine['cores']} cores, {machine['when']}" for machine in results.document["machines"]]
    text = "\n".join(lines) + "\n"
    with open(os.path.join(arguments.out, "table.md"), "w", encoding="utf-8") as file:
        file.write(text)
    print(text, end="")


def show_cards(arguments):
    failures = Failures()
    for trace in arguments.traces:
        data, why = advise(arguments, trace)
        if data is None:
            failures.add(trace, why)
            continue
        print(f"{trace}: step {in_ms(data.get('traced_step_ns'))} ms, replay error {data.get('replay_error_percent', float('nan')):.2f} %")
        for kind, count in kinds_of(data).items():
            best = max((card for card in data["opportunities"] if card["kind"] == kind), key=lambda card: card["saving_ns"])
            print(f"  {kind}: {count}; {in_ms(best['saving_ns'])} ms by {best['id']}: {best['change'][:100]}")
        for row in data.get("abstained", []):
            print(f"  none of {row['of']}: {row['reason']}")
    return failures.end()


PHASES = {"record": record, "predict": predict, "measure": measure, "table": table}  # `all` is these


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("phase", choices=[*PHASES, "all", "replay", "cards"])
    parser.add_argument("traces", nargs="*", metavar="TRACE", help="for cards")
    parser.add_argument("--out", metavar="DIR")
    parser.add_argument("--swinscope", help="the program; for predict, cards, and --recorder swinscope")
    parser.add_argument("--peaks", help="the GPU's rates, as for `swinscope advise`")
    parser.add_argument("--device", choices=["cuda", "cpu"], default="cuda")
    parser.add_argument("--cases", type=lambda text: text.split(","),
                        help="MODEL:MODE:BATCH,… (default: " + ",".join(CASES + KEPT_OUT) + "; once recorded: all that were)")
    parser.add_argument("--variants", type=lambda text: text.split(","),
                        help="(default: of training " + ",".join(VARIANTS["train"]) + ", of inference " + ",".join(VARIANTS["infer"])
                        + "; there are bf16, fp16 and compile for both)")
    parser.add_argument("--jobs", type=int, default=max(1, len(os.sched_getaffinity(0)) // 2), help="traces that are advised upon at a time")
    parser.add_argument("--recorder", choices=["kineto", "swinscope"], default="kineto")
    parser.add_argument("--sync-each-step", action="store_true", help="in the traces, the host waits for the device after each step")
    parser.add_argument("--smoke", action="store_true", help="small images and as few steps as can be: only whether it runs")
    parser.add_argument("--limit", type=float, default=120, help="seconds that a job may take")
    arguments = parser.parse_args()
    needs_swinscope = arguments.phase in ("predict", "all", "replay", "cards") or arguments.phase == "record" and arguments.recorder == "swinscope"
    if needs_swinscope and not arguments.swinscope:
        parser.error("--swinscope is needed")
    if arguments.phase != "cards" and not arguments.out:
        parser.error("--out is needed")
    arguments.pixels = SMOKE_PIXELS if arguments.smoke else 224
    return arguments


def main():
    arguments = parse()
    if arguments.phase == "cards":
        return show_cards(arguments)
    results, failures = Results(arguments.out), Failures()
    for phase in PHASES if arguments.phase == "all" else [arguments.phase]:
        {**PHASES, "replay": replay}[phase](arguments, results, failures)
    return failures.end()


if __name__ == "__main__":
    sys.exit(main())
