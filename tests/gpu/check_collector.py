#!/usr/bin/env python3
"""Holds the collector against a real GPU: `swinscope record` around small CUDA programs and PyTorch.

Exit status: 0 all checks hold, 1 one does not, 77 there is no GPU (ctest reports the test as skipped). Each check prints one
line with its figures; PyTorch's checks are left out, and say so, where there is no PyTorch with CUDA.
"""
import argparse
import ctypes
import json
import os
import random
import signal
import sqlite3
import struct
import subprocess
import sys
import tempfile
import time
from pathlib import Path

MODULUS = 40000  # of numbered_kernels
ARGS = None
FAILED = []


def say(name, ok, text):
    print(f"{'PASS' if ok else 'FAIL'} {name}: {text}", flush=True)
    if not ok:
        FAILED.append(name)


def record(folder, *options):
    return [ARGS.swinscope, "record", "-o", str(folder), *options, "--"]


def rows(db, sql):
    with sqlite3.connect(f"file:{db}?mode=ro", uri=True) as connection:
        return connection.execute(sql).fetchall()


def one(db, sql):
    return rows(db, sql)[0][0]


def gpu_count():
    try:
        driver = ctypes.CDLL("libcuda.so.1")
    except OSError:
        return 0
    count = ctypes.c_int(0)
    return count.value if driver.cuInit(0) == 0 and driver.cuDeviceGetCount(ctypes.byref(count)) == 0 else 0


def has_torch():
    code = "import torch, sys; sys.exit(0 if torch.cuda.is_available() else 1)"
    return subprocess.run([sys.executable, "-c", code], capture_output=True).returncode == 0


def lost_text(db):
    return "; ".join(f"{count} {what} ({reason})" for what, count, reason in rows(db, "SELECT what, count, reason FROM SWINSCOPE_DROPS"))


def check_kernels(tmp):
    """Every kernel once, in order, joined with its launch, on the right thread, with its facts."""
    run = tmp / "kernels"
    count = 20000
    result = subprocess.run([*record(run), ARGS.programs + "/numbered_kernels", "1e9", "0", str(tmp / "n"), str(count)],
                            capture_output=True, text=True)
    db = run / "rank0.db"
    numbers = [n for (n,) in rows(db, "SELECT dynamicSharedMemory FROM CUPTI_ACTIVITY_KIND_KERNEL ORDER BY start")]
    joined = one(db, "SELECT count(*) FROM CUPTI_ACTIVITY_KIND_KERNEL k JOIN CUPTI_ACTIVITY_KIND_RUNTIME r USING (correlationId) "
                     "JOIN StringIds n ON n.id = r.nameId WHERE n.value LIKE 'cudaLaunchKernel%' AND r.start <= k.start "
                     "AND k.globalPid = r.globalTid & 0xFFFFFFFFFF000000 AND r.globalTid & 0xFFFFFF = (k.globalPid >> 24) & 0xFFFFFF")
    names = rows(db, "SELECT DISTINCT value FROM CUPTI_ACTIVITY_KIND_KERNEL JOIN StringIds ON id = demangledName")
    gpu = rows(db, "SELECT name, smCount, uuid FROM TARGET_INFO_GPU")
    ok = (result.returncode == 7 and numbers == [i % MODULUS for i in range(count)] and joined == count
          and names == [("numbered(int*)",)] and len(gpu) == gpu_count() and not lost_text(db))
    facts = dict(rows(db, "SELECT name, value FROM SWINSCOPE_COLLECTOR"))
    say("kernels", ok, f"status {result.returncode}, {len(numbers)} kernels in order, {joined} joined with their launch, "
        f"{names}, {gpu}, {os.path.getsize(db) / max(len(numbers), 1):.0f} bytes of file a kernel and launch, lost: "
        f"{lost_text(db) or 'nothing'}, {facts}\n{result.stderr.strip()}")


