#!/usr/bin/env python3
"""What recording costs a PyTorch program, beside torch.profiler, on one machine: untraced, `swinscope record`, torch.profiler CUDA
only, CPU + CUDA. Rounds of fresh processes; medians. The processes of a round start together, and when all are ready they are
measured in turns, in random order, one at a time while the others wait: importing PyTorch takes longer than measuring, and what
changes on the machine meanwhile meets all of them.

Processes of one program differ in speed by more than what is measured. So each also measures itself before anything traces it, and
"paired" is the median of what the tracing then added. That needs a window that opens later: `record` as a whole run has none, "ours
--capture-range nvtx:measured" is the same recording in a range.

    overhead.py --swinscope build/release/bin/swinscope --rounds 7 [--model swin_tiny_patch4_window7_224 --batch 1] [--json FILE]

With --graph the forward is captured in a CUDA graph and replayed, and ours is shown at node and at graph level. Several batches
(--batch 1,128 --loops 300,20) are measured in each process, one after the other.
"""
import argparse
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
import sys, time, json, statistics
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
def loop(run, n):
    torch.cuda.synchronize()
    t = time.perf_counter()
    for _ in range(n): run()
    torch.cuda.synchronize()
    return (time.perf_counter() - t) / n * 1e3
def measure(batch, loops):
    loop(runs[batch], max(loops // 5, 1))
    return [loop(runs[batch], loops) for _ in range(5)]
def before(batch, loops):
    loop(runs[batch], max(loops // 5, 1))  # the clock may have fallen while waiting
    return statistics.median(measure(batch, loops))
def turn(batch, loops):
    if mode == "all": loops = max(loops // 6, 1)  # PyTorch takes minutes to sort the events of more
    loop(runs[batch], max(loops // 5, 1))
    forwards = max(loops // 5, 1) + 5 * loops
    if mode not in ("cuda", "all"):
        torch.cuda.nvtx.range_push("measured")
        torch.cuda.nvtx.range_push(f"batch {batch}")
        ms = measure(batch, loops)
        torch.cuda.nvtx.range_pop()
        torch.cuda.nvtx.range_pop()
        return {"ms": statistics.median(ms), "forwards": forwards, "kernels": None}
    from torch.profiler import profile, ProfilerActivity as A
    with profile(activities=[A.CUDA] if mode == "cuda" else [A.CPU, A.CUDA], acc_events=True) as p:
        ms = measure(batch, loops)
    kernels = sum(1 for e in p.profiler.kineto_results.events() if e.device_type() == torch.autograd.DeviceType.CUDA
                  and not e.name().startswith(("Memcpy", "Memset")))
    return {"ms": statistics.median(ms), "forwards": forwards, "kernels": kernels}
for batch, loops in cases: loop(runs[batch], loops)
print("READY", flush=True)
plain = None
for line in sys.stdin:
    if plain is None:
        plain = {batch: before(batch, loops) for batch, loops in cases}
        print("BEFORE " + json.dumps(plain), flush=True)
    print("RESULT " + json.dumps({batch: turn(batch, loops) for batch, loops in cases}), flush=True)
"""

COUNT = """
SELECT count(*) FROM NVTX_EVENTS n JOIN StringIds t ON t.id = n.textId
JOIN CUPTI_ACTIVITY_KIND_RUNTIME r ON r.start BETWEEN n.start AND n.end
JOIN CUPTI_ACTIVITY_KIND_KERNEL k USING (correlationId) WHERE t.value = ?
"""


class Variant:
    """A process of one variant: ready, measured, ended."""

    def __init__(self, args, name, program):
        kind, *options = name.split()
        self.name, self.is_ours, self.turns = name, kind == "ours", {}
        self.before = {}
        self.folder = tempfile.TemporaryDirectory()
        command = [sys.executable, program, kind if kind in ("cuda", "all") else "plain", args.model, "1" if args.graph else "0", *args.cases]
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

    def turn(self):
        self.process.stdin.write("go\n")
        self.process.stdin.flush()
        if not self.before:
            self.before = {int(batch): ms for batch, ms in json.loads(self.wait_for("BEFORE ")).items()}
        for batch, result in json.loads(self.wait_for("RESULT ")).items():
            self.turns.setdefault(int(batch), []).append(result)

    def result(self):
        """For each batch the median of the turns, and how many kernels a forward has that were recorded."""
        self.process.stdin.close()
        self.process.wait()
        found = {}
        for batch, turns in self.turns.items():
            forwards = sum(turn["forwards"] for turn in turns)
            found[batch] = {"ms": statistics.median(turn["ms"] for turn in turns), "turns": [turn["ms"] for turn in turns]}
            if not self.is_ours or "--capture-range" in self.name:
                found[batch]["before"] = self.before[batch]
            if turns[0]["kernels"] is not None:
                found[batch]["kernels"] = sum(turn["kernels"] for turn in turns) / forwards
            if self.is_ours:
                with sqlite3.connect(self.folder.name + "/run/rank0.db") as db:
                    found[batch]["kernels"] = db.execute(COUNT, (f"batch {batch}",)).fetchone()[0] / forwards
                    found[batch]["lost"] = db.execute("SELECT coalesce(sum(count), 0) FROM SWINSCOPE_DROPS").fetchone()[0]
                    found[batch]["facts"] = dict(db.execute("SELECT name, value FROM SWINSCOPE_COLLECTOR").fetchall())
                    found[batch]["file_bytes"] = os.path.getsize(self.folder.name + "/run/rank0.db")
        return found

    def end(self):
        self.process.kill()
        self.process.wait()
        self.errors.close()
        self.folder.cleanup()


def run_round(args, variants, program):
    processes = [Variant(args, name, program) for name in variants]
    try:
        for process in processes:
            process.wait_for("READY")
        for _ in range(args.turns):
            for process in random.sample(processes, len(processes)):
                process.turn()
        return {process.name: process.result() for process in processes}
    finally:
        for process in processes:
            process.end()


def paired(found):
    """The median of what the tracing added in each process; None where it was there from the beginning."""
    pairs = [r["ms"] / r["before"] - 1 for r in found if "before" in r]
    return statistics.median(pairs) if pairs else None


def show(batch, graph, model, results):
    """The table of one batch; `results` has for each variant a result a round."""
    base = statistics.median(r["ms"] for r in results["untraced"])
    print(f"{model}, batch {batch}{', CUDA graph' if graph else ''}, {len(results['untraced'])} rounds; kernels: recorded, a forward")
    print(f"{'variant':40} {'ms':>8} {'overhead':>9} {'paired':>8} {'kernels':>8}  ms of each round (before)")
    for variant, found in results.items():
        ms = statistics.median(r["ms"] for r in found)
        pair = paired(found)
        print(f"{variant:40} {ms:8.3f} {100 * (ms / base - 1):+8.1f}% {'' if pair is None else f'{100 * pair:+.1f}%':>8} "
              f"{found[0].get('kernels', 0):8.1f}  " + " ".join(f"{r['ms']:.2f}" + (f" ({r['before']:.2f})" if "before" in r else "") for r in found))
    ours = [variant for variant in results if variant.startswith("ours")]
    print(f"records lost: {sum(r['lost'] for variant in ours for r in results[variant])}")
    if "cuda" not in results:
        return
    theirs = statistics.median(r["ms"] for r in results["cuda"]) - base
    for variant in ours:
        added = statistics.median(r["ms"] for r in results[variant]) - base
        pair, pair_of_theirs = paired(results[variant]), paired(results["cuda"])
        print(f"{variant}: of torch.profiler's CUDA only {added / theirs if theirs > 0 else float('nan'):.2f}"
              + ("" if pair is None else f", paired {pair / pair_of_theirs if pair_of_theirs > 0 else float('nan'):.2f}"))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--swinscope", required=True)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--turns", type=int, default=3, help="in each round")
    parser.add_argument("--model", default="swin_tiny_patch4_window7_224")
    parser.add_argument("--batch", default="1", help="one or several, separated by commas")
    parser.add_argument("--graph", action="store_true")
    parser.add_argument("--loops", default="60", help="forwards in each of the five timed loops of a process, for each batch; a sixth of it CPU + CUDA")
    parser.add_argument("--variant", action="append", default=[], help="instead of the usual ones: untraced, 'ours OPTIONS', cuda, all")
    parser.add_argument("--seconds", type=float, default=1e9, help="no new round after this time")
    parser.add_argument("--json")
    args = parser.parse_args()
    batches, loops = args.batch.split(","), args.loops.split(",")
    if len(batches) != len(loops):
        parser.error("--loops needs a number for each of --batch")
    args.cases = [f"{batch}:{count}" for batch, count in zip(batches, loops)]
    variants = args.variant or (["untraced", "ours", "ours --cuda-graph-trace graph", "cuda"] if args.graph else
                                ["untraced", "ours", "ours --capture-range nvtx:measured", "cuda", "all"])
    rounds = []
    end = time.time() + args.seconds
    with tempfile.NamedTemporaryFile("w", suffix=".py") as program:
        program.write(PROGRAM)
        program.flush()
        for _ in range(args.rounds):
            if time.time() > end:
                break
            rounds.append(run_round(args, variants, program.name))
    for batch in (int(b) for b in batches):
        show(batch, args.graph, args.model, {variant: [r[variant][batch] for r in rounds] for variant in variants})
    if args.json:
        with open(args.json, "w") as out:
            json.dump({"model": args.model, "graph": args.graph, "rounds": rounds}, out, indent=1)


if __name__ == "__main__":
    main()
