#!/usr/bin/env python3
"""How long `analyze` and `ranks` take on traces of millions of events, and how much memory: made-up files, measured.

    tests/bench/big_traces.py build/release/bin/swinscope [CASE…] [--folder DIR] [--repeat N] [--events N]

The cases, all of them without a name but `huge` and `growth`, which need ten and five GB of disk:
    summaries  4,096 ranks of which each file carries its summary: `ranks` from these, and as `auto` chooses
    job        64 ranks of 200,000 GPU events and as many calls each, with collectives: `analyze` and `ranks`
    export     an Nsight Systems export of 5 million kernels and 5 million calls: `analyze`
    huge       an export of --events (100 million) kernels and calls together: `analyze`
    growth     1, 2, 5, 10 and 20 million ranges of a thousand names: `info` and `analyze`, and the exponents n by which
               CPU time and memory grow as the n-th power of the ranges
    advice     8 ranks of 10 steps of PyTorch, the two steps and ranks of data/pytorch_swin_tiny_ddp_2gpu again and again: `advise`

--small makes a hundredth of each, of growth a thousandth, of advice 2 ranks of 4 steps. Files that are there already are used again, so that two programs can be compared. The
elapsed time and the peak memory are those of the whole process as the kernel counts them; of --repeat runs the fastest.
"""
import argparse
import gzip
import json
import math
import os
import sqlite3
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PID = 1000 << 24
MAIN_THREAD = PID + 1000
SLOT_NS = 10_000  # between two launches
NAMES = 300  # different kernels
EVENT_TABLES = ("CUPTI_ACTIVITY_KIND_KERNEL", "CUPTI_ACTIVITY_KIND_MEMCPY", "CUPTI_ACTIVITY_KIND_MEMSET",
                "CUPTI_ACTIVITY_KIND_GRAPH_TRACE", "CUPTI_ACTIVITY_KIND_RUNTIME", "NVTX_EVENTS")

# Kernel i of a rank is launched in slot i. Every hundredth is an all-reduce on a stream of its own, over two slots, that begins
# up to 2 us later on one rank than on another and ends on all at the same time; the others take 4 to 7 us.
KERNELS = """
INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL (
    start, end, deviceId, contextId, streamId, correlationId, globalPid, demangledName, shortName, mangledName,
    launchType, registersPerThread, gridX, gridY, gridZ, blockX, blockY, blockZ, staticSharedMemory,
    dynamicSharedMemory, localMemoryPerThread, localMemoryTotal, gridId)
WITH RECURSIVE n(i) AS (VALUES (0) UNION ALL SELECT i + 1 FROM n WHERE i + 1 < :events),
    kernel AS (SELECT i, i * :slot AS at, :collectives AND i % 100 = 99 AS together FROM n)
SELECT at + CASE WHEN together THEN 6000 + (:rank * 7919 + i * 104729) % 2000 ELSE 6000 END,
       at + CASE WHEN together THEN 20000 ELSE 10000 + i * 7919 % 3000 END,
       :device, 1, CASE WHEN together THEN 20 ELSE 7 END, i + 1, :pid,
       CASE WHEN together THEN 1 ELSE 2 + i % :names END, CASE WHEN together THEN 1 ELSE 1002 + i % :names END, NULL,
       1, 32 + i % 8, 132 + i % 50, 1, 1, 256, 1, 1, 0, 49152, 0, 0, i
FROM kernel"""

CALLS = """
INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME (start, end, eventClass, globalTid, correlationId, nameId, returnValue)
WITH RECURSIVE n(i) AS (VALUES (0) UNION ALL SELECT i + 1 FROM n WHERE i + 1 < :events)
SELECT i * :slot, i * :slot + 3000 + i * 104729 % 2000, 0, :thread, i + 1, 2000, 0 FROM n"""

NAMED_RANGES = """
INSERT INTO NVTX_EVENTS (start, end, eventType, text, globalTid, domainId)
WITH RECURSIVE n(i) AS (VALUES (0) UNION ALL SELECT i + 1 FROM n WHERE i + 1 < :events)
SELECT i * 2000, i * 2000 + 1000 + i * 104729 % 900, 59, 'range ' || i % 1000, :thread, 0 FROM n"""