def check_graph(tmp):
    """Nodes of a captured graph: within the ranges of the capture, and of the step that replays them."""
    run = tmp / "graph"
    steps = 5
    result = subprocess.run([*record(run), ARGS.programs + "/graph_ranges", str(steps)], capture_output=True, text=True)
    db = run / "rank0.db"
    # Of each node its origin, of that the ranges around; of each kernel the step around its launch.
    layers = rows(db, """
        WITH nvtx AS (SELECT start, end, globalTid, value AS name FROM (SELECT n.*, coalesce(text, s.value) AS value FROM NVTX_EVENTS n LEFT JOIN StringIds s ON s.id = n.textId)),
        origin AS (SELECT c.graphNodeId AS node, coalesce(o.start, c.start) AS at, coalesce(o.globalTid, c.globalTid) AS tid
                   FROM CUDA_GRAPH_NODE_EVENTS c LEFT JOIN CUDA_GRAPH_NODE_EVENTS o ON o.graphNodeId = c.originalGraphNodeId),
        work AS (SELECT graphNodeId, correlationId, s.value AS what FROM CUPTI_ACTIVITY_KIND_KERNEL JOIN StringIds s ON s.id = shortName
                 UNION ALL SELECT graphNodeId, correlationId, 'copy' FROM CUPTI_ACTIVITY_KIND_MEMCPY
                 UNION ALL SELECT graphNodeId, correlationId, 'set' FROM CUPTI_ACTIVITY_KIND_MEMSET)
        SELECT w.what, l.name, p.name, count(*) FROM work w JOIN origin ON node = w.graphNodeId
        JOIN nvtx l ON l.globalTid = tid AND at BETWEEN l.start AND l.end AND l.name LIKE 'model.%'
        JOIN CUPTI_ACTIVITY_KIND_RUNTIME r USING (correlationId)
        JOIN nvtx p ON p.globalTid = r.globalTid AND r.start BETWEEN p.start AND p.end AND p.name LIKE 'step%'
        GROUP BY 1, 2, 3 ORDER BY 3, 2, 1""")
    expected = [(what, layer, f"step {i}", n) for i in range(steps)
                for what, layer, n in (("first", "model.layer1", 2), ("copy", "model.layer2", 1), ("second", "model.layer2", 1),
                                       ("set", "model.layer2", 1))]
    say("graph", result.returncode == 0 and layers == expected, f"status {result.returncode}, {len(layers)} of {len(expected)} groups of "
        f"(work, layer, step), as expected: {layers == expected}, lost: {lost_text(db) or 'nothing'}")
    if layers != expected:
        print(layers, rows(db, "SELECT start, globalTid & 0xFFFFFF, graphNodeId, originalGraphNodeId FROM CUDA_GRAPH_NODE_EVENTS"),
              rows(db, "SELECT graphNodeId, start FROM CUPTI_ACTIVITY_KIND_KERNEL"))
    run = tmp / "graph_level"
    subprocess.run([*record(run, "--cuda-graph-trace", "graph"), ARGS.programs + "/graph_ranges", str(steps)], capture_output=True)
    db = run / "rank0.db"
    graphs = one(db, "SELECT count(*) FROM CUPTI_ACTIVITY_KIND_GRAPH_TRACE")
    mode = one(db, "SELECT value FROM META_DATA_CAPTURE")
    say("graph level", graphs == steps and mode == "Graph", f"{graphs} graphs of {steps}, mode {mode}")


def launched_in(counter):
    """0 while the program has not made its file yet."""
    content = counter.read_bytes()[:8]
    return struct.unpack("q", content)[0] if len(content) == 8 else 0


