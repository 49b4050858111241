#!/usr/bin/env python3
"""What recording costs a PyTorch program, beside torch.profiler, on one machine: untraced, `swinscope record`, torch.profiler CUDA
only, CPU + CUDA. Rounds of fresh processes, interleaved in random order; medians.

    overhead.py --swinscope build/release/bin/swinscope --rounds 7 [--model swin_tiny_patch4_window7_224 --batch 1] [--json FILE]

With --graph the forward is captured in a CUDA graph and replayed, and ours is shown at node and at graph level.
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
mode, model, batch, graph, loops = sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4] == "1", int(sys.argv[5])
m = timm.create_model(model).eval().half().cuda()
x = torch.randn(batch, 3, 224, 224, device="cuda").half()
def forward():
    with torch.inference_mode():
        return m(x)
run = forward
if graph:
    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        for _ in range(3): forward()
    torch.cuda.synchronize()
    g = torch.cuda.CUDAGraph()
    with torch.inference_mode(), torch.cuda.graph(g):
        m(x)
    run = g.replay
def loop(n):
    torch.cuda.synchronize()
    t = time.perf_counter()
    for _ in range(n): run()
    torch.cuda.synchronize()
    return (time.perf_counter() - t) / n * 1e3
loop(loops)
kernels = None
if mode in ("cuda", "all"):
    from torch.profiler import profile, ProfilerActivity as A
    with profile(activities=[A.CUDA] if mode == "cuda" else [A.CPU, A.CUDA], acc_events=True) as p:
        loop(max(loops // 5, 1))
        ms = [loop(loops) for _ in range(5)]
    kernels = sum(1 for e in p.profiler.kineto_results.events() if e.device_type() == torch.autograd.DeviceType.CUDA
                  and not e.name().startswith(("Memcpy", "Memset")))
else:
    torch.cuda.nvtx.range_push("measured")
    loop(max(loops // 5, 1))
    ms = [loop(loops) for _ in range(5)]
    torch.cuda.nvtx.range_pop()
print("RESULT " + json.dumps({"ms": statistics.median(ms), "kernels": kernels}))
"""

COUNT = """
SELECT (SELECT count(*) FROM CUPTI_ACTIVITY_KIND_KERNEL k JOIN CUPTI_ACTIVITY_KIND_RUNTIME r USING (correlationId), NVTX_EVENTS n
        JOIN StringIds t ON t.id = n.textId WHERE t.value = 'measured' AND r.start BETWEEN n.start AND n.end)
"""


def measure(args, variant, program):
    kind, *options = variant.split()
    command = [sys.executable, program, kind if kind in ("cuda", "all") else "plain", args.model, str(args.batch), "1" if args.graph else "0",
               str(args.loops)]
    with tempfile.TemporaryDirectory() as folder:
        if kind == "ours":
            command = [args.swinscope, "record", "-q", "-o", folder + "/run", *options, "--", *command]
        result = subprocess.run(command, capture_output=True, text=True)
        lines = [line for line in result.stdout.splitlines() if line.startswith("RESULT ")]
        if not lines:
            raise RuntimeError(f"{variant}: status {result.returncode}: {result.stderr[-2000:]}")
        found = json.loads(lines[0][7:])
        if kind == "ours":
            with sqlite3.connect(folder + "/run/rank0.db") as db:
                found["kernels"] = db.execute(COUNT).fetchone()[0]
                found["lost"] = db.execute("SELECT coalesce(sum(count), 0) FROM SWINSCOPE_DROPS").fetchone()[0]
                found["facts"] = dict(db.execute("SELECT name, value FROM SWINSCOPE_COLLECTOR").fetchall())
                found["file_bytes"] = os.path.getsize(folder + "/run/rank0.db")
        return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--swinscope", required=True)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--model", default="swin_tiny_patch4_window7_224")
    parser.add_argument("--batch", type=int, default=1)
    parser.add_argument("--graph", action="store_true")
    parser.add_argument("--loops", type=int, default=60, help="forwards in each of the five timed loops of a process")
    parser.add_argument("--variant", action="append", default=[], help="instead of the usual ones: untraced, 'ours OPTIONS', cuda, all")
    parser.add_argument("--seconds", type=float, default=1e9, help="no new round after this time")
    parser.add_argument("--json")
    args = parser.parse_args()
    variants = args.variant or (["untraced", "ours", "ours --cuda-graph-trace graph", "cuda"] if args.graph else
                                ["untraced", "ours", "cuda", "all"])
    results = {variant: [] for variant in variants}
    end = time.time() + args.seconds
    with tempfile.NamedTemporaryFile("w", suffix=".py") as program:
        program.write(PROGRAM)
        program.flush()
        for _ in range(args.rounds):
            if time.time() > end:
                break
            for variant in random.sample(variants, len(variants)):
                results[variant].append(measure(args, variant, program.name))
    base = statistics.median(r["ms"] for r in results["untraced"])
    print(f"{args.model}, batch {args.batch}{', CUDA graph' if args.graph else ''}, {len(results['untraced'])} rounds")
    print(f"{'variant':32} {'ms':>8} {'overhead':>9} {'kernels':>9}  each round")
    for variant, found in results.items():
        ms = [r["ms"] for r in found]
        overhead = statistics.median(ms) / base - 1
        print(f"{variant:32} {statistics.median(ms):8.3f} {100 * overhead:+8.1f}% {str(found[0]['kernels']):>9}  "
              + " ".join(f"{v:.2f}" for v in ms))
    if "cuda" in results and "ours" in results:
        ours = statistics.median(r["ms"] for r in results["ours"]) - base
        theirs = statistics.median(r["ms"] for r in results["cuda"]) - base
        print(f"our overhead / torch.profiler CUDA only: {ours / theirs:.2f}; records lost: {sum(r['lost'] for r in results['ours'])}")
    if args.json:
        with open(args.json, "w") as out:
            json.dump({"model": args.model, "batch": args.batch, "graph": args.graph, "results": results}, out, indent=1)


if __name__ == "__main__":
    main()
