"""Reads a trace of StragglerAnalysis (a parquet file: a row for each operation of a worker) and writes it as a run of
swinscope, a trace file for each worker: what its GPU did, and what each stream waited for. The workers have one clock.

What a row lacks follows from how such a job works (1F1B pipeline, data parallel, gradients reduced after the last backward):

    stream 7       forward and backward compute in their order, then reduction of layer norms' and embeddings' gradients,
                   clipping, optimizer
    streams 20-23  sends and receives of activations and of gradients, each in their order
    stream 24      gathering of parameters, reduction of gradients

and a stream waits for another one
    a receive      for the compute of its kind before the one that needs it; that one for the receive
    a send         for the compute whose result it sends
    first backward send and receive   for the compute two before the first backward: they are posted in the steady state
    first forward                     for the parameters
    reduction of gradients            for those of embeddings and layer norms; clipping for it

A send and its receive, the members of a data-parallel group, the first and the last stage (embeddings) and all workers
(clipping: a norm over everything) are process groups with sequence numbers.
"""
import contextlib
import dataclasses
import pathlib
import re
import sqlite3

FORWARD, BACKWARD = "forward-compute", "backward-compute"
LAYER_NORM, EMBEDDING = "layernorm-grads-all-reduce", "embedding-grads-all-reduce"
GATHER, REDUCE = "params-all-gather", "grads-reduce-scatter"
CLIP, OPTIMIZER = "optimizer-clip-main-grad", "optimizer"
COMPUTE_STREAM, PARAMETER_STREAM = 7, 24
TRANSFER_STREAMS = {"forward-send": 20, "forward-recv": 21, "backward-send": 22, "backward-recv": 23}
STREAMS = {**TRANSFER_STREAMS, GATHER: PARAMETER_STREAM, REDUCE: PARAMETER_STREAM}
KERNELS = {LAYER_NORM: "ncclDevKernel_AllReduce_Sum_bf16_RING_LL", EMBEDDING: "ncclDevKernel_AllReduce_Sum_bf16_RING_LL",
           GATHER: "ncclDevKernel_AllGather_RING_LL", REDUCE: "ncclDevKernel_ReduceScatter_Sum_f32_RING_LL",
           CLIP: "ncclDevKernel_AllReduce_Sum_f32_TREE_LL", FORWARD: "forward_compute", BACKWARD: "backward_compute",
           OPTIMIZER: "optimizer"}
SCHEMA = pathlib.Path(__file__).resolve().parents[3] / "store" / "schema.sql"
INSERTS = {
    "CUPTI_ACTIVITY_KIND_RUNTIME": "(start, end, eventClass, globalTid, correlationId, nameId, returnValue) "
                                   "VALUES (?, ?, 0, ?, ?, ?, 0)",
    "NVTX_EVENTS": "(start, end, eventType, text, globalTid, domainId) VALUES (?, ?, 59, ?, ?, 0)",
    "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION": "(start, end, deviceId, contextId, streamId, correlationId, globalPid, syncType, eventId, "
                                           "eventSyncId) VALUES (?, ?, 0, 1, ?, ?, ?, 2, 0, ?)",
    "CUPTI_ACTIVITY_KIND_CUDA_EVENT": "(deviceId, contextId, streamId, correlationId, globalPid, eventId, eventSyncId) "
                                      "VALUES (0, 1, ?, ?, ?, 0, ?)",
    "CUPTI_ACTIVITY_KIND_KERNEL": "(start, end, deviceId, contextId, streamId, correlationId, globalPid, demangledName, shortName, "
                                  "registersPerThread, gridX, gridY, gridZ, blockX, blockY, blockZ, staticSharedMemory, "
                                  "dynamicSharedMemory, localMemoryPerThread, localMemoryTotal, gridId) "
                                  "VALUES (?, ?, 0, 1, ?, ?, ?, ?, ?, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0)",
    "SWINSCOPE_COLLECTIVE": "(globalPid, correlationId, name, inElements, outElements, dtype, groupSize, groupName, ranks, seq) "
                            "VALUES (?, ?, ?, 0, 0, '', ?, '', ?, ?)",
}
IGNORED = {"gc"}  # garbage collection of the host; always of length 0
COLUMNS = ["dp_rank", "stage", "rank", "step", "optype", "start_ts", "duration", "seq_id", "mc"]
NS = 1_000_000_000


@dataclasses.dataclass
class Operation:
    kind: str
    number: int  # of its kind in the step
    start_ns: int  # since the begin of the step
    end_ns: int
    stream: int
    group: tuple = ()  # global ranks of the process group; empty: no communication
    seq: int = -1
    after: list = dataclasses.field(default_factory=list)  # operations of the same worker and step


