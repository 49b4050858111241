#!/usr/bin/env python3
"""The programs behind our own recordings in data/: two or three steps of swin_tiny, each in an NVTX range "step N".

    swinscope record -o DIR -- python3 small_runs.py infer      fp16 forward, batch 1 (with --torch-modules: ranges of its modules)
    swinscope record -o DIR -- python3 small_runs.py graph      the same as a CUDA graph, captured under a range for each stage
    swinscope record -o DIR -- torchrun --nproc_per_node 2 small_runs.py ddp     training with DistributedDataParallel over NCCL
"""
import sys

import timm
import torch

mode = sys.argv[1]
push, pop = torch.cuda.nvtx.range_push, torch.cuda.nvtx.range_pop


def model(batch, **options):
    torch.manual_seed(0)
    return timm.create_model("swin_tiny_patch4_window7_224", **options), torch.randn(batch, 3, 224, 224)


def steps(count, step):
    for i in range(count):
        push(f"step {i}")
        step()
        torch.cuda.synchronize()
        pop()


if mode == "ddp":
    import torch.distributed as dist

    dist.init_process_group("nccl")
    torch.cuda.set_device(dist.get_rank())
    net, images = model(4)
    net = torch.nn.parallel.DistributedDataParallel(net.cuda(), device_ids=[dist.get_rank()])
    images, labels = images.cuda(), torch.zeros(4, dtype=torch.long, device="cuda")
    optimizer = torch.optim.AdamW(net.parameters(), fused=True)

    def train():
        optimizer.zero_grad(set_to_none=True)
        with torch.autocast("cuda", dtype=torch.bfloat16):
            loss = torch.nn.functional.cross_entropy(net(images), labels)
        loss.backward()
        optimizer.step()

    steps(2, train)
    dist.destroy_process_group()
else:
    net, images = model(1)
    net, images = net.eval().half().cuda(), images.half().cuda()
    with torch.inference_mode():
        if mode == "infer":
            steps(3, lambda: net(images))
        else:
            side = torch.cuda.Stream()
            with torch.cuda.stream(side):
                net(images)
            torch.cuda.synchronize()
            graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(graph):
                push("stem")
                x = net.patch_embed(images)
                pop()
                for i, layer in enumerate(net.layers):
                    push(f"stage{i}")
                    x = layer(x)
                    pop()
                push("head")
                y = net.forward_head(net.norm(x))
                pop()
            steps(3, graph.replay)
