#!/usr/bin/env python3
"""Our data-parallel Swin training beside PyTorch's DistributedDataParallel, on 1 to N GPUs of one machine.

usage: python3 tests/peers/torch/compare_scaling.py speed --swin build/gpu/bin/swin --swinscope build/gpu/bin/swinscope
           [--gpus 1,2,4,8] [--model swin_large] [--batch 64] [--precision bf16] [--modes LIST] [--measured 40]
           [--seconds S] [--swin-options "..."] [--strong] [--json FILE]
       torchrun --nproc_per_node N tests/peers/torch/compare_scaling.py worker --model swin_large --batch 64 --mode compiled-ddp

Needs torch, timm (made for torch 2.11 and timm 1.0.29) and the GPUs. Synthetic images on the GPU, --batch per GPU (--strong: of
all GPUs). For each number of GPUs ours is timed before and after PyTorch's modes, which are
    ddp-of-compiled   DistributedDataParallel(torch.compile(model))
    compiled-ddp      torch.compile(DistributedDataParallel(model)), whose backward pass Dynamo cuts at the buckets
    eager             without torch.compile
each followed by any of +static (static_graph), +bf16 (gradients travel in bf16), +bucket100 (buckets of 100 MiB); gradients are
views of the buckets in all. Both sides: forward, backward, clipping, AdamW (fused); the time of a step is the mean of --measured
steps with no wait between them, on rank 0. A mode that fails or takes longer than what is left of --seconds is named and left out.
"""
import argparse
import json
import os
import signal
import statistics
import subprocess
import sys
import time

from training_model import Stepper, image_size, keep, make_model

MODES = "ddp-of-compiled,compiled-ddp,ddp-of-compiled+static+bf16"
WARMUP = 12


def worker(arguments):
    """One rank; the first prints a line of JSON."""
    import torch
    import torch.distributed as dist
    from torch.nn.parallel import DistributedDataParallel
    local = int(os.environ["LOCAL_RANK"])
    torch.cuda.set_device(local)
    began = time.monotonic()
    dist.init_process_group("nccl", device_id=torch.device("cuda", local))
    base, *extras = arguments.mode.split("+")
    model = make_model(arguments.model).cuda().train()
    size = image_size(model)

    def parallel(module):
        wrapped = DistributedDataParallel(module, device_ids=[local], gradient_as_bucket_view=True,
                                          static_graph="static" in extras,
                                          bucket_cap_mb=100 if "bucket100" in extras else 25)
        if "bf16" in extras:
            from torch.distributed.algorithms.ddp_comm_hooks.default_hooks import bf16_compress_hook
            wrapped.register_comm_hook(None, bf16_compress_hook)
        return wrapped

    if base == "compiled-ddp":
        forward = torch.compile(parallel(model))
    elif base == "ddp-of-compiled":
        forward = parallel(torch.compile(model))
    else:
        forward = parallel(model)
    stepper = Stepper(model, forward, arguments.precision, 1e-4)
    images = torch.randn(arguments.batch, 3, size, size, device="cuda")
    labels = torch.randint(0, 1000, (arguments.batch,), device="cuda")
    for _ in range(WARMUP):
        stepper.step(images, labels)
    torch.cuda.synchronize()
    ready = time.monotonic() - began
    means = []
    for _ in range(3):
        dist.barrier()
        torch.cuda.synchronize()
        start = time.perf_counter()
        for _ in range(arguments.measured):
            stepper.step(images, labels)
        torch.cuda.synchronize()
        means.append(1e3 * (time.perf_counter() - start) / arguments.measured)
    if dist.get_rank() == 0:
        print("answer", json.dumps({"ms": statistics.median(means), "rounds_ms": means, "ready_s": ready,
                                    "nccl": ".".join(map(str, torch.cuda.nccl.version())),
                                    "peak_gib": torch.cuda.max_memory_allocated() / 2**30}), flush=True)
    dist.destroy_process_group()


def run(command, seconds):
    """Returns standard output, or raises RuntimeError with the end of what it said."""
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True)
    try:
        out, err = process.communicate(timeout=max(5.0, seconds))
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)  # the ranks, too
        process.communicate()
        raise RuntimeError(f"took longer than {seconds:.0f} s") from None
    if process.returncode != 0:
        raise RuntimeError(f"ended with {process.returncode}: {err.strip()[-400:]}")
    return out


def ours(arguments, gpus, batch, seconds):
    command = [arguments.swin, "train", "--device", "cuda", "--model", arguments.model, "--batch-per-gpu", str(batch),
               "--precision", arguments.precision, "--steps", str(3 * arguments.measured), "--warmup", str(WARMUP),
               "--dataset-size", str(2 * batch * gpus), "--clip-norm", "5", "-q", "--json", *arguments.swin_options.split()]
    if gpus > 1:
        command = [arguments.swinscope, "launch", "--ranks", str(gpus), "--", *command]
    row = json.loads(run(command, seconds))["data"][0]
    return {"ms": row["step_time_mean_ns"] * 1e-6, "median_ms": row["step_time_median_ns"] * 1e-6}


