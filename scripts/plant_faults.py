#!/usr/bin/env python3
"""Writes data/planted/: small traces in PyTorch's format, each with one fault that is known because it was put there.

    scripts/plant_faults.py [FOLDER]

A host thread launches, streams run in order, and every time follows from what was waited for, as on a machine; kernels differ by
up to 1 % by a seeded generator. The same files come out everywhere. docs/planted.md says what is in them, expected.json of each
what has to be found, and what must not.
"""
import json
import os
import random
import sys

STEPS = 6
HOST, COMPUTE, NCCL = 1000, 7, 20
GEMM = "sm90_xmma_gemm_f16f16_f16f32_f32_tn_n_tilesize128x128x64_warpgroupsize1x1x1_execute_segment_k_off_kernel__5x_cublas"
NORM = "void at::native::(anonymous namespace)::vectorized_layer_norm_kernel<c10::Half, float>(int, float, c10::Half const*)"
GELU = "void at::native::vectorized_elementwise_kernel<4, at::native::GeluCUDAKernelImpl, std::array<char*, 2ul> >(int)"
SGEMM = "void cutlass::Kernel2<cutlass_80_simt_sgemm_128x64_8x5_tn_align1>(cutlass_80_simt_sgemm_128x64_8x5_tn_align1::Params)"
REDUCE = "ncclDevKernel_AllReduce_Sum_f16_RING_LL(ncclDevKernelArgsStorage<4096ul>)"
LAYERS = [(GEMM, 240.0), (NORM, 30.0), (GEMM, 310.0), (GELU, 60.0)] * 4


class Rank:
    """One process: a host thread and the streams of one GPU; times in microseconds."""

    def __init__(self, seed, rank=0, world=1):
        self.random = random.Random(seed)
        self.rank, self.world = rank, world
        self.now = 1_000_000.0
        self.free = {COMPUTE: self.now, NCCL: self.now}
        self.correlation = 0
        self.events = []
        self.step_ends = []

    def add(self, category, name, pid, tid, start, end, **args):
        self.events.append({"ph": "X", "cat": category, "name": name, "pid": pid, "tid": tid, "ts": round(start, 3),
                            "dur": round(end - start, 3), "args": args})

    def call(self, name, us):
        self.add("cuda_runtime", name, HOST, HOST, self.now, self.now + us, correlation=self.correlation)
        self.now += us

    def busy_host(self, us, name=None):
        if name:
            self.add("user_annotation", name, HOST, HOST, self.now, self.now + us)
        self.now += us

    def device(self, category, name, stream, start, us, **args):
        end = start + us
        self.add(category, name, 0, stream, start, end, device=0, context=1, stream=stream, correlation=self.correlation, **args)
        self.free[stream] = end
        return end

    def launch(self, name, us, stream=COMPUTE, launch_us=5.0, after=0.0, exact=False, **args):
        """Returns when the kernel ends."""
        self.correlation += 1
        self.call("cudaLaunchKernel", launch_us)
        us = us if exact else us * (1 + 0.01 * (self.random.random() - 0.5))
        start = max(self.free[stream], self.now + 2.0, after)
        block = {"grid": [132, 1, 1], "block": [128, 1, 1], "registers per thread": 64, "shared memory": 0}
        return self.device("kernel", name, stream, start, us, **block, **args)

    def copy(self, us, megabytes, pinned):
        """From pageable memory the call returns when the copy has ended."""
        self.correlation += 1
        begin = self.now
        start = max(self.free[COMPUTE], self.now + 4.0)
        kind = "Pinned" if pinned else "Pageable"
        end = self.device("gpu_memcpy", f"Memcpy HtoD ({kind} -> Device)", COMPUTE, start, us, bytes=megabytes << 20)
        self.call("cudaMemcpyAsync", 4.0 if pinned else end + 2.0 - begin)

    def wait(self, until, name="cudaStreamSynchronize"):
        self.correlation += 1
        self.call(name, max(until + 3.0 - self.now, 2.0))

    def catch_up(self):
        if len(self.step_ends) > 1:
            self.wait(self.step_ends[-2], "cudaEventSynchronize")

    def step(self, number, body):
        """The host is one step ahead of the GPU at most, as programs are that read the loss of the step before."""
        begin = self.now
        self.catch_up()
        body(self)
        self.add("user_annotation", f"ProfilerStep#{number}", HOST, HOST, begin, self.now)
        self.step_ends.append(max(self.free.values()))

    def document(self):
        # The profiler waits for the GPU before it ends.
        self.wait(max(self.free.values()), "cudaDeviceSynchronize")
        self.events.sort(key=lambda event: event["ts"])
        return {"schemaVersion": 1,
                "deviceProperties": [{"id": 0, "name": "NVIDIA H200", "totalGlobalMem": 150109880320, "computeMajor": 9,
                                      "computeMinor": 0, "numSms": 132}],
                "distributedInfo": {"backend": "nccl", "rank": self.rank, "world_size": self.world},
                "baseTimeNanoseconds": 0, "traceEvents": self.events}


