#!/usr/bin/env python3
"""What recording costs a PyTorch program, beside torch.profiler, on one machine: untraced, `swinscope record`, torch.profiler CUDA
only, CPU + CUDA.

Processes of one program differ in speed, cores differ, and one process from second to second (what else the machine does), all by
more than what is measured. So the processes of a round start together, and when all are ready they are measured in many short turns,
in random order, one at a time while the others wait, each on the same core, which is the fastest of those tried at the beginning; the
other threads of the process that is timed are kept off it and off its other hardware threads. Each forward of a turn is timed, and a
variant has three figures: the median of all its forwards; the tenth that is fastest (the 10% quantile), which says what is left when
little else is in the way; and its turns beside those of the untraced program: the median of a turn's forwards over that of the untraced turn
of the same second, and of these ratios the median, which slow seconds do not change as long as all variants have them. A forward's time is
from the return of the one before to its own: the time between calls where the program is
bound by launches. One bound by the GPU, with --graph or a larger batch, has one time for a whole turn, up to its end on the GPU.

    overhead.py --swinscope build/release/bin/swinscope --rounds 5 [--model swin_tiny_patch4_window7_224 --batch 1] [--json FILE]

With --graph the forward is captured in a CUDA graph and replayed, and ours is shown with nodes and with graphs
as a whole. Several batches (--batch 1,128 --loops 200,10) are measured in each turn, one after the other.

    overhead.py --show FILE…

shows what --json has kept, the rounds of several machines together: data/collector_overhead_h200 is what docs/notes/012 tells of.
"""
import argparse
import bisect
import json
import os
import random
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time

PROGRAM = r"""
import os, sys, time, json
import torch, timm
mode, model, graph = sys.argv[1], sys.argv[2], sys.argv[3] == "1"
cases = [tuple(int(n) for n in case.split(":")) for case in sys.argv[4:]]
m = timm.create_model(model).eval().half().cuda()
def prepare(batch):
    x = torch.randn(batch, 3, 224, 224, device="cuda").half()
    def forward():
        with torch.inference_mode():
            return m(x)
    if not graph:
        return forward
    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        for _ in range(3): forward()
    torch.cuda.synchronize()
    g = torch.cuda.CUDAGraph()
    with torch.inference_mode(), torch.cuda.graph(g):
        m(x)
    return g.replay
runs = {batch: prepare(batch) for batch, _ in cases}
everywhere = os.sched_getaffinity(0)
def hardware_threads(core):
    try:
        with open(f"/sys/devices/system/cpu/cpu{core}/topology/thread_siblings_list") as file:
            ends = [[int(n) for n in part.split("-")] for part in file.read().split(",")]
        return {core for end in ends for core in range(end[0], end[-1] + 1)}
    except OSError:
        return {core}
def loop(run, n):
    torch.cuda.synchronize()
    times = [time.perf_counter()]
    for _ in range(n):
        run()
        times.append(time.perf_counter())
    torch.cuda.synchronize()
    whole = (time.perf_counter() - times[0]) / n * 1e3
    each = [(end - begin) * 1e3 for begin, end in zip(times, times[1:])]
    is_launch_bound = not graph and sum(each) / n > 0.95 * whole
    return each if is_launch_bound else [whole]
def measure(batch, loops, core):
    loop(runs[batch], loops // 3 + 1)
    for thread in os.listdir("/proc/self/task"):  # a profiler's threads, too: nobody else is on the core
        try:
            os.sched_setaffinity(int(thread), everywhere - hardware_threads(core) or everywhere)
        except OSError:
            pass  # it has ended
    os.sched_setaffinity(0, {core})  # this thread, and only now
    ms = loop(runs[batch], loops)
    os.sched_setaffinity(0, everywhere)
    return ms
def turn(batch, loops, core):
    if mode == "all": loops = max(loops // 3, 1)  # PyTorch takes long to sort the events of more
    forwards = loops // 3 + 1 + loops
    if mode not in ("cuda", "all"):
        torch.cuda.nvtx.range_push(f"batch {batch}")
        ms = measure(batch, loops, core)
        torch.cuda.nvtx.range_pop()
        return {"times": ms, "forwards": forwards, "kernels": None}
    from torch.profiler import profile, ProfilerActivity as A
    with profile(activities=[A.CUDA] if mode == "cuda" else [A.CPU, A.CUDA], acc_events=True) as p:
        ms = measure(batch, loops, core)
    kernels = sum(1 for e in p.profiler.kineto_results.events() if e.device_type() == torch.autograd.DeviceType.CUDA
                  and not e.name().startswith(("Memcpy", "Memset")))
    return {"times": ms, "forwards": forwards, "kernels": kernels}
for batch, loops in cases: loop(runs[batch], loops)
print("READY", flush=True)
for line in sys.stdin:
    print("RESULT " + json.dumps({batch: turn(batch, loops, int(line)) for batch, loops in cases}), flush=True)
"""

LAUNCHES = """
SELECT r.start FROM CUPTI_ACTIVITY_KIND_KERNEL k JOIN CUPTI_ACTIVITY_KIND_RUNTIME r USING (correlationId) ORDER BY r.start
"""
TURNS = "SELECT n.start, n.end FROM NVTX_EVENTS n LEFT JOIN StringIds t ON t.id = n.textId WHERE coalesce(n.text, t.value) = ?"