def peer(arguments, gpus, batch, mode, seconds):
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc_per_node", str(gpus),
               os.path.abspath(__file__), "worker", "--model", arguments.model, "--batch", str(batch), "--precision",
               arguments.precision, "--mode", mode, "--measured", str(arguments.measured)]
    for line in run(command, seconds).splitlines():
        if line.startswith("answer "):
            return json.loads(line[len("answer "):])
    raise RuntimeError("said nothing")


def efficiency(rows, times, gpus, strong):
    """Of `gpus` against the fewest that were measured: weak T1 / TN, strong T1 / (TN N)."""
    first = min(rows, key=lambda row: row["gpus"])
    if times(first) is None or times(rows[-1]) is None:
        return None
    ratio = times(first) / times(rows[-1])
    return ratio * first["gpus"] / gpus if strong else ratio


def speed(arguments):
    import torch
    document = {"schema": "swinscope.peers.scaling/1", "gpu": torch.cuda.get_device_name(), "torch": torch.__version__,
                "model": arguments.model, "precision": arguments.precision, "batch": arguments.batch,
                "mode": "strong" if arguments.strong else "weak", "left_out": [], "data": []}
    end = time.monotonic() + arguments.seconds
    for gpus in [int(word) for word in arguments.gpus.split(",")]:
        if gpus > torch.cuda.device_count():
            document["left_out"].append(f"{gpus} GPUs: {torch.cuda.device_count()} answer")
            continue
        batch = arguments.batch // gpus if arguments.strong else arguments.batch
        row = {"gpus": gpus, "batch_per_gpu": batch, "ours": [], "torch": {}}
        document["data"].append(row)

        def attempt(what, measure):
            try:
                return measure(end - time.monotonic())
            except (RuntimeError, ValueError, KeyError) as error:
                document["left_out"].append(f"{gpus} GPUs {what}: {error}")
                print("left out:", document["left_out"][-1], flush=True)
                return None

        row["ours"].append(attempt("ours", lambda seconds: ours(arguments, gpus, batch, seconds)))
        for mode in arguments.modes.split(","):
            row["torch"][mode] = attempt(mode, lambda seconds, mode=mode: peer(arguments, gpus, batch, mode, seconds))
            keep(arguments, document)
        row["ours"].append(attempt("ours", lambda seconds: ours(arguments, gpus, batch, seconds)))
        own = [answer["ms"] for answer in row["ours"] if answer]
        theirs = {mode: answer["ms"] for mode, answer in row["torch"].items() if answer}
        row["ours_ms"] = statistics.median(own) if own else None
        row["fastest_torch"] = min(theirs, key=theirs.get) if theirs else None
        row["torch_ms"] = theirs.get(row["fastest_torch"])
        rows = document["data"]
        row["ours_efficiency"] = efficiency(rows, lambda r: r["ours_ms"], gpus, arguments.strong)
        row["torch_efficiency"] = efficiency(rows, lambda r: r["torch_ms"], gpus, arguments.strong)
        keep(arguments, document)

        def text(value):
            return "-" if value is None else f"{value:.3f}"

        print(f"{gpus} GPUs, {batch} images each: ours {text(row['ours_ms'])} ms, efficiency {text(row['ours_efficiency'])}; "
              f"torch {text(row['torch_ms'])} ms ({row['fastest_torch']}), efficiency {text(row['torch_efficiency'])}", flush=True)
        for mode, milliseconds in theirs.items():
            print(f"    {mode:<36}{milliseconds:>9.3f} ms", flush=True)
    return all(row["ours_ms"] is not None for row in document["data"])


def arguments_of(words):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(dest="command", required=True)
    by_name = {name: commands.add_parser(name) for name in ("speed", "worker")}  # worker: speed's
    for command in by_name.values():
        command.add_argument("--model", default="swin_large")
        command.add_argument("--batch", type=int, default=64)
        command.add_argument("--precision", default="bf16", choices=("fp32", "tf32", "fp16", "bf16"))
        command.add_argument("--measured", type=int, default=40, help="steps of a round")
    by_name["worker"].add_argument("--mode", required=True)
    command = by_name["speed"]
    command.add_argument("--swin", required=True)
    command.add_argument("--swinscope", required=True, help="its launcher starts our ranks")
    command.add_argument("--swin-options", default="", help="further options of `swin train`")
    command.add_argument("--gpus", default="1,2,4,8")
    command.add_argument("--modes", default=MODES)
    command.add_argument("--strong", action="store_true", help="--batch is that of all GPUs")
    command.add_argument("--seconds", type=float, default=3600.0, help="after which nothing more is begun")
    command.add_argument("--json", help="file for the figures")
    arguments = parser.parse_args(words)
    if arguments.command == "speed" and arguments.strong:
        for gpus in map(int, arguments.gpus.split(",")):
            if arguments.batch % gpus:
                parser.error(f"--strong: --batch {arguments.batch} cannot be divided by {gpus} GPUs")
    return arguments


def main():
    arguments = arguments_of(None)
    import torch
    if not torch.cuda.is_available():
        sys.exit("error: no GPU answers\n  hint: this compares on GPUs")
    if arguments.command == "worker":
        return worker(arguments)
    sys.exit(0 if speed(arguments) else 1)


if __name__ == "__main__":
    main()