class Worker:
    """One rank: its operations of each step, in the order in which the host launches them."""

    def __init__(self, rank, stage, dp_rank):
        self.rank, self.stage, self.dp_rank = rank, stage, dp_rank
        self.steps = {}


class Job:
    """All workers of a parquet file; `world_size` is that of the job, which may have more workers than were recorded."""

    def __init__(self, path, world_size=0):
        import pyarrow.parquet
        rows = pyarrow.parquet.read_table(path, columns=COLUMNS).to_pydict()
        if any(chunk > 0 for chunk in rows["mc"]):
            raise ValueError(f"{path}: several model chunks per stage (interleaved pipeline) are not supported")
        self.workers = {}
        for dp_rank, stage, rank in zip(rows["dp_rank"], rows["stage"], rows["rank"]):
            if rank not in self.workers:
                self.workers[rank] = Worker(rank, stage, dp_rank)
        self.world_size = world_size or len(self.workers)
        self.rank_at = {(w.dp_rank, w.stage): w.rank for w in self.workers.values()}
        self.stages = 1 + max(w.stage for w in self.workers.values())
        self.step_ns = {}
        self._sequence = {}  # process group -> {operation: sequence number}
        self._add_operations(rows)
        for worker in self.workers.values():
            for step, operations in worker.steps.items():
                worker.steps[step] = self._linked(worker, step, operations)

    def _add_operations(self, rows):
        names = ["rank", "step", "optype", "start_ts", "duration", "seq_id"]
        for rank, step, kind, start, duration, number in zip(*(rows[name] for name in names)):
            if kind in IGNORED:
                continue
            if kind not in STREAMS and kind not in KERNELS:
                raise ValueError(f"operations of kind {kind} are not supported")
            start_ns, end_ns = round(start * NS), round((start + duration) * NS)
            stream = STREAMS.get(kind, COMPUTE_STREAM)
            self.workers[rank].steps.setdefault(step, []).append(Operation(kind, number, start_ns, end_ns, stream))
            self.step_ns[step] = max(self.step_ns.get(step, 0), end_ns)

    def _group(self, worker, kind):
        """The recorded ranks of the process group that an operation of the worker is of."""
        dp_rank, stage = worker.dp_rank, worker.stage
        if kind in TRANSFER_STREAMS:
            peer = stage + (1 if kind in ("forward-send", "backward-recv") else -1)
            return tuple(self.rank_at[dp_rank, s] for s in sorted((stage, peer)))
        if kind in (GATHER, REDUCE):
            return tuple(sorted(w.rank for w in self.workers.values() if w.stage == stage))
        if kind == EMBEDDING and self.stages > 1:
            return tuple(self.rank_at[dp_rank, s] for s in (0, self.stages - 1))
        if kind == CLIP:
            return tuple(sorted(self.workers))
        return (worker.rank,) if kind in (LAYER_NORM, EMBEDDING) else ()  # with tensor-parallel ranks, not recorded

    def _linked(self, worker, step, operations):
        """The operations with their dependencies and process groups, each behind what it depends on."""
        by_start = sorted(operations, key=lambda op: (op.start_ns, op.number, op.kind))
        at = {(op.kind, op.number): op for op in operations}
        compute = [op for op in by_start if op.kind in (FORWARD, BACKWARD)]
        for op in operations:
            op.group = self._group(worker, op.kind)
            if op.group:
                of_group = self._sequence.setdefault(op.group, {})
                op.seq = of_group.setdefault((step, op.kind.replace("recv", "send"), op.number), len(of_group))
            if op.kind in TRANSFER_STREAMS:
                link_transfer(op, at)
        link_first_backward(compute, at)
        if (GATHER, 0) in at:
            next(op for op in compute if op.kind == FORWARD).after.append(at[GATHER, 0])
        tail = [at[kind, 0] for kind in (LAYER_NORM, EMBEDDING) if (kind, 0) in at]
        reductions = [op for op in by_start if op.kind == REDUCE]
        for reduction in reductions:
            reduction.after.extend(tail[-1:] or compute[-1:])
        at[CLIP, 0].after.extend(reductions[-1:])
        chains = [[op for op in by_start if op.stream == stream] for stream in set(STREAMS.values())]
        chains.append(compute + tail + [at[CLIP, 0], at[OPTIMIZER, 0]])
        return in_order_of_dependencies(by_start, chains)


