#!/usr/bin/env python3
"""Our Swin training beside PyTorch's, on one GPU: times and memory, loss curves, time to an accuracy, or gradients.

usage: python3 tests/peers/torch/compare_training.py speed --swin build/gpu/bin/swin [--cases swin_large:64,swinv2_base:64]
           [--modes default,reduce-overhead,max-autotune] [--layouts nchw,channels_last] [--precisions fp16,bf16]
           [--data FOLDER --loader-workers N] [--jobs N] [--ahead [--time-after FILE]] [--seconds S] [--json FILE]
       python3 tests/peers/torch/compare_training.py curve --swin build/gpu/bin/swin [--models swin_tiny] [--steps 200] [--json FILE]
       python3 tests/peers/torch/compare_training.py accuracy --swin build/gpu/bin/swin --data FOLDER [--target 0.9] [--json FILE]
       python3 tests/peers/torch/compare_training.py gradients --swin build/gpu/bin/swin [--models swin_nano,swinv2_nano] [--json FILE]

Needs torch, timm, numpy and safetensors (made for torch 2.11 and timm 1.0.29) and a GPU; with --data torchvision, too.

speed: medians of the time of a step (forward, backward, clipping, AdamW) with torch.compile, autocast and fused AdamW, and peak
memory. Each mode, layout and precision of PyTorch is a process; --jobs of them compile at a time (each holds a whole training's
memory), then they are timed one after another with nothing else running, ours before and after each. --ahead: those of all cases are
compiled before the first is timed, where memory holds them all; --time-after FILE waits for that file then, where something else uses
the GPU at first. What has not compiled after --seconds is named and left out. The file of --json is written anew after each.
A GPU that is busy with other work is refused. Without --data the images lie on the GPU on both sides; with it both read the same JPEG files with the same crops and mirroring, by
--loader-workers processes or threads.

curve: the same weights, images and order on both sides (our synthetic set, computed here again), stochastic depth off: means of 20
steps must agree within 0.5 %. accuracy: both train on the same files until --target of the held-out pictures are right; the time
to there, PyTorch's without its compilation. gradients: of one batch with redrawn weights, ours and PyTorch's in the same precision,
against PyTorch in float64; ours may err 1.2 times as much.
"""
import argparse
import json
import os
import statistics
import sys
import time

from compiling_peer import CompilingPeer, compile_peers, need_quiet_gpu, wait_for_file
from training_model import Stepper, image_size, keep, make_model, random_crops, run_swin


def need_gpu():
    import torch
    if not torch.cuda.is_available():
        sys.exit("error: no GPU answers\n  hint: this compares on a GPU")


def jpeg_batches(arguments, size, channels_last):
    """Endless batches of the files, on the GPU."""
    import torch
    from torchvision import datasets
    train = os.path.join(arguments.data, "train")
    files = datasets.ImageFolder(train if os.path.isdir(train) else arguments.data, random_crops(size, 0.08))
    loader = torch.utils.data.DataLoader(files, arguments.batch, shuffle=True, num_workers=arguments.loader_workers,
                                         pin_memory=True, drop_last=True, persistent_workers=True, prefetch_factor=4)
    layout = torch.channels_last if channels_last else torch.contiguous_format
    while True:
        for images, labels in loader:
            yield images.to("cuda", non_blocking=True, memory_format=layout), labels.to("cuda", non_blocking=True)


def worker(arguments):
    """One configuration: says `ready`, then answers each line of its input with another measurement as JSON."""
    import torch
    model = make_model(arguments.model).cuda().train()
    size = image_size(model)
    channels_last = arguments.layout == "channels_last"
    if channels_last:
        model = model.to(memory_format=torch.channels_last)
    forward = model if arguments.mode == "eager" else torch.compile(model, mode=arguments.mode)
    stepper = Stepper(model, forward, arguments.precision, 1e-4)
    if arguments.data:
        batches = jpeg_batches(arguments, size, channels_last)
    else:
        images = torch.randn(arguments.batch, 3, size, size, device="cuda")
        if channels_last:
            images = images.to(memory_format=torch.channels_last)
        labels = torch.randint(0, 1000, (arguments.batch,), device="cuda")
        batches = iter(lambda: (images, labels), None)
    for _ in range(8):
        stepper.step(*next(batches))
    torch.cuda.synchronize()
    print("ready", flush=True)
    for _ in sys.stdin:
        torch.cuda.reset_peak_memory_stats()
        for _ in range(5):
            stepper.step(*next(batches))
        torch.cuda.synchronize()
        times = []
        for _ in range(arguments.measured):
            began = time.perf_counter()
            stepper.step(*next(batches))
            torch.cuda.synchronize()
            times.append(1e3 * (time.perf_counter() - began))
        # Without a wait after each step, which hides what the host costs.
        began = time.perf_counter()
        for _ in range(arguments.measured):
            stepper.step(*next(batches))
        torch.cuda.synchronize()
        mean = 1e3 * (time.perf_counter() - began) / arguments.measured
        print("answer", json.dumps({"ms": min(statistics.median(times), mean), "median_ms": statistics.median(times),
                                    "mean_ms": mean, "peak_gib": torch.cuda.max_memory_allocated() / 2**30,
                                    "reserved_gib": torch.cuda.memory_reserved() / 2**30}), flush=True)


