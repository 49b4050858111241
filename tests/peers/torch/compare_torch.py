#!/usr/bin/env python3
"""Our Swin inference beside PyTorch's, on one GPU: times, or errors.

usage: python3 tests/peers/torch/compare_torch.py speed --swin build/gpu/bin/swin [--models NAME,…] [--batches 1,32,128]
           [--modes eager,default,reduce-overhead,max-autotune] [--layouts nchw,channels_last] [--json FILE]
       python3 tests/peers/torch/compare_torch.py errors --swin build/gpu/bin/swin [--models NAME,…] [--batches 1,3,17]
           [--precisions fp32,fp16,bf16] [--image N] [--json FILE]

Needs torch, timm, numpy and safetensors (made with torch 2.11 and timm 1.0.29) and a GPU.

speed: medians of CUDA-event times of a pass on images that are on the GPU already. Ours is measured before and after each
PyTorch mode, so that both sides see the same clocks; the ratio is the fastest PyTorch mode over the median of all of ours.
--seconds ends the list of modes early and names what was left out. --min-ratio makes it a check.

errors: all parameters are redrawn from their names on both sides (tests/peers/timm/export_fixtures.py states the rule), ours
computes the images and its logits, and PyTorch's model in float64 is the reference for ours and for PyTorch in the same
precision. Exit 1 where our error exceeds its tolerance (1e-4, 3e-3, 2e-2) or 1.2 times PyTorch's.
"""
import argparse
import copy
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

import torch
import timm
from safetensors.torch import load_file

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "timm"))
import export_fixtures  # noqa: E402

DTYPES = {"fp32": torch.float32, "tf32": torch.float32, "fp16": torch.float16, "bf16": torch.bfloat16}
TOLERANCES = {"fp32": 1e-4, "tf32": 3e-3, "fp16": 3e-3, "bf16": 2e-2}
PEER_FACTOR = 1.2
# Below this both sides are as good as fp32 gets, and the ratio is noise.
FLOOR = 2e-6


def run_swin(arguments, extra):
    command = [arguments.swin, "infer", "--device", "cuda", "--json"] + extra + arguments.swin_options.split()
    finished = subprocess.run(command, capture_output=True, text=True)
    if finished.returncode != 0:
        sys.exit(f"error: {' '.join(command)} ended with {finished.returncode}\n{finished.stderr}")
    return json.loads(finished.stdout)


def make_model(name, image):
    timm_name, overrides = export_fixtures.MODELS[name]
    if image:
        overrides = dict(overrides, img_size=image)
    return timm.create_model(timm_name, pretrained=False, **overrides).eval()


def set_tf32(on):
    torch.backends.cuda.matmul.allow_tf32 = on
    torch.backends.cudnn.allow_tf32 = on


