#!/usr/bin/env python3
"""Records small PyTorch profiler traces for data/ and the tests: what a user's trace of Swin looks like.

usage: python3 tests/peers/traces/record_kineto.py graph --out FILE.json.gz
       torchrun --nproc_per_node N tests/peers/traces/record_kineto.py ddp --out FOLDER
       torchrun --nproc_per_node N tests/peers/traces/record_kineto.py captured [--out FOLDER]

  graph  swin_tiny, fp16, batch 1: a CUDA graph replayed three times, with ProfilerStep# annotations
  captured  a linear layer and an all-reduce of its result in a CUDA graph, replayed four times between other all-reduces;
         without --out only in NVTX ranges `step`, for other recorders
  ddp    swin_tiny, AMP, batch 8 a GPU, synthetic data, DistributedDataParallel over NCCL: two steps, one file a rank

Needs torch, timm and GPUs.
"""
import argparse
import os

import timm
import torch
from torch.profiler import ProfilerActivity, profile, schedule


def record_graph(path):
    model = timm.create_model("swin_tiny_patch4_window7_224").eval().half().cuda()
    images = torch.randn(1, 3, 224, 224, device="cuda", dtype=torch.half)
    with torch.inference_mode():
        side = torch.cuda.Stream()
        with torch.cuda.stream(side):
            for _ in range(3):
                model(images)
        torch.cuda.synchronize()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            model(images)
        steps = schedule(wait=1, warmup=1, active=3, repeat=1)
        with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA], schedule=steps) as recorder:
            for _ in range(5):
                graph.replay()
                torch.cuda.synchronize()
                recorder.step()
    recorder.export_chrome_trace(path)


def record_ddp(folder):
    torch.distributed.init_process_group("nccl")
    rank = torch.distributed.get_rank()
    torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    model = timm.create_model("swin_tiny_patch4_window7_224", num_classes=10).cuda()
    model = torch.nn.parallel.DistributedDataParallel(model, device_ids=[torch.cuda.current_device()])
    optimizer = torch.optim.AdamW(model.parameters(), fused=True)
    images = torch.randn(8, 3, 224, 224, device="cuda")
    labels = torch.randint(10, (8,), device="cuda")

    def step():
        optimizer.zero_grad(set_to_none=True)
        with torch.autocast("cuda", dtype=torch.bfloat16):
            loss = torch.nn.functional.cross_entropy(model(images), labels)
        loss.backward()
        optimizer.step()

    for _ in range(5):
        step()
    steps = schedule(wait=0, warmup=1, active=2, repeat=1)  # one cycle: a second one would clear the first
    with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA], schedule=steps) as recorder:
        for _ in range(3):
            step()
            torch.cuda.synchronize()
            recorder.step()
    os.makedirs(folder, exist_ok=True)
    recorder.export_chrome_trace(os.path.join(folder, f"rank{rank}.kineto.json.gz"))
    torch.distributed.destroy_process_group()


def record_captured(folder):
    torch.distributed.init_process_group("nccl")
    rank = torch.distributed.get_rank()
    torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    layer = torch.nn.Linear(2048, 2048, device="cuda").requires_grad_(False)
    batch, outside = torch.randn(2048, 2048, device="cuda"), torch.ones(1 << 20, device="cuda")
    torch.distributed.all_reduce(outside)
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(3):
            torch.distributed.all_reduce(layer(batch))
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        torch.distributed.all_reduce(layer(batch))

    def step():
        torch.cuda.nvtx.range_push("step")
        graph.replay()
        torch.distributed.all_reduce(outside)
        torch.cuda.synchronize()
        torch.cuda.nvtx.range_pop()

    if folder is None:
        for _ in range(5):
            step()
    else:
        steps = schedule(wait=0, warmup=1, active=4, repeat=1)
        with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA], schedule=steps) as recorder:
            for _ in range(5):
                step()
                recorder.step()
        os.makedirs(folder, exist_ok=True)
        recorder.export_chrome_trace(os.path.join(folder, f"rank{rank}.kineto.json.gz"))
    torch.distributed.destroy_process_group()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=["graph", "ddp", "captured"])
    parser.add_argument("--out")
    arguments = parser.parse_args()
    if arguments.what != "captured" and arguments.out is None:
        parser.error("--out is required")
    if arguments.what == "captured":
        record_captured(arguments.out)
    elif arguments.what == "graph":
        record_graph(arguments.out)
    else:
        record_ddp(arguments.out)


if __name__ == "__main__":
    main()