RANGES = """
INSERT INTO NVTX_EVENTS (start, end, eventType, text, globalTid, domainId)
WITH RECURSIVE n(i) AS (VALUES (0) UNION ALL SELECT i + 1 FROM n WHERE i + 1 < :steps)
SELECT i * :length, (i + 1) * :length, 59, 'step ' || i, :thread, 0 FROM n"""

COLLECTIVES = """
INSERT INTO SWINSCOPE_COLLECTIVE (
    globalPid, correlationId, name, inElements, outElements, dtype, groupSize, groupName, ranks, seq)
WITH RECURSIVE n(i) AS (VALUES (99) UNION ALL SELECT i + 100 FROM n WHERE i + 100 < :events)
SELECT :pid, i + 1, 'allreduce', 1048576, 1048576, 'Float', :world, '0x5ca1ab1e', '', i / 100 FROM n"""


def opened(file, schema):
    """A new database for many rows that nobody else reads yet."""
    database = sqlite3.connect(file, isolation_level=None)
    database.executescript("PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; PRAGMA page_size=4096")
    database.executescript((ROOT / schema).read_text(encoding="utf-8"))
    return database


def fill(database, events, steps, rank=0, world=1):
    """Kernels, calls and steps of one process."""
    values = {"events": events, "slot": SLOT_NS, "collectives": world > 1, "rank": rank, "device": rank % 8, "pid": PID,
              "thread": MAIN_THREAD, "names": NAMES, "steps": steps, "length": events // steps * SLOT_NS, "world": world}
    database.execute("BEGIN")
    database.execute("INSERT INTO StringIds VALUES (1, 'ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)')")
    for i in range(NAMES):
        name = ("cutlass_80_tensorop_gemm", "vectorized_elementwise_kernel", "layer_norm_kernel")[i % 3] + f"_{i}"
        database.execute("INSERT INTO StringIds VALUES (?, ?), (?, ?)",
                         (2 + i, f"void at::native::{name}<4, float>(int, float*)", 1002 + i, name))
    database.execute("INSERT INTO StringIds VALUES (2000, 'cudaLaunchKernel_v7000')")
    for statement in (KERNELS, CALLS, RANGES) + ((COLLECTIVES,) if world > 1 else ()):
        database.execute(statement, values)
    database.execute("COMMIT")


def write_export(file, events, steps):
    database = opened(file, "tests/golden/nsys_3_25.sql")
    fill(database, events, steps)
    database.execute("INSERT INTO PROCESSES VALUES (?, 1000, 'train')", (PID,))
    for (table,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall():
        if database.execute(f"SELECT count(*) FROM (SELECT 1 FROM {table} LIMIT 1)").fetchone() == (0,):
            database.execute(f"DROP TABLE {table}")
    database.close()


def write_rank(file, events, steps, rank, world):
    database = opened(file, "store/schema.sql")
    database.execute("INSERT INTO SWINSCOPE_RUN VALUES (1, 'swinscope', '', ?, ?, ?, ?, 'train', 1)",
                     (rank, world, PID, f"node{rank // 8}"))
    fill(database, events, steps, rank, world)
    database.close()


def write_ranges(file, count):
    database = opened(file, "store/schema.sql")
    database.execute("INSERT INTO SWINSCOPE_RUN VALUES (1, 'swinscope', '', 0, 1, ?, 'node0', 'train', 1)", (PID,))
    database.execute("BEGIN")
    database.execute(NAMED_RANGES, {"events": count, "thread": MAIN_THREAD})
    database.execute("COMMIT")
    database.close()


def write_job(folder, ranks, events, steps):
    for rank in range(ranks):
        write_rank(folder / f"rank{rank}.db", events, steps, rank, ranks)


def summary_step_ns(rank):
    """Of a made-up summary, and not what the events of the file say: so it shows which of the two was read."""
    return 10_000_000 + rank


def write_summaries(folder, ranks):
    """One small recording, again and again with another rank and other figures."""
    pattern = folder / "rank0.db"
    write_rank(pattern, 1000, 10, 0, ranks)
    database = sqlite3.connect(pattern)
    source = ", ".join(f"{database.execute(f'SELECT ifnull(max(rowid), 0) FROM {table}').fetchone()[0]} {table}"
                       for table in EVENT_TABLES)
    names = [row[1] for row in database.execute("PRAGMA table_info(SWINSCOPE_SUMMARY)")]
    values = {name: 1_000_000 for name in names if name.endswith("Ns")}
    values.update(version=1, source=source, rank=0, worldSize=ranks, host="node0", steps=10, warmupSteps=None, deviceId=0,
                  events=1000, deviceSteps=10, windowNs=100_000_000, stepNs=summary_step_ns(0), computeNs=60_000_000)
    database.execute(f"INSERT INTO SWINSCOPE_SUMMARY ({','.join(values)}) VALUES ({','.join('?' * len(values))})",
                     list(values.values()))
    database.commit()
    database.close()
    content = pattern.read_bytes()
    for rank in range(1, ranks):
        file = folder / f"rank{rank}.db"
        file.write_bytes(content)
        database = sqlite3.connect(file)
        database.executescript("PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF")
        database.execute("UPDATE SWINSCOPE_RUN SET rank = ?, host = ?", (rank, f"node{rank // 8}"))
        database.execute("UPDATE SWINSCOPE_SUMMARY SET rank = ?, host = ?, stepNs = ?, computeNs = computeNs + ?",
                         (rank, f"node{rank // 8}", summary_step_ns(rank), rank * 1000))
        database.commit()
        database.close()


def write_repeated(folder, ranks, times):
    """A recorded PyTorch job as one of more ranks that went on for longer: its ranks and steps again and again."""
    recorded = [json.loads(gzip.decompress((ROOT / f"data/pytorch_swin_tiny_ddp_2gpu/rank{rank}.kineto.json.gz").read_bytes()))
                for rank in range(2)]
    steps = [event for trace in recorded for event in trace["traceEvents"] if event["name"].startswith("ProfilerStep#")
             and event["cat"] == "user_annotation"]
    period = max(event["ts"] + event["dur"] for event in steps) - min(event["ts"] for event in steps)
    all_ranks = str(list(range(ranks)))
    for rank in range(ranks):
        trace = dict(recorded[rank % 2])
        trace["distributedInfo"] = {"backend": "nccl", "rank": rank, "world_size": ranks}
        events = []
        for time_of in range(times):
            events += [repeated(event, time_of, period, ranks, all_ranks) for event in trace["traceEvents"]
                       if time_of == 0 or event["ph"] != "M"]
        trace["traceEvents"] = events
        (folder / f"rank{rank}.kineto.json").write_text(json.dumps(trace), encoding="utf-8")


def repeated(event, time_of, period, ranks, all_ranks):
    """The same event so many periods later, in a job of so many ranks; ids of each time are its own."""
    if event["ph"] == "M":
        return event
    own = time_of * 10_000_000
    changed = dict(event, ts=round(event["ts"] + time_of * period, 3))
    if "id" in event:
        changed["id"] = event["id"] + own
    arguments = dict(event.get("args", {}))
    for key in ("External id", "correlation", "Sequence number"):
        if arguments.get(key, 0) > 0:
            arguments[key] += own
    if "Process Group Ranks" in arguments:
        arguments.update({"Group size": ranks, "Process Group Ranks": all_ranks})
    if event["name"].startswith("ProfilerStep#"):
        changed["name"] = f"ProfilerStep#{int(event['name'].removeprefix('ProfilerStep#')) + 2 * time_of}"
    return dict(changed, args=arguments)


def made(path, write):
    """Writes a file or folder where it is not there yet; what was cut off meanwhile is not taken for whole."""
    if path.exists():
        return path
    begun = path.with_name(path.name + ".begun")
    subprocess.run(["rm", "-rf", begun], check=True)
    begun.parent.mkdir(parents=True, exist_ok=True)
    print(f"making {path}", file=sys.stderr)
    write(begun)
    os.replace(begun, path)
    return path


def in_folder(write):
    return lambda folder: (folder.mkdir(), write(folder))


def run(command, output):
    """Seconds, seconds of CPU and bytes at most of a command."""
    began = time.monotonic()
    with open(output, "wb") as file:
        pid = os.posix_spawn(command[0], command, os.environ, file_actions=[(os.POSIX_SPAWN_DUP2, file.fileno(), 1)])
        _, status, used = os.wait4(pid, 0)
    seconds = time.monotonic() - began
    if os.waitstatus_to_exitcode(status) != 0:
        sys.exit(f"{' '.join(command)}: status {os.waitstatus_to_exitcode(status)}")
    return seconds, used.ru_utime + used.ru_stime, used.ru_maxrss * 1024


def measure(what, events, command, repeat, check=None):
    with tempfile.NamedTemporaryFile() as output:
        best = min(run([str(word) for word in command], output.name) for _ in range(repeat))
        if check is not None:
            check(Path(output.name).read_text(encoding="utf-8"))
    seconds, cpu, memory = best
    rate = f"{events / seconds / 1e6:8.2f} M events/s" if events else ""
    print(f"{what:<44} {seconds:7.2f} s  {cpu:7.2f} s CPU  {memory / 1e9:6.3f} GB  {rate}", flush=True)
    return cpu, memory


def exponent(sizes, figures):
    """The slope of the logarithms, by least squares."""
    points = [(math.log(size), math.log(figure)) for size, figure in zip(sizes, figures)]
    mean_x, mean_y = (sum(values) / len(points) for values in zip(*points))
    return sum((x - mean_x) * (y - mean_y) for x, y in points) / sum((x - mean_x) ** 2 for x, _ in points)


def check_summaries(ranks):
    def check(text):
        if [row["step_ns"] for row in json.loads(text)["data"]] != [summary_step_ns(rank) for rank in range(ranks)]:
            sys.exit("the figures are not those of the summaries")
    return check


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("swinscope", type=Path)
    parser.add_argument("cases", nargs="*", metavar="CASE", help="summaries, job, export, huge, growth, advice")
    parser.add_argument("--folder", type=Path, help="where the files are made and stay (a temporary one)")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--events", type=int, default=100_000_000, help="of huge")
    parser.add_argument("--small", action="store_true", help="a hundredth of everything or less: whether it works")
    options = parser.parse_args()
    cases = options.cases or ["summaries", "job", "export"]
    if unknown := set(cases) - {"summaries", "job", "export", "huge", "growth", "advice"}:
        parser.error(f"unknown case {', '.join(sorted(unknown))}")
    scale = 100 if options.small else 1
    program = options.swinscope.resolve()
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.folder or Path(temporary)
        if "summaries" in cases:
            ranks = 4096 // scale
            files = made(folder / f"summaries{ranks}", in_folder(lambda at: write_summaries(at, ranks)))
            for source in ("summaries", "auto"):
                check = check_summaries(ranks) if source == "summaries" else None
                measure(f"ranks --from {source}, {ranks} files", 0,
                        [program, "ranks", files, "--from", source, "--format", "json"], options.repeat, check)
        if "job" in cases:
            ranks, events = max(64 // scale, 2), 200_000 // scale
            files = made(folder / f"job{ranks}x{events}", in_folder(lambda at: write_job(at, ranks, events, 20)))
            for command in ("analyze", "ranks"):
                measure(f"{command}, {ranks} ranks of {events:,} kernels", 2 * ranks * events,
                        [program, command, files, *(("--from", "events") if command == "ranks" else ())], options.repeat)
        for case, events in (("export", 10_000_000 // scale), ("huge", options.events // scale)):
            if case in cases:
                file = made(folder / f"{case}{events}.sqlite", lambda at, n=events: write_export(at, n // 2, 1000))
                measure(f"analyze, export of {events // 2:,} kernels and calls", events, [program, "analyze", file],
                        options.repeat if case == "export" else 1)
        if "advice" in cases:
            ranks, times = (2, 2) if options.small else (8, 5)
            files = made(folder / f"advice{ranks}x{times}", in_folder(lambda at: write_repeated(at, ranks, times)))
            measure(f"advise, {ranks} ranks of {2 * times} steps of PyTorch", 0, [program, "advise", files], options.repeat)
        if "growth" in cases:
            sizes = [millions * (1_000 if options.small else 1_000_000) for millions in (1, 2, 5, 10, 20)]
            files = [made(folder / f"ranges{size}.db", lambda at, n=size: write_ranges(at, n)) for size in sizes]
            for command in ("info", "analyze"):
                figures = [measure(f"{command}, {size:,} ranges", size, [program, command, file], options.repeat)
                           for size, file in zip(sizes, files)]
                cpu, memory = (exponent(sizes, values) for values in zip(*figures))
                print(f"{command}: CPU time grows by the power of {cpu:.2f}, memory of {memory:.2f}", flush=True)


if __name__ == "__main__":
    main()
