#!/usr/bin/env python3
"""A data-parallel job with a fault of known size, for check_planted.py.

usage: torchrun --nproc_per_node N planted_job.py [--plant FAULT] [--ms X] [--on RANK] [--steps S] [--overlap]

  none     steps as they are: eight linear layers, a spin of --spin-ms, gradients summed up over NCCL when all are there,
           synchronized
  host     the host of the rank is busy for X ms before it launches the forward
  input    the rank's batch comes X ms late
  kernel   the rank's spin takes X ms longer
  launch   each of 40 small launches of the rank comes X / 40 ms late
  all      as kernel, on every rank, but only where there are several

A fault is the same in every step. --overlap sums up the gradients beside the backward pass (DistributedDataParallel): a rank that
waits then slows its own kernels, since the collective that spins takes their multiprocessors.
"""
import argparse
import json
import os
import time

import torch
import torch.distributed as dist

LAUNCHES = 40


def busy(milliseconds):
    end = time.perf_counter_ns() + int(milliseconds * 1e6)
    while time.perf_counter_ns() < end:
        pass


def cycles_per_ms():
    """Of torch.cuda._sleep's kernel, by its own time."""
    cycles = 20_000_000
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    torch.cuda._sleep(cycles)
    begin.record()
    torch.cuda._sleep(cycles)
    end.record()
    torch.cuda.synchronize()
    return cycles / begin.elapsed_time(end)


class Job:
    def __init__(self, arguments):
        self.a = arguments
        self.rank, self.world = dist.get_rank(), dist.get_world_size()
        layers = [torch.nn.Linear(2048, 2048) for _ in range(8)]
        model = torch.nn.Sequential(*layers).cuda()
        ddp = torch.nn.parallel.DistributedDataParallel
        self.overlap = arguments.overlap and self.world > 1
        self.model = ddp(model, device_ids=[torch.cuda.current_device()]) if self.overlap else model
        self.optimizer = torch.optim.AdamW(model.parameters(), fused=True)
        self.batch = torch.randn(4096, 2048, device="cuda")
        self.small = torch.zeros(1024, device="cuda")
        rate = cycles_per_ms()
        self.spin_cycles = int(arguments.spin_ms * rate)
        self.more_cycles = int(arguments.ms * rate)
        everywhere = arguments.plant == "all" and self.world > 1
        self.plants = arguments.plant if self.rank == arguments.on or everywhere else "none"

    def step(self):
        torch.cuda.nvtx.range_push("enumerate(DataLoader)")
        if self.plants == "input":
            busy(self.a.ms)
        torch.cuda.nvtx.range_pop()
        if self.plants == "host":
            busy(self.a.ms)
        for _ in range(LAUNCHES):
            if self.plants == "launch":
                busy(self.a.ms / LAUNCHES)
            self.small.add_(1)
        torch.cuda._sleep(self.spin_cycles + (self.more_cycles if self.plants in ("kernel", "all") else 0))
        self.optimizer.zero_grad(set_to_none=True)
        self.model(self.batch).square().mean().backward()
        if self.world > 1 and not self.overlap:
            gradients = torch.cat([p.grad.view(-1) for p in self.model.parameters()])
            dist.all_reduce(gradients)
        self.optimizer.step()
        torch.cuda.synchronize()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--plant", choices=["none", "host", "input", "kernel", "launch", "all"], default="none")
    parser.add_argument("--ms", type=float, default=4)
    parser.add_argument("--spin-ms", type=float, default=4)
    parser.add_argument("--on", type=int, default=1)
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--overlap", action="store_true")
    arguments = parser.parse_args()
    dist.init_process_group("nccl")
    torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    job = Job(arguments)
    for _ in range(5):
        job.step()
    for _ in range(arguments.steps):
        dist.barrier()  # all begin together: what one is late by is not carried into the next step
        torch.cuda.synchronize()
        torch.cuda.nvtx.range_push("step")
        job.step()
        torch.cuda.nvtx.range_pop()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