def make_peer(arguments, model, batch, precision, mode, layout):
    command = [sys.executable, os.path.abspath(__file__), "worker", "--model", model, "--batch", str(batch),
               "--precision", precision, "--mode", mode, "--layout", layout, "--measured", str(arguments.measured)]
    if arguments.data:
        command += ["--data", arguments.data, "--loader-workers", str(arguments.loader_workers)]
    return CompilingPeer((model, batch, precision), f"{mode} {layout}", command)


def ours(arguments, model, batch, precision):
    options = ["--device", "cuda", "--model", model, "--batch-per-gpu", str(batch), "--precision", precision, "--steps",
               str(arguments.measured), "--warmup", "10"]
    if arguments.data:
        options += ["--data", arguments.data, "--loader-threads", str(arguments.loader_workers)]
    else:
        options += ["--dataset-size", str(2 * batch)]
    document, error = run_swin(arguments, options, timeout=300)
    if error:
        return {"error": error}
    row = document["data"][0]
    return {"ms": min(row["step_time_median_ns"], row["step_time_mean_ns"]) * 1e-6, "memory_gib":
            document["run"]["memory_bytes"] / 2**30, "input_wait_share": row["input_wait_share"]}


def compile_all(arguments, peers, started, document):
    for peer, why in compile_peers(peers, arguments.jobs, started + arguments.seconds).items():
        document["left_out"].append(f"{' '.join(map(str, peer.case))} {peer.name}: {why}")
        print("left out:", document["left_out"][-1], flush=True)


