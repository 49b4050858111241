#!/usr/bin/env python3
"""A rank of PyTorch's training of SwinV2-B with UPerNet's head, to be measured by `swinscope scale`.

usage: swinscope scale --gpus 1,2,4,8 --images-per-step 8 -o DIR -- python3 tests/peers/torch/train_segmentation.py [--model swinv2_base]
           [--image 512] [--batch 8] [--precision fp16] [--mode eager|compiled] [--whole-graph] [--local-norm] [--steps 48] [--warmup 16]
           [--limit SECONDS] [--print]
       python3 -m torch.distributed.run --nproc_per_node N tests/peers/torch/train_segmentation.py --profile FOLDER

Needs torch and timm (made for torch 2.11 and timm 1.0.29) and a GPU for each rank. The model of segmentation.py, images and labels in
GPU memory, autocast, synchronized batch normalization (--local-norm: each rank's own), clipping, fused AdamW, gradients through
DistributedDataParallel also on one GPU. Each step is an NVTX range; the GPU is waited for before the first measured step and within
the last, so that their time is the GPU's (--print says it). --profile: eight steps under torch.profiler, a file a rank in FOLDER.

--mode compiled: torch.compile of DistributedDataParallel of the model with its loss, in the default mode. PyTorch cuts such a graph at
the buckets of its gradients; --whole-graph does not, which delays their reduction until the backward pass is done: for one GPU. To
compile takes minutes, mostly of one core; Inductor keeps kernels and graphs in TORCHINDUCTOR_CACHE_DIR, so that a second run begins
sooner. With --print, what happens is said on stderr every ten seconds. --limit ends the run after so many seconds, with status 3.
"""
import argparse
import os
import sys
import threading
import time

from segmentation import CLASSES, loss_of, make_segmenter
from training_model import Stepper

PROFILED_STEPS = 8
PROGRESS_SECONDS = 10.0


class Watch:
    """Says what a run is doing, and ends it when its time is over: a compilation cannot be asked to stop."""

    def __init__(self, limit, talks):
        self.began, self.limit, self.talks, self.doing = time.perf_counter(), limit, talks, "loading PyTorch"
        if limit or talks:
            threading.Thread(target=self.run, daemon=True).start()

    def now(self, doing):
        self.doing = doing
        self.say(doing)

    def say(self, text):
        if self.talks:
            print(f"{time.perf_counter() - self.began:6.1f} s: {text}{graphs()}", file=sys.stderr, flush=True)

    def run(self):
        while True:
            left = self.limit - (time.perf_counter() - self.began) if self.limit else PROGRESS_SECONDS
            if left <= 0:
                print(f"error: not done after {self.limit:.0f} s: {self.doing}{graphs()}", file=sys.stderr, flush=True)
                os._exit(3)
            time.sleep(min(left, PROGRESS_SECONDS))
            self.say(self.doing)


def graphs():
    """How far a compilation has come."""
    counted = sys.modules.get("torch._dynamo.utils")
    if counted is None or not counted.counters["stats"]:
        return ""
    inductor = counted.counters["inductor"]
    return (f" ({counted.counters['stats']['unique_graphs']} graphs traced; {inductor['fxgraph_cache_hit']} compiled ones from the cache, "
            f"{inductor['fxgraph_cache_miss']} made)")


def with_loss(model):
    """The loss belongs to what is compiled: enlarging the logits takes a third of the eager step."""
    from torch import nn

    class WithLoss(nn.Module):
        def __init__(self):
            super().__init__()
            self.model = model

        def forward(self, images, labels):
            return loss_of(self.model(images), labels)

    return WithLoss()


class SceneStepper(Stepper):
    def judge(self, images, labels):
        return self.forward(images, labels)


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", default="swinv2_base")
    parser.add_argument("--image", type=int, default=512)
    parser.add_argument("--batch", type=int, default=8)
    parser.add_argument("--precision", default="fp16", choices=("fp32", "tf32", "fp16", "bf16"))
    parser.add_argument("--mode", default="eager", choices=("eager", "compiled"))
    parser.add_argument("--whole-graph", action="store_true")
    parser.add_argument("--limit", type=float, default=0.0)
    parser.add_argument("--local-norm", action="store_true")
    parser.add_argument("--steps", type=int, default=48)
    parser.add_argument("--warmup", type=int, default=16)
    parser.add_argument("--print", action="store_true")
    parser.add_argument("--profile")
    arguments = parser.parse_args()
    if not 0 < arguments.warmup < arguments.steps:
        parser.error("--warmup: at least 1, and fewer than --steps")
    return arguments


def main():
    arguments = parse()
    watch = Watch(arguments.limit, arguments.print and int(os.environ.get("RANK", "0")) == 0)
    import torch
    import torch.distributed as dist
    from torch.nn.parallel import DistributedDataParallel
    local = int(os.environ.get("LOCAL_RANK", "0"))
    for name, value in (("RANK", "0"), ("WORLD_SIZE", "1"), ("MASTER_ADDR", "127.0.0.1"), ("MASTER_PORT", "29571")):
        os.environ.setdefault(name, value)
    device = torch.device("cuda", local)
    torch.cuda.set_device(device)
    dist.init_process_group("nccl", device_id=device)
    rank, ranks = dist.get_rank(), dist.get_world_size()

    watch.now("making the model")
    model = make_segmenter(arguments.model, arguments.image).to(device).train()
    if ranks > 1 and not arguments.local_norm:
        model = torch.nn.SyncBatchNorm.convert_sync_batchnorm(model)
    forward = DistributedDataParallel(with_loss(model), device_ids=[local], gradient_as_bucket_view=True)
    if arguments.mode == "compiled":
        torch._dynamo.config.optimize_ddp = not arguments.whole_graph
        forward = torch.compile(forward)
    stepper = SceneStepper(model, forward, arguments.precision, 6e-5)
    images = torch.randn(arguments.batch, 3, arguments.image, arguments.image, device=device)
    labels = torch.randint(0, CLASSES, (arguments.batch, arguments.image, arguments.image), device=device)

    if arguments.profile:
        from torch.profiler import ProfilerActivity, profile
        for _ in range(arguments.warmup):
            stepper.step(images, labels)
        torch.cuda.synchronize()
        dist.barrier()
        with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]) as recorded:
            for _ in range(PROFILED_STEPS):
                stepper.step(images, labels)
            torch.cuda.synchronize()
        os.makedirs(arguments.profile, exist_ok=True)
        recorded.export_chrome_trace(os.path.join(arguments.profile, f"rank{rank}.json.gz"))
    else:
        watch.now("the first step" + (", which compiles" if arguments.mode == "compiled" else ""))
        for step in range(arguments.steps):
            if step == 1:
                torch.cuda.synchronize()
                watch.now("the other steps")
            if step == arguments.warmup:
                torch.cuda.synchronize()
                dist.barrier()
                began = time.perf_counter()
            torch.cuda.nvtx.range_push("step")
            stepper.step(images, labels)
            if step + 1 == arguments.steps:
                torch.cuda.synchronize()
            torch.cuda.nvtx.range_pop()
        if arguments.print and rank == 0:
            milliseconds = 1e3 * (time.perf_counter() - began) / (arguments.steps - arguments.warmup)
            print(f"{arguments.mode}, {ranks} GPUs, batch {arguments.batch} each: {milliseconds:.2f} ms a step, "
                  f"{torch.cuda.max_memory_allocated() / 2**30:.1f} GiB")
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