def kill_once(tmp, rate, i):
    run = tmp / f"kill{rate}_{i}"
    counter = tmp / "launched"
    counter.write_bytes(b"\0" * 4096)
    process = subprocess.Popen([*record(run), ARGS.programs + "/numbered_kernels", str(rate), "60", str(counter)],
                               stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    deadline = time.time() + 30
    while launched_in(counter) == 0 and time.time() < deadline:
        time.sleep(0.005)
    time.sleep(random.uniform(0.2, 2.0))
    pid = int(subprocess.run(["pgrep", "-P", str(process.pid)], capture_output=True, text=True).stdout.split()[0])
    killed = time.time()
    os.kill(pid, signal.SIGKILL)
    status = process.wait()
    launched = launched_in(counter)
    process.stderr.read()
    db = run / "rank0.db"
    numbers = [n for (n,) in rows(db, "SELECT dynamicSharedMemory FROM CUPTI_ACTIVITY_KIND_KERNEL ORDER BY start")]
    in_order = numbers == [n % MODULUS for n in range(len(numbers))]
    last = one(db, "SELECT utcEpochNs FROM TARGET_INFO_SESSION_START_TIME") + (one(db, "SELECT max(end) FROM CUPTI_ACTIVITY_KIND_KERNEL") or 0)
    intact = one(db, "PRAGMA integrity_check") == "ok"
    return dict(status=status, launched=launched, recorded=len(numbers), lost=launched - len(numbers), lost_s=killed - last / 1e9,
                ok=intact and in_order and status == 137)


def check_kill(tmp):
    for rate in (500, 5000, 50000):
        results = [kill_once(tmp, rate, i) for i in range(ARGS.kills)]
        worst = max(r["lost_s"] for r in results)
        ok = all(r["ok"] for r in results) and worst <= 1
        say(f"kill -9 at {rate}/s", ok, f"{len(results)} kills, every file opens and has no hole: {all(r['ok'] for r in results)}; lost at "
            f"most {max(r['lost'] for r in results)} records, {worst:.3f} s; median "
            f"{sorted(r['lost_s'] for r in results)[len(results) // 2]:.3f} s; launched {[r['launched'] for r in results]}")


def check_other_subscriber(tmp):
    run = tmp / "other"
    env = dict(os.environ)
    if ARGS.cupti:
        env["LD_LIBRARY_PATH"] = str(Path(ARGS.cupti).parent)
    result = subprocess.run([*record(run), ARGS.programs + "/other_subscriber"], capture_output=True, text=True, env=env)
    db = run / "rank0.db"
    fact = dict(rows(db, "SELECT name, value FROM SWINSCOPE_COLLECTOR")).get("cuda.activity", "")
    ranges = one(db, "SELECT count(*) FROM NVTX_EVENTS WHERE eventType = 59")
    ok = result.returncode == 5 and fact.startswith("not recorded") and fact in result.stderr.replace("CUDA activity was ", "") and ranges == 1
    say("another subscriber first", ok, f"status {result.returncode}, {result.stdout.split()}, fact: {fact}; ranges kept: {ranges}\n"
        f"{result.stderr.strip()}")


PROFILED = """
import sys, json, torch
from collections import Counter
torch.manual_seed(0)
m = torch.nn.Sequential(torch.nn.Linear(512, 512), torch.nn.GELU(), torch.nn.LayerNorm(512), torch.nn.Linear(512, 64)).cuda().half()
x = torch.randn(64, 512, device="cuda").half()
def work():
    for _ in range(200):
        y = m(x); z = torch.softmax(y, -1); z.sum().item()
work(); torch.cuda.synchronize()
if sys.argv[1] == "profiler":
    from torch.profiler import profile, ProfilerActivity
    with profile(activities=[ProfilerActivity.CUDA], acc_events=True) as p:
        torch.cuda.nvtx.range_push("measured"); work(); torch.cuda.synchronize(); torch.cuda.nvtx.range_pop()
    p.export_chrome_trace(sys.argv[2])
else:
    torch.cuda.nvtx.range_push("measured"); work(); torch.cuda.synchronize(); torch.cuda.nvtx.range_pop()
"""


def profiler_kernels(trace):
    events = json.load(open(trace))["traceEvents"]
    return [(e["name"], e["dur"] * 1000) for e in events if e.get("cat") == "kernel"]


def check_counts(tmp):
    """The kernels of a deterministic program: ours and those of torch.profiler, by name, and their time."""
    program = tmp / "profiled.py"
    program.write_text(PROFILED)
    trace = tmp / "trace.json"
    subprocess.run([sys.executable, str(program), "profiler", str(trace)], check=True, capture_output=True)
    theirs = profiler_kernels(trace)
    run = tmp / "counts"
    subprocess.run([*record(run), sys.executable, str(program), "plain"], check=True, capture_output=True)
    ours = rows(run / "rank0.db", """
        SELECT d.value, k.end - k.start FROM CUPTI_ACTIVITY_KIND_KERNEL k JOIN StringIds d ON d.id = demangledName
        JOIN CUPTI_ACTIVITY_KIND_RUNTIME r USING (correlationId)
        JOIN (SELECT n.*, coalesce(text, s.value) AS value FROM NVTX_EVENTS n LEFT JOIN StringIds s ON s.id = n.textId) n ON r.start BETWEEN n.start AND n.end WHERE n.value = 'measured'""")

    def by_name(kernels):
        counts = {}
        for name, _ in kernels:
            counts[name] = counts.get(name, 0) + 1
        return counts
    same = by_name(ours) == by_name(theirs)
    time_ratio = sum(d for _, d in ours) / max(sum(d for _, d in theirs), 1)
    say("counts", same and len(ours) > 0 and abs(time_ratio - 1) < 0.05, f"{len(ours)} kernels, torch.profiler {len(theirs)}, "
        f"{len(by_name(ours))} names with equal counts: {same}; kernel time ours / theirs {time_ratio:.4f}")
    if not same:
        a, b = by_name(ours), by_name(theirs)
        print({k[:90]: (a.get(k), b.get(k)) for k in set(a) | set(b) if a.get(k) != b.get(k)})


def check_profiler_under_record(tmp):
    program = tmp / "profiled.py"
    program.write_text(PROFILED)
    run = tmp / "profiler_under_record"
    trace = tmp / "trace2.json"
    result = subprocess.run([*record(run), sys.executable, str(program), "profiler", str(trace)], capture_output=True, text=True)
    db = run / "rank0.db"
    ours = one(db, "SELECT count(*) FROM CUPTI_ACTIVITY_KIND_KERNEL")
    theirs = len(profiler_kernels(trace)) if trace.exists() else 0
    facts = dict(rows(db, "SELECT name, value FROM SWINSCOPE_COLLECTOR"))
    ranges = one(db, "SELECT count(*) FROM NVTX_EVENTS WHERE eventType = 59")
    say("torch.profiler under record", result.returncode == 0 and ranges == 1 and ours + theirs > 0, f"status {result.returncode}, ours {ours} kernels, "
        f"torch.profiler {theirs}, ranges {ranges}, {facts}, lost: {lost_text(db) or 'nothing'}\n{result.stderr.strip()[-1500:]}")


UNCHANGED = [
    ("true", ["true"]), ("exit 3", ["sh", "-c", "echo out; echo err >&2; exit 3"]), ("cat", ["cat", "/proc/sys/kernel/ostype"]),
    ("signal", ["sh", "-c", "kill -TERM $$"]), ("python sqlite", [sys.executable, "-c", "import sqlite3; c = sqlite3.connect(':memory:'); "
     "print(c.execute('select sqlite_version(), 40 + 2').fetchone()[1])"]),
    ("kernels", ["{programs}/numbered_kernels", "1e9", "0", "/dev/shm/swinscope_check", "1000"]), ("graph", ["{programs}/graph_ranges", "3"]),
    ("python _exit", [sys.executable, "-c", "import os; print('x', flush=True); os._exit(9)"]),
]
UNCHANGED_TORCH = [
    ("torch sqlite", [sys.executable, "-c", "import torch, sqlite3; c = sqlite3.connect(':memory:'); c.execute('create table t(x)'); "
     "c.executemany('insert into t values(?)', [(i,) for i in range(1000)]); x = torch.ones(10, device='cuda').sum().item(); "
     "print(x, c.execute('select sum(x) from t').fetchone())"]),
    ("torch abort", [sys.executable, "-c", "import torch, os; print(torch.ones(4, device='cuda').sum().item(), flush=True); os.abort()"]),
    ("torch _exit", [sys.executable, "-c", "import torch, os; print(torch.ones(4, device='cuda').sum().item(), flush=True); os._exit(4)"]),
    ("torch exception", [sys.executable, "-c", "import torch; torch.ones(4, device='cuda') @ torch.ones(5, device='cuda')"]),
    ("torch loader", [sys.executable, "-c", "import torch, torch.utils.data as d\nclass S(d.Dataset):\n  def __len__(s): return 64\n"
     "  def __getitem__(s, i): return torch.full((4,), float(i))\nprint(sum(b.cuda().sum().item() for b in d.DataLoader(S(), 8, num_workers=4)))"]),
]


def check_unchanged(tmp):
    """Exit status, stdout and stderr with and without recording."""
    programs = UNCHANGED + (UNCHANGED_TORCH if ARGS.torch else [])
    differ = []
    for i, (name, command) in enumerate(programs):
        command = [part.replace("{programs}", ARGS.programs) for part in command]
        plain = subprocess.run(command, capture_output=True, text=True)
        recorded = subprocess.run([*record(tmp / f"unchanged{i}", "-q"), *command], capture_output=True, text=True)
        expected = plain.returncode if plain.returncode >= 0 else 128 - plain.returncode
        if (recorded.returncode, recorded.stdout, recorded.stderr) != (expected, plain.stdout, plain.stderr):
            differ.append((name, expected, recorded.returncode, plain.stdout[-200:], recorded.stdout[-200:], plain.stderr[-300:],
                           recorded.stderr[-300:]))
    say("unchanged", not differ, f"{len(programs)} programs, {len(differ)} with another status, stdout or stderr {differ}")


def steps_in(db):
    """The steps of which kernels were recorded, with their number and how many have their launch."""
    found = rows(db, "SELECT dynamicSharedMemory, count(*), count(r.correlationId) FROM CUPTI_ACTIVITY_KIND_KERNEL LEFT JOIN "
                     "CUPTI_ACTIVITY_KIND_RUNTIME r USING (correlationId) GROUP BY 1 ORDER BY 1")
    return {step: (kernels, launches) for step, kernels, launches in found}


def check_windows(tmp):
    program = [ARGS.programs + "/stepped_kernels", "12", "20"]
    whole = {step: (10, 10) for step in range(12)}
    hot = {step: (10, 10) for step in range(5, 9)}
    for i, (name, options, expected) in enumerate((("whole", [], whole), ("--steps 5:9", ["--steps", "5:9"], hot),
                                                   ("--capture-range nvtx:hot", ["--capture-range", "nvtx:hot"], hot),
                                                   ("--capture-range cudaProfilerApi", ["--capture-range", "cudaProfilerApi"], hot),
                                                   ("--armed without a trigger", ["--armed"], {}))):
        run = tmp / f"window{i}"
        result = subprocess.run([*record(run, *options), *program], capture_output=True, text=True)
        db = run / "rank0.db"
        found = steps_in(db)
        other = rows(db, "SELECT DISTINCT value FROM CUPTI_ACTIVITY_KIND_RUNTIME JOIN StringIds ON id = nameId")
        ranges = one(db, "SELECT count(*) FROM (SELECT n.*, coalesce(text, s.value) AS value FROM NVTX_EVENTS n LEFT JOIN StringIds s ON s.id = n.textId) WHERE value LIKE 'step%'")
        say(name, result.returncode == 0 and found == expected and ranges == 12,
            f"status {result.returncode}, steps with (kernels, launches) {found if found != whole else 'all of 10 and 10'}, ranges {ranges}, calls "
            f"{sorted(n for (n,) in other)}, {dict(rows(db, 'SELECT name, value FROM SWINSCOPE_COLLECTOR')).get('cuda.activity')}, lost: "
            f"{lost_text(db) or 'nothing'}")
    run = tmp / "duration"
    subprocess.run([*record(run, "--duration", "1"), ARGS.programs + "/stepped_kernels", "150", "20"], capture_output=True)
    found = steps_in(run / "rank0.db")
    say("--duration 1", 0 < len(found) < 100 and sorted(found) == list(range(len(found))), f"steps 0 to {len(found) - 1} of 150 at 20 ms each")
    run = tmp / "armed"
    process = subprocess.Popen([*record(run, "--armed"), ARGS.programs + "/stepped_kernels", "200", "20"], stderr=subprocess.DEVNULL)
    time.sleep(2)
    subprocess.run([ARGS.swinscope, "trigger", str(run)], check=True, capture_output=True)
    time.sleep(1)
    subprocess.run([ARGS.swinscope, "trigger", str(run)], check=True, capture_output=True)
    process.wait()
    found = sorted(steps_in(run / "rank0.db"))
    say("--armed and trigger", process.returncode == 0 and 10 < len(found) < 150 and found == list(range(found[0], found[-1] + 1)) and found[0] > 0,
        f"status {process.returncode}, steps {found[0] if found else None} to {found[-1] if found else None} of 200")
    run = tmp / "size"
    result = subprocess.run([*record(run, "--max-size", "4M"), ARGS.programs + "/numbered_kernels", "100000", "2", str(tmp / "n")],
                            capture_output=True, text=True)
    db = run / "rank0.db"
    size = os.path.getsize(db)
    say("--max-size 4M", result.returncode == 7 and size < 16 << 20 and one(db, "SELECT complete FROM SWINSCOPE_RUN") == 1 and "max-size" in lost_text(db),
        f"status {result.returncode}, {size / (1 << 20):.1f} MiB, lost: {lost_text(db)}")


# 8448 = 66 x 128: the tiles of the product are a multiple of the 132 multiprocessors of an H100 or H200, so that none idles at the
# end of a product.
BURST = """
import time, torch
a = torch.randn(8448, 8192, device="cuda", dtype=torch.bfloat16); b = torch.randn(8192, 8192, device="cuda", dtype=torch.bfloat16)
c = a @ b; torch.cuda.synchronize()
time.sleep(1.5)
torch.cuda.nvtx.range_push("burst")
end = time.time() + 2
while time.time() < end:
    for _ in range(100): torch.mm(a, b, out=c)
    torch.cuda.synchronize()
torch.cuda.nvtx.range_pop()
time.sleep(1.5)
"""


def check_gpu_metrics(tmp):
    program = tmp / "burst.py"
    program.write_text(BURST)
    run = tmp / "metrics"
    result = subprocess.run([*record(run, "--gpu-metrics", "10"), sys.executable, str(program)], capture_output=True, text=True)
    db = run / "rank0.db"
    epoch, begin, end = rows(db, "SELECT utcEpochNs, start, end FROM (SELECT n.*, coalesce(text, s.value) AS value FROM NVTX_EVENTS n LEFT JOIN StringIds s ON s.id = n.textId), TARGET_INFO_SESSION_START_TIME "
                                 "WHERE value = 'burst'")[0]
    metrics = run / "record.db"
    offset = one(metrics, "SELECT utcEpochNs FROM TARGET_INFO_SESSION_START_TIME")
    series = {}
    gpu = one(metrics, f"SELECT id FROM TARGET_INFO_GPU WHERE uuid = '{one(db, 'SELECT uuid FROM TARGET_INFO_GPU')}'")
    for name, at, value in rows(metrics, "SELECT metricName, timestamp, value FROM GPU_METRICS JOIN TARGET_INFO_GPU_METRICS USING (typeId, metricId) "
                                         f"WHERE typeId & 255 = {gpu} ORDER BY timestamp"):
        when = at + offset - epoch
        # A sample is about the time since the last one: those that reach over an edge say nothing.
        where = "burst" if begin + 4e8 < when < end else "quiet" if end + 4e8 < when < end + 1.4e9 or begin - 1.0e9 < when < begin else None
        if where:
            series.setdefault(name, {}).setdefault(where, []).append(value)
    sm = series.get("SM active [0.01 %]", {})
    tensor = series.get("Tensor active [0.01 %]", {})
    clock = series.get("SM clock [MHz]", {})
    say("GPU metrics", result.returncode == 0 and min(sm.get("burst", [0])) > 9000 and max(sm.get("quiet", [1e9])) < 500 and
        min(tensor.get("burst", [0])) > 8000 and max(tensor.get("quiet", [1e9])) < 500 and min(clock.get("burst", [0])) > 0,
        f"status {result.returncode}, " + "; ".join(f"{name}: {by}" for name, by in series.items()) + f"\n{result.stderr.strip()[-500:]}")


EVENTS = """
import torch
a, b = torch.cuda.Stream(), torch.cuda.Stream(priority=-1)
x = torch.randn(4096, 4096, device="cuda")
events = [torch.cuda.Event() for _ in range(3)]
for i in range(30):
    with torch.cuda.stream(a):
        x.mul_(0.5); events[i % 3].record(a)
    b.wait_event(events[i % 3])
    with torch.cuda.stream(b): x.add_(1.0)
    a.wait_stream(b)
torch.cuda.synchronize()
y = torch.empty(48 << 20, dtype=torch.uint8, device="cuda"); del y; torch.cuda.empty_cache(); print("done")
"""


def check_events_and_memory(tmp):
    """Which stream waited for what, what was allocated and released, and the streams' own facts."""
    program = tmp / "events.py"
    program.write_text(EVENTS)
    run = tmp / "events"
    result = subprocess.run([*record(run, "--trace", "cuda,nvtx,sync,memory"), sys.executable, str(program)], capture_output=True, text=True)
    db = run / "rank0.db"
    waits = rows(db, "SELECT e.streamId, s.streamId, count(*), count(DISTINCT e.correlationId), sum(c.value LIKE '%EventRecord%') "
                     "FROM CUPTI_ACTIVITY_KIND_SYNCHRONIZATION s JOIN CUPTI_ACTIVITY_KIND_CUDA_EVENT e USING (eventSyncId) "
                     "LEFT JOIN CUPTI_ACTIVITY_KIND_RUNTIME r ON r.correlationId = e.correlationId LEFT JOIN StringIds c ON c.id = r.nameId "
                     "WHERE s.syncType = 2 GROUP BY 1, 2")
    types = rows(db, "SELECT syncType, count(*) FROM CUPTI_ACTIVITY_KIND_SYNCHRONIZATION GROUP BY 1")
    memory = rows(db, "SELECT memoryOperationType, memKind, bytes, count(*) FROM CUDA_GPU_MEMORY_USAGE_EVENTS WHERE bytes = 48 << 20 GROUP BY 1, 2, 3")
    joined = one(db, "SELECT count(*) FROM CUDA_GPU_MEMORY_USAGE_EVENTS JOIN CUPTI_ACTIVITY_KIND_RUNTIME USING (correlationId)")
    streams = rows(db, "SELECT s.streamId, s.priority, s.flag, c.deviceId, c.nullStreamId FROM TARGET_INFO_CUDA_STREAM s "
                       "JOIN TARGET_INFO_CUDA_CONTEXT_INFO c USING (contextId)")
    used = {stream for (stream,) in rows(db, "SELECT DISTINCT streamId FROM CUPTI_ACTIVITY_KIND_KERNEL")}
    ok = (result.returncode == 0 and len(waits) == 2 and all(count == 30 == recorded for _, _, count, recorded, _ in waits)
          and memory == [(0, 2, 48 << 20, 1), (1, 2, 48 << 20, 1)] and used <= {s[0] for s in streams} | {s[4] for s in streams})
    say("events, memory, streams", ok, f"status {result.returncode}, waits (recorded on, waited on, how many, of how many recordings, with "
        f"their call) {waits}, sync types {types}, 48 MiB (0 allocated, 1 released; kind; bytes; count) {memory}, {joined} operations join their "
        f"call, streams used {sorted(used)}, known (stream, priority, flag, device, null stream) {streams[:3]} of {len(streams)}, lost: "
        f"{lost_text(db) or 'nothing'}\n{result.stderr.strip()[-400:]}")


MODULES = """
import torch
class Block(torch.nn.Module):
    def __init__(s):
        super().__init__(); s.norm = torch.nn.LayerNorm(256); s.fc = torch.nn.Linear(256, 256)
    def forward(s, x): return x + torch.relu_(s.fc(s.norm(x)))
m = torch.nn.Sequential(Block(), Block(), torch.nn.Linear(256, 10)).cuda(); x = torch.randn(32, 256, device="cuda")
for _ in range(4): m(x).sum().backward()
torch.cuda.synchronize(); print("done")
"""


def check_modules(tmp):
    program = tmp / "modules.py"
    program.write_text(MODULES)
    run = tmp / "modules"
    result = subprocess.run([*record(run, "--torch-modules"), sys.executable, str(program)], capture_output=True, text=True)
    table = subprocess.run([ARGS.swinscope, "layers", str(run), "--format", "json"], capture_output=True, text=True)
    wanted = {"forward": {"0.norm", "0.fc", "1.norm", "1.fc", "2", "0", "1"}, "backward": {"0.norm", "0.fc", "1.norm", "1.fc", "2", "0", "1"}}
    with_gpu = {}
    for row in json.loads(table.stdout)["data"]["layers"]:
        if row["operation"] == "module" and row["gpu_ns"]:
            with_gpu.setdefault(row["phase"], {})[row["path"]] = (row["gpu_events"], round(row["gpu_ns"] / 1e3))
    inside = one(run / "rank0.db", "SELECT count(*) FROM CUPTI_ACTIVITY_KIND_KERNEL")
    counted = sum(events for layers in with_gpu.values() for events, _ in layers.values())
    say("--torch-modules", result.returncode == 0 and result.stdout == "done\n" and all(wanted[phase] <= set(with_gpu.get(phase, {})) for phase in wanted),
        f"status {result.returncode}, (GPU events, us) by phase and module {with_gpu}; {counted} of {inside} kernels are in a module\n"
        f"{result.stderr.strip()[-400:]}")


RANKS = """
import os, torch, torch.distributed as dist, torch.utils.data as data
dist.init_process_group("nccl"); r = dist.get_rank(); torch.cuda.set_device(r)
m = torch.nn.parallel.DistributedDataParallel(torch.nn.Sequential(torch.nn.Linear(1024, 1024), torch.nn.GELU(), torch.nn.Linear(1024, 1024)).cuda(), device_ids=[r])
opt = torch.optim.AdamW(m.parameters())
class S(data.Dataset):
    def __len__(s): return 64 * 6
    def __getitem__(s, i): return torch.full((1024,), float(i))
for i, x in enumerate(data.DataLoader(S(), 64, num_workers=4)):
    torch.cuda.nvtx.range_push(f"step {i}"); opt.zero_grad(); m(x.cuda()).square().mean().backward(); opt.step(); torch.cuda.synchronize(); torch.cuda.nvtx.range_pop()
dist.destroy_process_group()
"""


def check_ranks(tmp):
    program = tmp / "ranks.py"
    program.write_text(RANKS)
    run = tmp / "ranks"
    result = subprocess.run([*record(run), sys.executable, "-m", "torch.distributed.run", "--nproc_per_node", "2", str(program)], capture_output=True,
                            text=True)
    found = []
    for rank in (0, 1):
        db = run / f"rank{rank}.db"
        nccl = rows(db, "SELECT value, count(*) FROM CUPTI_ACTIVITY_KIND_KERNEL JOIN StringIds ON id = shortName WHERE value LIKE 'nccl%' GROUP BY 1")
        payloads = rows(db, "SELECT t.value, j.value, count(*) FROM NVTX_EVENTS JOIN StringIds t ON t.id = textId JOIN StringIds j ON j.id = jsonTextId "
                            "WHERE t.value LIKE 'nccl%' GROUP BY 1, 2 LIMIT 4")
        collectives = rows(db, "SELECT name, inElements, outElements, dtype, groupSize, groupName, count(*) FROM SWINSCOPE_COLLECTIVE GROUP BY 1, 2, 3, 4, 5, 6")
        found.append((one(db, "SELECT count(*) FROM CUPTI_ACTIVITY_KIND_KERNEL"), nccl, payloads, lost_text(db) or "nothing lost",
                      one(db, "SELECT worldSize FROM SWINSCOPE_RUN"), collectives))
    table = subprocess.run([ARGS.swinscope, "analyze", str(run)], capture_output=True, text=True).stdout
    # The model's gradients, 2 x (1024 x 1024 + 1024) floats, at each of the six steps on both ranks.
    ok = result.returncode == 0 and all(
        nccl and any("Reduce" in name for name, _ in nccl) and payloads and world == 2 and sum(n for _, n in nccl) == sum(c[6] for c in collectives)
        and sum(c[1] * c[6] for c in collectives if c[0] == "allreduce") >= 6 * 4 * 2 * (1024 * 1024 + 1024) and {c[4] for c in collectives} == {2}
        for _, nccl, payloads, _, world, collectives in found) and {c[5] for c in found[0][5]} == {c[5] for c in found[1][5]}
    say("torchrun, 2 ranks", ok, f"status {result.returncode}, files {sorted(p.name for p in run.iterdir())}")
    for rank, (kernels, nccl, payloads, lost, world, collectives) in enumerate(found):
        print(f"  rank {rank} of {world}: {kernels} kernels, {lost}; NCCL's kernels {nccl}\n    payloads {payloads[:2]}\n    collectives (name, in, out, "
              f"type, ranks, communicator, how many) {collectives}")
    print(table[:1500], result.stderr.strip()[-800:])
    if ARGS.keep:
        for file in run.iterdir():
            (Path(ARGS.keep) / f"ranks_{file.name}").write_bytes(file.read_bytes())


def check_disk_full(tmp):
    """A file system of a few MiB, filled while the program runs: its status is its own, and the drops are said."""
    small = tmp / "small"
    small.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=3m", "tmpfs", str(small)], capture_output=True).returncode != 0:
        print("SKIP disk full: no right to mount a small file system here")
        return
    try:
        result = subprocess.run([*record(small / "run"), ARGS.programs + "/numbered_kernels", "50000", "2", str(tmp / "n")],
                                capture_output=True, text=True)
        lost = [line for line in result.stderr.splitlines() if "lost" in line]
        say("disk full", result.returncode == 7 and bool(lost), f"status {result.returncode}, {lost}")
    finally:
        subprocess.run(["umount", str(small)])


def main():
    global ARGS
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--swinscope", required=True)
    parser.add_argument("--programs", required=True, help="folder of the CUDA programs of tests/gpu/programs")
    parser.add_argument("--only", default="", help="names of checks, separated by commas")
    parser.add_argument("--kills", type=int, default=5, help="for each rate")
    parser.add_argument("--keep", default="", help="folder to copy the recording of the two ranks to")
    parser.add_argument("--cupti", default="", help="path of libcupti for the programs that bring none")
    ARGS = parser.parse_args()
    ARGS.programs = os.path.abspath(ARGS.programs)
    ARGS.swinscope = os.path.abspath(ARGS.swinscope)
    if gpu_count() == 0:
        print("SKIPPED: no NVIDIA GPU with a driver on this machine")
        return 77
    if ARGS.cupti:
        os.environ["SWINSCOPE_CUPTI"] = ARGS.cupti
    checks = dict(kernels=check_kernels, graph=check_graph, other=check_other_subscriber, unchanged=check_unchanged, disk=check_disk_full,
                  kill=check_kill, windows=check_windows)
    ARGS.torch = has_torch()
    if ARGS.torch:
        checks.update(counts=check_counts, profiler=check_profiler_under_record, metrics=check_gpu_metrics, modules=check_modules, events=check_events_and_memory)
        if gpu_count() >= 2:
            checks.update(ranks=check_ranks)
        else:
            print("SKIP ranks: one GPU on this machine")
    else:
        print("SKIP what needs PyTorch: no PyTorch with CUDA")
    for name, check in checks.items():
        if ARGS.only and name not in ARGS.only.split(","):
            continue
        with tempfile.TemporaryDirectory(prefix="swinscope_") as tmp:
            try:
                check(Path(tmp))
            except Exception as error:  # the other checks still say what they find
                say(name, False, repr(error))
    return 1 if FAILED else 0


if __name__ == "__main__":
    sys.exit(main())