def speed(arguments):
    import timm
    import torch
    cases = [(case.split(":")[0], int(case.split(":")[1]), precision) for case in arguments.cases.split(",")
             for precision in arguments.precisions.split(",")]
    peers = [make_peer(arguments, *case, mode, layout) for case in cases for mode in arguments.modes.split(",")
             for layout in arguments.layouts.split(",")]
    document = {"schema": "swinscope.peers.training/1", "gpu": torch.cuda.get_device_name(), "torch": torch.__version__,
                "timm": timm.__version__, "data_folder": arguments.data, "left_out": [], "data": []}
    started = time.monotonic()
    if arguments.ahead:
        compile_all(arguments, peers, started, document)
        wait_for_file(arguments.time_after)
    for case in cases:
        mine = [peer for peer in peers if peer.case == case]
        need_quiet_gpu()
        row = {"model": case[0], "batch": case[1], "precision": case[2], "ours": [ours(arguments, *case)], "torch": {}}
        document["data"].append(row)
        keep(arguments, document)
        if not arguments.ahead:
            compile_all(arguments, mine, started, document)
        for peer in mine:
            if peer.ready:
                answer = peer.ask("answer")
                row["torch"][peer.name] = None if answer is None else json.loads(answer)
                row["ours"].append(ours(arguments, *case))
                keep(arguments, document)
        for peer in mine:
            peer.stop()
        times = {name: answer["ms"] for name, answer in row["torch"].items() if answer}
        own = [answer["ms"] for answer in row["ours"] if "ms" in answer]
        for answer in row["ours"]:
            if "error" in answer:
                print(answer["error"], flush=True)
        if times and own:
            row["fastest_torch"] = min(times, key=times.get)
            row["ratio"] = times[row["fastest_torch"]] / statistics.median(own)
            print(f"{case[0]:<14} batch {case[1]:>4} {case[2]}  ours {statistics.median(own):8.3f} ms   "
                  f"torch {times[row['fastest_torch']]:8.3f} ms ({row['fastest_torch']})   ratio {row['ratio']:.2f}", flush=True)
            print(f"    {'ours':<32}{statistics.median(own):>9.3f} ms{row['ours'][0].get('memory_gib', 0.0):>8.1f} GiB allocated", flush=True)
        for name, answer in row["torch"].items():
            if answer:
                print(f"    {name:<32}{answer['ms']:>9.3f} ms{answer['reserved_gib']:>8.1f} GiB reserved", flush=True)
        keep(arguments, document)
    return all(row.get("ratio", 0.0) >= arguments.min_ratio for row in document["data"])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(dest="command", required=True)
    by_name = {name: commands.add_parser(name) for name in ("speed", "curve", "accuracy", "gradients", "worker")}
    for name in ("speed", "curve", "accuracy", "gradients"):
        by_name[name].add_argument("--swin", required=True)
        by_name[name].add_argument("--swin-options", default="", help="further options of `swin train`")
        by_name[name].add_argument("--json", help="file for the figures")
    for name in ("speed", "worker", "accuracy"):  # worker: speed's
        by_name[name].add_argument("--data", required=name == "accuracy",
                                   help="folder of JPEG files, as for `swin train`; else images on the GPU")
        by_name[name].add_argument("--loader-workers", type=int, default=12)
    for name in ("speed", "worker"):
        by_name[name].add_argument("--measured", type=int, default=40, help="steps")
    command = by_name["speed"]
    command.add_argument("--cases", default="swin_large:64,swinv2_base:64", help="MODEL:BATCH,…")
    command.add_argument("--precisions", default="fp16,bf16")
    command.add_argument("--modes", default="default,reduce-overhead,max-autotune", help="also eager")
    command.add_argument("--layouts", default="nchw,channels_last")
    command.add_argument("--jobs", type=int, default=3, help="that compile at a time")
    command.add_argument("--ahead", action="store_true", help="compile for all cases before the first is timed")
    command.add_argument("--time-after", metavar="FILE", help="with --ahead: wait for that file before timing")
    command.add_argument("--seconds", type=float, default=3600.0, help="after which nothing more is compiled")
    command.add_argument("--min-ratio", type=float, default=0.0)
    command = by_name["curve"]
    command.add_argument("--models", default="swin_tiny")
    command.add_argument("--steps", type=int, default=200)
    command.add_argument("--batch", type=int, default=64)
    command.add_argument("--images", type=int, default=1024)
    command.add_argument("--precision", default="fp16")
    command.add_argument("--lr", type=float, default=5e-4)
    command.add_argument("--lr-warmup", type=int, default=20)
    command.add_argument("--seed", type=int, default=0)
    command = by_name["accuracy"]
    command.add_argument("--model", default="swin_tiny")
    command.add_argument("--batch", type=int, default=128)
    command.add_argument("--epochs", type=int, default=30, help="of the learning rate's schedule")
    command.add_argument("--target", type=float, default=0.9)
    command.add_argument("--precision", default="fp16")
    command.add_argument("--lr", type=float, default=5e-4)
    command.add_argument("--lr-warmup", type=int, default=300)
    command.add_argument("--drop-path", type=float, default=0.1)
    command.add_argument("--crop-area", type=float, default=0.5)
    command.add_argument("--seconds", type=float, default=3600.0, help="after which PyTorch's side ends")
    command = by_name["gradients"]
    command.add_argument("--models", default="swin_nano,swinv2_nano")
    command.add_argument("--precisions", default="fp32,tf32,fp16,bf16")
    command.add_argument("--batch", type=int, default=4)
    command.add_argument("--images", type=int, default=16)
    command.add_argument("--seed", type=int, default=0)
    command.add_argument("--full-scale", action="store_true", help="V2: scales of cosines up to 100")
    command.add_argument("--out", help="folder to write PyTorch's gradients to, as safetensors")
    command = by_name["worker"]
    command.add_argument("--model", required=True)
    command.add_argument("--batch", type=int, required=True)
    for option in ("mode", "layout", "precision"):
        command.add_argument("--" + option, required=True)
    arguments = parser.parse_args()
    need_gpu()
    if arguments.command == "worker":
        return worker(arguments)
    import training_accuracy
    import training_numerics
    passed = {"speed": speed, "curve": training_numerics.curve, "accuracy": training_accuracy.accuracy,
              "gradients": training_numerics.gradients}[arguments.command](arguments)
    sys.exit(0 if passed else 1)


if __name__ == "__main__":
    main()
