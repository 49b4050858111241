#!/usr/bin/env python3
"""Makes small Kineto traces with what a trace of one GPU lacks: several streams, NCCL kernels, copies under computation.

usage: synthetic_trace.py FILE.json --seed N [--exotic]

A seed gives the same file everywhere. No two GPU events start in the same microsecond, because HTA orders equal starts by an
unstable sort, so that its answer would depend on the processor. --exotic adds, by the seed, what HTA treats in its own way:
synchronization events on streams, two host calls with one correlation, whole-microsecond timestamps and shuffled events.
"""
import argparse
import json
import math
import random

COMPUTE_STREAM, NCCL_STREAM, COPY_STREAM = 7, 20, 24
HOST_PID = 1427
LAUNCHES_PER_STEP = 120
COMPUTE_NAMES = [f"void layer_{k}_kernel<float, {k}>(int, float*)" for k in range(14)]
# Names that only look like another class: HTA's expressions decide, so they are part of the test.
ODD_NAMES = ["fused_Sync_gemm", "my_Memcpy_like", "ncclFoo"]
NCCL_NAMES = ["ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)", "ncclKernel_AllGather"]
COPY_NAMES = ["Memcpy HtoD (Pinned -> Device)", "Memcpy DtoH (Device -> Pageable)", "Memcpy DtoD (Device -> Device)"]
SYNC_NAMES = ["Stream Sync", "Stream Wait Event", "Event Sync", "Context Sync"]


class Generator:
    """Lays out one process: a host thread that launches, and three streams that run in order."""

    def __init__(self, seed, exotic):
        self.random_ = random.Random(seed)
        self.steps_ = (4, 3, 1)[seed % 3]
        self.with_sync_ = exotic and self.chance(0.6)
        self.with_second_host_call_ = exotic and self.chance(0.6)
        self.whole_microseconds_ = exotic and self.chance(0.25)
        self.shuffled_ = exotic and self.chance(0.3)
        self.rank_ = seed % 4
        self.start_ = 4364887198671.0 + self.random_.randrange(10**9) / 1000
        self.host_time_ = self.start_
        self.stream_free_ = dict.fromkeys((COMPUTE_STREAM, NCCL_STREAM, COPY_STREAM), self.start_)
        self.used_starts_ = set()
        self.correlation_ = 0
        self.events_ = []

    def chance(self, probability):
        return self.random_.random() < probability

    def us(self, value):
        return math.floor(value) if self.whole_microseconds_ else round(value, 3)

    def add(self, category, name, tid, start, duration, **args):
        pid = 0 if category in ("kernel", "gpu_memcpy", "gpu_memset", "cuda_sync", "gpu_user_annotation") else HOST_PID
        self.events_.append({"ph": "X", "cat": category, "name": name, "pid": pid, "tid": tid, "ts": self.us(start),
                             "dur": self.us(duration), "args": args})

    def add_host(self, category, name, delay, duration):
        self.add(category, name, 1427, self.host_time_ + delay, duration, cbid=211, correlation=self.correlation_)

    def add_device(self, category, name, stream, start, duration):
        """Returns the end, as it will be read back."""
        if self.whole_microseconds_:
            start, duration = math.floor(start), math.ceil(duration)
        while math.ceil(start) in self.used_starts_:
            start += 1
        self.used_starts_.add(math.ceil(start))
        args = {"device": 0, "context": 1, "stream": stream, "correlation": self.correlation_}
        self.add(category, name, max(stream, 0), start, duration, **args)
        return start + duration

    def pick_work(self):
        share = self.random_.random()
        if share < 0.50:
            return COMPUTE_STREAM, self.random_.choice(COMPUTE_NAMES), "kernel"
        if share < 0.55:
            return COMPUTE_STREAM, self.random_.choice(ODD_NAMES), "kernel"
        if share < 0.75:
            return NCCL_STREAM, self.random_.choice(NCCL_NAMES), "kernel"
        if share < 0.90:
            return COPY_STREAM, self.random_.choice(COPY_NAMES), "gpu_memcpy"
        return COMPUTE_STREAM, "Memset (Device)", "gpu_memset"

    def launch(self):
        """One launch; durations reach below 1 us, where HTA's rounding makes them zero or -1."""
        random_ = self.random_
        self.host_time_ += random_.choice([2, 5, 9, 40, 300]) * random_.uniform(0.5, 1.5)
        self.correlation_ += 1
        stream, name, category = self.pick_work()
        duration = random_.choice([0.3, 0.9, 1.2, 4.7, 33, 120]) * random_.uniform(0.3, 1.3)
        gap = random_.choice([0.4, 1, 3, 45]) * random_.random()
        start = max(self.stream_free_[stream] + gap, self.host_time_ + random_.uniform(4, 9))
        if not self.chance(0.05):
            self.add_host("cuda_runtime", "cudaLaunchKernel", 0, random_.uniform(1, 4))
        if self.with_second_host_call_ and self.chance(0.1):
            self.add_host("cuda_driver", "cuLaunchKernelEx", random_.uniform(0.5, 20), 0.4)
        self.stream_free_[stream] = self.add_device(category, name, stream, start, duration)
        if self.with_sync_ and self.chance(0.1):
            self.synchronize(stream)

    def synchronize(self, stream):
        name = self.random_.choice(SYNC_NAMES)
        self.correlation_ += 1
        self.add_host("cuda_runtime", "cudaStreamSynchronize", 1, 1)
        where = -1 if name == "Context Sync" else stream
        self.add_device("cuda_sync", name, where, self.stream_free_[stream], self.random_.uniform(0.2, 10))

    def shuffle_device_events(self):
        """Host calls keep their order, and the first event stays first: HTA takes the last call in the file with a
        correlation for the launch, and the first event of the file for the launch of a kernel without one. A trace view has
        no file order, and no profiler writes calls out of order."""
        first, *rest = self.events_
        hosts = iter([event for event in rest if event["pid"] == HOST_PID])
        self.random_.shuffle(rest)
        self.events_ = [first] + [next(hosts) if event["pid"] == HOST_PID else event for event in rest]

    def run(self):
        for step in range(self.steps_):
            begin = self.host_time_
            for _ in range(LAUNCHES_PER_STEP):
                self.launch()
            if self.steps_ > 1:
                length = self.host_time_ - begin
                self.add("user_annotation", f"ProfilerStep#{5 + step}", 1427, begin, length)
                self.add("gpu_user_annotation", f"ProfilerStep#{5 + step}", COMPUTE_STREAM, begin + 9, length)
        self.add("Trace", "PyTorch Profiler (0)", 1427, self.start_, self.host_time_ - self.start_)
        if self.shuffled_:
            self.shuffle_device_events()
        info = {"backend": "nccl", "rank": self.rank_, "world_size": 4}
        return {"schemaVersion": 1, "distributedInfo": info, "displayTimeUnit": "ms", "traceEvents": self.events_}


def write_trace(path, seed, exotic):
    with open(path, "w", encoding="utf-8") as output:
        json.dump(Generator(seed, exotic).run(), output, indent=1)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", help="the .json file to write")
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--exotic", action="store_true")
    options = parser.parse_args()
    write_trace(options.file, options.seed, options.exotic)


if __name__ == "__main__":
    main()