def ours_ms(arguments, model, batch):
    steps = str(max(30, min(200, 3200 // batch)))
    document = run_swin(arguments, ["--model", model, "--batch", str(batch), "--precision", arguments.precision,
                                    "--steps", steps, "--warmup", "10"])
    return document["data"][0]["step_time_median_ns"] * 1e-6


def torch_ms(arguments, model_name, batch, mode, layout):
    torch._dynamo.reset()
    torch.cuda.empty_cache()
    dtype = DTYPES[arguments.precision]
    model = make_model(model_name, 0).to("cuda", dtype)
    size = model.patch_embed.img_size[0]
    images = torch.randn(batch, 3, size, size, device="cuda").to(dtype)
    if layout == "channels_last":
        model = model.to(memory_format=torch.channels_last)
        images = images.to(memory_format=torch.channels_last)
    if mode != "eager":
        model = torch.compile(model, mode=mode)
    times = []
    with torch.inference_mode():
        for _ in range(8):
            model(images)
        torch.cuda.synchronize()
        for _ in range(max(20, min(100, 3200 // batch))):
            begin, end = torch.cuda.Event(True), torch.cuda.Event(True)
            begin.record()
            model(images)
            end.record()
            torch.cuda.synchronize()
            times.append(begin.elapsed_time(end))
    return statistics.median(times)


def compare_speed(arguments):
    started = time.monotonic()
    set_tf32(arguments.precision != "fp32")
    torch.backends.cudnn.benchmark = True
    rows, skipped = [], []
    for model in arguments.models.split(","):
        for batch in map(int, arguments.batches.split(",")):
            ours = [ours_ms(arguments, model, batch)]
            peers = {}
            for mode in arguments.modes.split(","):
                for layout in arguments.layouts.split(","):
                    if time.monotonic() - started > arguments.seconds:
                        skipped.append(f"{model} batch {batch} {mode} {layout}")
                        continue
                    peers[f"{mode} {layout}"] = torch_ms(arguments, model, batch, mode, layout)
                    ours.append(ours_ms(arguments, model, batch))
            if not peers:
                continue
            fastest = min(peers, key=peers.get)
            row = {"model": model, "batch": batch, "precision": arguments.precision,
                   "ours_ms": round(statistics.median(ours), 4), "ours_all_ms": [round(t, 4) for t in ours],
                   "torch_ms": {key: round(value, 4) for key, value in peers.items()}, "fastest_torch": fastest,
                   "ratio": round(peers[fastest] / statistics.median(ours), 3)}
            rows.append(row)
            print(f"{model:<14} batch {batch:>4}  ours {row['ours_ms']:>8.3f} ms   torch {peers[fastest]:>8.3f} ms "
                  f"({fastest})   ratio {row['ratio']:.2f}", flush=True)
    document = {"schema": "swinscope.peers.speed/1", "gpu": torch.cuda.get_device_name(), "torch": torch.__version__,
                "timm": timm.__version__, "left_out": skipped, "data": rows}
    for item in skipped:
        print(f"left out for time: {item}")
    return document, all(row["ratio"] >= arguments.min_ratio for row in rows)


def relative_error(values, reference):
    difference = torch.linalg.vector_norm(values.double() - reference)
    return (difference / torch.linalg.vector_norm(reference)).item()


def compare_errors(arguments):
    rows = []
    print(f"{'model':<14}{'batch':>6}{'image':>7}{'':>6}{'ours':>12}{'torch':>12}{'ratio':>8}{'allowed':>10}")
    for name in arguments.models.split(","):
        try:
            model = make_model(name, arguments.image).cuda()  # stays in fp32: conversions are made of copies
        except RuntimeError as error:
            # V2 of timm pads no map that its windows do not divide.
            print(f"{name:<14} left out: timm does not build it at {arguments.image} pixels ({error})")
            continue
        size = model.patch_embed.img_size[0]
        export_fixtures.load_redrawn(model, (1, 3, size, size))
        for batch in map(int, arguments.batches.split(",")):
            reference = None
            for precision in arguments.precisions.split(","):
                with tempfile.TemporaryDirectory() as folder:
                    file = os.path.join(folder, "logits.safetensors")
                    run_swin(arguments, ["--model", name, "--batch", str(batch), "--image", str(size), "--precision",
                                         precision, "--seed", str(export_fixtures.SEED), "--steps", "1", "--logits", file])
                    tensors = {key: value.cuda() for key, value in load_file(file).items()}
                images = tensors["images"]
                with torch.inference_mode():
                    if reference is None:
                        set_tf32(False)
                        reference = copy.deepcopy(model).double()(images.double())
                    set_tf32(precision == "tf32")
                    peer_model = copy.deepcopy(model).to(DTYPES[precision])
                    peer = relative_error(peer_model(images.to(DTYPES[precision])), reference)
                ours = relative_error(tensors["logits"], reference)
                # NaN compares false with everything, so it fails.
                passed = ours <= TOLERANCES[precision] and ours <= max(PEER_FACTOR * peer, FLOOR)
                rows.append({"model": name, "batch": batch, "image": size, "precision": precision, "ours": ours,
                             "torch": peer, "tolerance": TOLERANCES[precision], "passed": passed})
                print(f"{name:<14}{batch:>6}{size:>7}{precision:>6}{ours:>12.2e}{peer:>12.2e}{ours / peer:>8.2f}"
                      f"{TOLERANCES[precision]:>10.0e}{'' if passed else '  FAILED'}", flush=True)
        del model
        torch.cuda.empty_cache()
    document = {"schema": "swinscope.peers.errors/1", "gpu": torch.cuda.get_device_name(), "torch": torch.__version__,
                "timm": timm.__version__, "data": rows}
    return document, all(row["passed"] for row in rows)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(dest="command", required=True)
    speed = commands.add_parser("speed")
    errors = commands.add_parser("errors")
    for command in (speed, errors):
        command.add_argument("--swin", required=True)
        command.add_argument("--swin-options", default="", help="further options of `swin infer`")
        command.add_argument("--json", help="file for the figures")
    speed.add_argument("--models", default="swin_base")
    speed.add_argument("--batches", default="1,32,128")
    speed.add_argument("--precision", default="fp16", choices=DTYPES)
    speed.add_argument("--modes", default="eager,default,reduce-overhead,max-autotune")
    speed.add_argument("--layouts", default="nchw,channels_last")
    speed.add_argument("--seconds", type=float, default=3600.0)
    speed.add_argument("--min-ratio", type=float, default=0.0)
    errors.add_argument("--models", default=",".join(export_fixtures.MODELS))
    errors.add_argument("--batches", default="1,3,17")
    errors.add_argument("--precisions", default="fp32,fp16,bf16")
    errors.add_argument("--image", type=int, default=0, help="pixels (default: the models' own)")
    arguments = parser.parse_args()
    if not torch.cuda.is_available():
        sys.exit("error: no GPU answers\n  hint: this compares on a GPU")
    document, passed = compare_speed(arguments) if arguments.command == "speed" else compare_errors(arguments)
    if arguments.json:
        with open(arguments.json, "w", encoding="utf-8") as file:
            json.dump(document, file, indent=1)
    sys.exit(0 if passed else 1)


if __name__ == "__main__":
    main()
