#!/usr/bin/env python3
"""Steps that communicate, for check_plugin.py: times each kind and writes the medians of rank 0 as JSON.

usage: torchrun --nproc_per_node N allreduce_job.py [--json FILE] [--steps S]

  training   eight linear layers of 4096, DistributedDataParallel over NCCL, AdamW
  large      an all-reduce of 256 MiB
  small      100 all-reduces of 4 KiB, one after the other
  captured   20 all-reduces of 1 MiB in a CUDA graph, replayed
  mixed      all-gather, reduce-scatter, broadcast, a send and its receive
"""
import argparse
import json
import os
import statistics
import time

import torch
import torch.distributed as dist


def training():
    model = torch.nn.Sequential(*[torch.nn.Linear(4096, 4096) for _ in range(8)]).cuda()
    model = torch.nn.parallel.DistributedDataParallel(model, device_ids=[torch.cuda.current_device()])
    optimizer = torch.optim.AdamW(model.parameters(), fused=True)
    batch = torch.randn(4096, 4096, device="cuda")

    def step():
        optimizer.zero_grad(set_to_none=True)
        model(batch).square().mean().backward()
        optimizer.step()
    return step


def large():
    values = torch.zeros(64 << 20, device="cuda")
    return lambda: dist.all_reduce(values)


def small():
    values = torch.zeros(1024, device="cuda")

    def step():
        for _ in range(100):
            dist.all_reduce(values)
    return step


def captured():
    values = torch.zeros(256 << 10, device="cuda")
    for _ in range(3):
        dist.all_reduce(values)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for _ in range(20):
            dist.all_reduce(values)
    return graph.replay


def mixed():
    rank, world = dist.get_rank(), dist.get_world_size()
    part, whole = torch.zeros(1 << 20, device="cuda"), torch.zeros(world << 20, device="cuda")

    def step():
        dist.all_gather_into_tensor(whole, part)
        dist.reduce_scatter_tensor(part, whole)
        dist.broadcast(part, 0)
        if rank == 0:
            dist.send(part, 1)
        elif rank == 1:
            dist.recv(part, 0)
    return step


def timed(name, step, steps):
    """Median and quartiles of a step, in ms."""
    for _ in range(5):
        step()
    times = []
    for _ in range(steps):
        dist.barrier()
        torch.cuda.synchronize()
        begin = time.perf_counter_ns()
        torch.cuda.nvtx.range_push("step")
        torch.cuda.nvtx.range_push(name)
        step()
        torch.cuda.synchronize()
        torch.cuda.nvtx.range_pop()
        torch.cuda.nvtx.range_pop()
        times.append((time.perf_counter_ns() - begin) / 1e6)
    return statistics.quantiles(times, n=4)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json")
    parser.add_argument("--steps", type=int, default=100)
    arguments = parser.parse_args()
    torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    dist.init_process_group("nccl", device_id=torch.device("cuda", int(os.environ["LOCAL_RANK"])))
    kinds = [training, large, small, captured, mixed]
    figures = {kind.__name__: timed(kind.__name__, kind(), arguments.steps) for kind in kinds}
    if dist.get_rank() == 0 and arguments.json:
        figures = {"nccl": ".".join(map(str, torch.cuda.nccl.version())), "torch": torch.__version__,
                   "gpu": torch.cuda.get_device_name(), "ms": figures}
        with open(arguments.json, "w", encoding="utf-8") as file:
            json.dump(figures, file)
    dist.barrier()
    torch.cuda.synchronize()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