def link_transfer(op, at):
    direction, end = op.kind.split("-")
    compute = at[f"{direction}-compute", op.number]
    if end == "send":
        op.after.append(compute)
        return
    compute.after.append(op)
    if op.number > 0:
        op.after.append(at[f"{direction}-compute", op.number - 1])


def link_first_backward(compute, at):
    first = next(i for i, op in enumerate(compute) if op.kind == BACKWARD)
    if first < 2:
        return
    for kind in ("backward-send", "backward-recv"):
        if (kind, 0) in at:
            at[kind, 0].after.append(compute[first - 2])


def in_order_of_dependencies(operations, chains):
    before = {id(op): list(op.after) for op in operations}
    for chain in chains:
        for earlier, later in zip(chain, chain[1:]):
            before[id(later)].append(earlier)
    ordered, done = [], set()

    def add(op):
        if id(op) in done:
            return
        done.add(id(op))
        for other in sorted(before[id(op)], key=lambda o: o.start_ns):
            add(other)
        ordered.append(op)

    for op in operations:
        add(op)
    return ordered


def world_size_of(metadata):
    """The `world_size:` of a metadata file beside the trace; 0 where there is none."""
    found = re.search(r"^world_size:\s*(\d+)", metadata.read_text(), re.MULTILINE) if metadata.exists() else None
    return int(found[1]) if found else 0


class TraceFile:
    """The trace of one worker. The host launches a whole step at its begin, so that nothing waits for it."""

    def __init__(self, job, worker):
        self.job, self.worker = job, worker
        self.pid = (1 << 48) | ((1000 + worker.rank) << 24)
        self.correlation = 0
        self.names = {"": 0}
        self.rows = {table: [] for table in INSERTS}
        begin_ns = 0
        for number in sorted(worker.steps):
            self._add_step(number, worker.steps[number], begin_ns)
            begin_ns += job.step_ns[number]

    def _name(self, text):
        return self.names.setdefault(text, len(self.names))

    def _call(self, name, at_ns):
        self.correlation += 1
        self.rows["CUPTI_ACTIVITY_KIND_RUNTIME"].append((at_ns, at_ns + 1, self.pid + 1, self.correlation, self._name(name)))
        return self.correlation

    def _add_step(self, number, operations, begin_ns):
        self.rows["NVTX_EVENTS"].append((begin_ns, begin_ns + self.job.step_ns[number], f"step {number}", self.pid + 1))
        now_ns = begin_ns
        recorded = {}
        for op in operations:
            for other in (other for other in op.after if other.stream != op.stream):
                now_ns += 2
                correlation = self._call("cudaStreamWaitEvent", now_ns)
                self.rows["CUPTI_ACTIVITY_KIND_SYNCHRONIZATION"].append(
                    (now_ns, now_ns + 1, op.stream, correlation, self.pid, recorded[id(other)]))
            now_ns += 2
            self._add_kernel(op, self._call("cudaLaunchKernel", now_ns), begin_ns)
            now_ns += 2
            event = recorded[id(op)] = self._call("cudaEventRecord", now_ns)
            self.rows["CUPTI_ACTIVITY_KIND_CUDA_EVENT"].append((op.stream, event, self.pid, event))

    def _add_kernel(self, op, correlation, begin_ns):
        name = self._name(KERNELS.get(op.kind, "ncclDevKernel_SendRecv"))
        self.rows["CUPTI_ACTIVITY_KIND_KERNEL"].append(
            (begin_ns + op.start_ns, begin_ns + op.end_ns, op.stream, correlation, self.pid, name, name))
        if op.group:
            self.rows["SWINSCOPE_COLLECTIVE"].append(
                (self.pid, correlation, op.kind, len(op.group), str(list(op.group)), op.seq))

    def write(self, path, schema):
        path.unlink(missing_ok=True)
        with contextlib.closing(sqlite3.connect(path)) as database:
            database.executescript("PRAGMA synchronous=OFF; PRAGMA journal_mode=OFF;" + schema)
            run = (self.worker.rank, self.job.world_size, self.pid)
            database.execute("INSERT INTO SWINSCOPE_RUN VALUES (1, 'swinscope', '', ?, ?, ?, 'job', '', 1)", run)
            database.executemany("INSERT OR IGNORE INTO StringIds VALUES (?, ?)", ((i, text) for text, i in self.names.items()))
            for table, rows in self.rows.items():
                database.executemany(f"INSERT INTO {table} {INSERTS[table]}", rows)
            database.commit()


def write_run(job, folder):
    """A run of swinscope: a trace file for each worker."""
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    schema = SCHEMA.read_text()
    for worker in job.workers.values():
        TraceFile(job, worker).write(folder / f"rank{worker.rank}.db", schema)