def layers(rank, kernels=LAYERS, **how):
    for name, us in kernels:
        rank.launch(name, us, **how)


def one_rank(body, seed=1):
    rank = Rank(seed)
    for number in range(STEPS):
        rank.step(number, body)
    return {"rank0.json": rank.document()}


def host_gaps():
    def body(rank):
        for name, us in LAYERS:
            rank.busy_host(3 * us / 2)  # Python between the launches
            rank.launch(name, us / 3)
    return one_rank(body)


def input_wait():
    def body(rank):
        rank.busy_host(6000.0, "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__")
        layers(rank)
    return one_rank(body)


def pageable_copies():
    def body(rank):
        rank.copy(4200.0, 48, pinned=False)
        layers(rank)
    return one_rank(body)


def sync_each_kernel():
    def body(rank):
        for name, us in LAYERS:
            end = rank.launch(name, us / 8)
            rank.wait(end, "cudaDeviceSynchronize")
            rank.busy_host(25.0)
    return one_rank(body)


def tiny_kernels():
    def body(rank):
        for name, _ in LAYERS * 3:
            rank.busy_host(6.0)
            rank.launch(name, 2.0)
    return one_rank(body)


def fp32_products():
    def body(rank):
        for name, us in LAYERS:
            if name != GEMM:
                rank.launch(name, us)
                continue
            begin = rank.now
            rank.busy_host(1.0)
            rank.launch(SGEMM, 4 * us)
            rank.busy_host(1.0)
            # 2 * 2048 * 1024 * 4096 operations in 1 ms: fp32 units, where tensor cores would take 0.1 ms.
            rank.add("cpu_op", "aten::mm", HOST, HOST, begin, rank.now, **{
                "External id": rank.correlation, "Input Dims": [[2048, 4096], [4096, 1024]], "Input type": ["float", "float"]})
    return one_rank(body)


def reduce_arguments(count):
    return {"Collective name": "allreduce", "In msg nelems": count, "Out msg nelems": count, "dtype": "Half", "Group size": 2,
            "Process Group Name": "0", "Process Group Ranks": "[0, 1]"}


def two_ranks(forward, transfer_us, is_beside):
    """An all-reduce a step over two ranks: its kernel runs from when a rank comes to it until the last one has come and the
    data are there. `is_beside`: half of the layers come behind its launch, and compute meanwhile."""
    ranks = [Rank(seed, seed, 2) for seed in range(2)]
    for number in range(STEPS):
        half = len(LAYERS) // 2
        def first(rank):
            forward(rank, LAYERS[:half] if is_beside else LAYERS)
        def rest(rank):
            if is_beside:
                forward(rank, LAYERS[half:])
        arrivals, starts = [], []
        for rank in ranks:
            starts.append(rank.now)
            rank.catch_up()
            first(rank)
            arrivals.append(max(rank.free[COMPUTE], rank.free[NCCL], rank.now + 7.0))
        end = max(arrivals) + transfer_us
        for rank, begin, arrival in zip(ranks, starts, arrivals):
            rank.launch(REDUCE, end - arrival, NCCL, after=arrival, exact=True, **reduce_arguments(64 << 20))
            rest(rank)
            # The optimizer waits for the gradients.
            rank.launch(GELU.replace("GeluCUDAKernelImpl", "AddFunctor"), 80.0, after=end)
            rank.add("user_annotation", f"ProfilerStep#{number}", HOST, HOST, begin, rank.now)
            rank.step_ends.append(max(rank.free.values()))
    return {f"rank{rank.rank}.json": rank.document() for rank in ranks}


def slow_rank():
    def forward(rank, kernels):
        layers(rank, [(name, us * (1.5 if rank.rank == 1 and name == GEMM else 1.0)) for name, us in kernels])
    return two_ranks(forward, 150.0, is_beside=False)


def late_collective():
    return two_ranks(lambda rank, kernels: layers(rank, [(name, us / 2) for name, us in kernels]), 2600.0, is_beside=False)


def healthy():
    return one_rank(layers)


def healthy_two_ranks():
    return two_ranks(layers, 700.0, is_beside=True)


def slow_kernel():
    slower = [(name, us * 1.4 if us == 60.0 else us) for name, us in LAYERS]
    return {"base.json": one_rank(layers, seed=11)["rank0.json"], "again.json": one_rank(layers, seed=12)["rank0.json"],
            "run.json": one_rank(lambda rank: layers(rank, slower), seed=13)["rank0.json"]}


FAULTS = [healthy, healthy_two_ranks, host_gaps, input_wait, pageable_copies, sync_each_kernel, tiny_kernels, fp32_products,
          slow_rank, late_collective, slow_kernel]


def main():
    root = sys.argv[1] if len(sys.argv) > 1 else os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "data", "planted")
    for fault in FAULTS:
        folder = os.path.join(root, fault.__name__, "trace")
        os.makedirs(folder, exist_ok=True)
        for name, document in fault().items():
            with open(os.path.join(folder, name), "w", encoding="ascii") as file:
                json.dump(document, file, separators=(",", ":"))
                file.write("\n")


if __name__ == "__main__":
    main()