def kernels_of_turns(db, batch):
    """How many kernels were launched within the turns of that batch."""
    launches = [start for (start,) in db.execute(LAUNCHES)]
    return sum(bisect.bisect_right(launches, end) - bisect.bisect_left(launches, start)
               for start, end in db.execute(TURNS, (f"batch {batch}",)))


def quick(times):
    """The 10% quantile."""
    return sorted(times)[len(times) // 10]


def times_of(result):
    return [time for times in result["turns"].values() for time in times]


def pooled(found):
    """All the times of these results."""
    return [time for result in found for time in times_of(result)]


class Variant:
    """A process of one variant: ready, measured, ended."""

    def __init__(self, args, name, program):
        kind, *options = name.split()
        self.name, self.is_ours, self.turns = name, kind == "ours", {}
        self.folder = tempfile.TemporaryDirectory()
        command = [sys.executable, program, kind if kind in ("cuda", "all") else "plain", args.model, "1" if args.graph else "0",
                   *args.cases]
        if self.is_ours:
            command = [args.swinscope, "record", "-q", "-o", self.folder.name + "/run", *options, "--", *command]
        self.errors = open(self.folder.name + "/stderr", "w+")
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.errors, text=True)

    def wait_for(self, word):
        for line in self.process.stdout:
            if line.startswith(word):
                return line[len(word):]
        status = self.process.wait()
        self.errors.seek(0)
        raise RuntimeError(f"{self.name}: status {status}: {self.errors.read()[-2000:]}")

    def turn(self, core, number=None):
        """What a forward took on that core, by batch. The turns with a number are kept."""
        self.process.stdin.write(f"{core}\n")
        self.process.stdin.flush()
        results = {int(batch): result for batch, result in json.loads(self.wait_for("RESULT ")).items()}
        for batch, result in results.items():
            self.turns.setdefault(batch, []).append({**result, "number": number})
        return results

    def result(self):
        """For each batch the times, and how many kernels a forward has that were recorded."""
        self.process.stdin.close()
        self.process.wait()
        found = {}
        for batch, turns in self.turns.items():
            forwards = sum(turn["forwards"] for turn in turns)
            found[batch] = {"turns": {turn["number"]: turn["times"] for turn in turns if turn["number"] is not None}}
            if turns[0]["kernels"] is not None:
                found[batch]["kernels"] = sum(turn["kernels"] for turn in turns) / forwards
            if self.is_ours:
                with sqlite3.connect(self.folder.name + "/run/rank0.db") as db:
                    found[batch]["kernels"] = kernels_of_turns(db, batch) / forwards
                    found[batch]["lost"] = db.execute("SELECT coalesce(sum(count), 0) FROM SWINSCOPE_DROPS").fetchone()[0]
                    found[batch]["facts"] = dict(db.execute("SELECT name, value FROM SWINSCOPE_COLLECTOR").fetchall())
                    found[batch]["file_bytes"] = os.path.getsize(self.folder.name + "/run/rank0.db")
        return found

    def end(self):
        self.process.kill()
        self.process.wait()
        self.errors.close()
        self.folder.cleanup()


def fastest_core(process, cores):
    """Of some that are spread over all: sockets, and what else a core does, differ. The first one has interrupts of devices."""
    tried = cores[1:][::max(len(cores) // 8, 1)] or cores
    took = {core: sum(statistics.median(result["times"]) for result in process.turn(core).values()) for core in tried}
    core = min(took, key=took.get)
    print(f"core {core}, the fastest of " + ", ".join(f"{c} ({ms:.2f} ms)" for c, ms in took.items()), flush=True)
    return core


def measure_round(args, variants, program):
    """The result of each variant."""
    processes = []
    try:
        for name in variants:
            processes.append(Variant(args, name, program))
        for process in processes:
            process.wait_for("READY")
        if args.core is None:
            args.core = fastest_core(processes[variants.index("untraced")], sorted(os.sched_getaffinity(0)))
        for process in processes:
            process.turn(args.core)  # warms up, and attaches what attaches at its first use
        for turn in range(args.turns):
            for process in random.sample(processes, len(processes)):
                if process.name != "all" or turn % 3 == 0:  # whose turns take longest, and nothing is compared with it
                    process.turn(args.core, turn)
        return {process.name: process.result() for process in processes}
    finally:
        for process in processes:
            process.end()


def measure(args, variants, program):
    """Of each round the result of each variant."""
    rounds, end = [], time.monotonic() + args.seconds
    while len(rounds) < args.rounds and (not rounds or time.monotonic() < end):
        rounds.append(measure_round(args, variants, program))
        print(f"round {len(rounds)}: " + ", ".join(
            f"{name} " + " and ".join(f"{statistics.median(times_of(result)):.3f}" for result in found.values()) for name, found in rounds[-1].items()), flush=True)
    return rounds


def by_median(base, found):
    """What is added to the median of all forwards; `base` and `found`: results of the same rounds."""
    return statistics.median(pooled(found)) / statistics.median(pooled(base)) - 1


def by_quick(base, found):
    return quick(pooled(found)) / quick(pooled(base)) - 1


def by_turns(base, found):
    """The median of what is added in each turn."""
    return statistics.median(statistics.median(times) / statistics.median(untraced["turns"][number])
                             for untraced, result in zip(base, found) for number, times in result["turns"].items()) - 1


ADDED = {"median": by_median, "quick": by_quick, "turns": by_turns}


def share(results, variant, rounds, added):
    """Of what torch.profiler CUDA only adds, in these rounds: how much the variant does."""
    base, theirs, ours = ([results[name][i] for i in rounds] for name in ("untraced", "cuda", variant))
    whole = added(base, theirs)
    return added(base, ours) / whole if whole > 0 else float("nan")


def show(batch, graph, model, results):
    """The table of one batch; `results` has for each variant a result a round."""
    rounds = len(results["untraced"])
    print(f"{model}, batch {batch}{', CUDA graph' if graph else ''}, {rounds} rounds, ms a forward, and what is added; kernels: recorded, a forward")
    print(f"{'variant':40} {'times':>6} {'median':>8} {'added':>9} {'quick':>8} {'added':>9} {'in turns':>9} {'kernels':>8}  medians of each round")
    for variant, found in results.items():
        median, fastest, turns = (f"{100 * added(results['untraced'], found):+8.2f}%" for added in ADDED.values())
        times = pooled(found)
        print(f"{variant:40} {len(times):6} {statistics.median(times):8.3f} {median} {quick(times):8.3f} {fastest} {turns} {found[0].get('kernels', 0):8.1f}  "
              + " ".join(f"{statistics.median(times_of(r)):.2f}" for r in found))
    ours = [variant for variant in results if variant.startswith("ours")]
    print(f"records lost: {sum(r['lost'] for variant in ours for r in results[variant])}")
    for variant in ours if "cuda" in results else []:
        for name, added in ADDED.items():
            drawn = sorted(share(results, variant, random.choices(range(rounds), k=rounds), added) for _ in range(500))
            print(f"{variant}: of torch.profiler's CUDA only {share(results, variant, range(rounds), added):.2f} by {name} "
                  f"({drawn[25]:.2f} to {drawn[-26]:.2f} in nine of ten draws of the rounds)")


def show_all(model, graph, rounds):
    """A table for each batch. Variants that some of the rounds do not have are left out."""
    variants = [name for name in rounds[0] if all(name in found for found in rounds)]
    for batch in rounds[0][variants[0]]:
        show(batch, graph, model, {name: [found[name][batch] for found in rounds] for name in variants})


def show_kept(paths):
    kept = []
    for path in paths:
        with open(path) as file:
            kept.append(json.load(file))
    kinds = {(document["model"], document["graph"]) for document in kept}
    if len(kinds) != 1:
        sys.exit(f"error: these are measurements of different programs: {sorted(kinds)}")
    (model, graph), = kinds
    show_all(model, graph, [found for document in kept for found in document["rounds"]])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--swinscope", help="the program; needed but for --show")
    parser.add_argument("--show", nargs="+", metavar="FILE", help="measure nothing")
    parser.add_argument("--rounds", type=int, default=5, help="processes of each variant")
    parser.add_argument("--turns", type=int, default=10, help="of each process, besides the first one")
    parser.add_argument("--model", default="swin_tiny_patch4_window7_224")
    parser.add_argument("--batch", default="1", help="one or several, separated by commas")
    parser.add_argument("--graph", action="store_true")
    parser.add_argument("--loops", default="20", help="forwards that are timed in a turn, for each batch; a third of it CPU + CUDA")
    parser.add_argument("--core", type=int, help="where the program's thread is while it is timed (default: the fastest of some)")
    parser.add_argument("--variant", action="append", default=[], help="instead of the usual ones: untraced, 'ours OPTIONS', cuda, all")
    parser.add_argument("--seconds", type=float, default=1e9, help="no new round after this time")
    parser.add_argument("--json")
    args = parser.parse_args()
    if args.show:
        return show_kept(args.show)
    if args.swinscope is None:
        parser.error("--swinscope is missing")
    batches, loops = args.batch.split(","), args.loops.split(",")
    if len(batches) != len(loops):
        parser.error("--loops needs a number for each of --batch")
    if args.variant and "untraced" not in args.variant:
        parser.error("--variant: untraced is what the others are compared with")
    args.cases = [f"{batch}:{count}" for batch, count in zip(batches, loops)]
    variants = args.variant or (["untraced", "ours", "ours --cuda-graph-trace graph"] if args.graph else
                                ["untraced", "ours", "cuda", "all"])
    with tempfile.NamedTemporaryFile("w", suffix=".py") as program:
        program.write(PROGRAM)
        program.flush()
        rounds = measure(args, variants, program.name)
    show_all(args.model, args.graph, rounds)
    if args.json:
        with open(args.json, "w") as out:
            json.dump({"model": args.model, "graph": args.graph, "rounds": rounds}, out, indent=1)


if __name__ == "__main__":
    main()
