#!/usr/bin/env python3
"""Our Swin inference beside PyTorch's, on one GPU: times, or errors.

usage: python3 tests/peers/torch/compare_torch.py speed --swin build/gpu/bin/swin [--cases swin_base:1,swin_base:32,…]
           [--modes eager,default,reduce-overhead,max-autotune] [--layouts nchw,channels_last] [--jobs N] [--json FILE]
           [--own-precision fp8|int8]
           [--compile-only]
       python3 tests/peers/torch/compare_torch.py errors --swin build/gpu/bin/swin [--models NAME,…] [--batches 1,3,17]
           [--precisions fp32,fp16,bf16] [--image N] [--window N] [--json FILE]
       python3 tests/peers/torch/compare_torch.py fixtures [--models NAME,…]

Needs torch, timm, numpy and safetensors (made with torch 2.11 and timm 1.0.29) and a GPU.

speed: medians of CUDA-event times of a pass on images that are on the GPU already. Each mode and layout of PyTorch is a
process; --jobs of them compile at a time, each for --compile-limit seconds at most. Once all have compiled (or --seconds are
over: the rest is named and left out) they are timed one after another, with nothing else running, ours before and after each, so
that both sides see the same clocks; after the first of --rounds only those within 1.5 times the fastest. The ratio is the fastest
PyTorch mode over the median of all of ours. They compile in the order of the options: the mode that takes longest (max-autotune)
belongs first, and with TORCHINDUCTOR_CACHE_DIR the second layout finds the products that the first has tuned. --min-ratio makes
it a check; --time-after FILE waits for that file before timing, where something else uses the GPU at first; a GPU that is still
busy is refused. The JSON file is written anew after each case. --compile-only ends once all have compiled: with
TORCHINDUCTOR_CACHE_DIR what takes long can be compiled two or three at a time, in several calls, before one call times everything.

errors: all parameters are redrawn from their names (tests/peers/timm/export_fixtures.py states the rule; here V2's logit_scale goes
up to ln 100, where models clamp it, while the fixtures have heads beyond), ours loads them, makes the images and computes its logits
(--jobs runs at a time), and PyTorch's model in float64 is the reference for ours and for
PyTorch in the same precision. Exit 1 where our error exceeds 1.2 times PyTorch's, or the tolerance (1e-4, 3e-3, 2e-2) where
PyTorch keeps it. The column `rounded` is the error of the reference itself on parameters and images that were rounded to that
precision: what is left when nothing after them is rounded, in which no implementation has a part.

fixtures: PyTorch's own errors on the inputs of tests/peers/timm/fixtures, written to torch_errors.json beside them, from which
`swin verify --fixtures` knows what PyTorch reaches.
"""
import argparse
import concurrent.futures
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
from safetensors.torch import load_file, save_file

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "timm"))
import export_fixtures  # noqa: E402
from compiling_peer import CompilingPeer, compile_peers, need_quiet_gpu, wait_for_file  # noqa: E402

DTYPES = {"fp32": torch.float32, "tf32": torch.float32, "fp16": torch.float16, "bf16": torch.bfloat16}
TOLERANCES = {"fp32": 1e-4, "tf32": 3e-3, "fp16": 3e-3, "bf16": 2e-2}
PEER_FACTOR = 1.2
# Below this both sides are as good as fp32 gets, and the ratio is noise.
FLOOR = 2e-6
# A program's medians at batch 1 have differed by up to 1.43 between rounds: what is further from the fastest than this after one
# round will not be the fastest after more.
NEAR_THE_FASTEST = 1.5


def run_swin(arguments, extra):
    command = [arguments.swin, "infer", "--device", "cuda", "--json"] + extra + arguments.swin_options.split()
    finished = subprocess.run(command, capture_output=True, text=True)
    if finished.returncode != 0:
        sys.exit(f"error: {' '.join(command)} ended with {finished.returncode}\n{finished.stderr}")
    return json.loads(finished.stdout)


def write_json(arguments, document):
    """The file as a whole, so that a reader never sees half of it."""
    if arguments.json:
        with open(arguments.json + ".part", "w", encoding="utf-8") as file:
            json.dump(document, file, indent=1)
        os.replace(arguments.json + ".part", arguments.json)


def make_model(name, image=0, window=0):
    timm_name, overrides = export_fixtures.MODELS[name]
    if image:
        overrides = dict(overrides, img_size=image)
    if window:
        overrides = dict(overrides, window_size=window)
    return timm.create_model(timm_name, pretrained=False, **overrides).eval()


def set_tf32(on):
    torch.backends.cuda.matmul.allow_tf32 = on
    torch.backends.cudnn.allow_tf32 = on


def ours_ms(arguments, model, batch):
    steps = str(max(30, min(200, 3200 // batch)))
    document = run_swin(arguments, ["--model", model, "--batch", str(batch), "--precision", arguments.own_precision or arguments.precision,
                                    "--steps", steps, "--warmup", "10"])
    return document["data"][0]["step_time_median_ns"] * 1e-6


def peer_worker(arguments):
    """One compiled model: says `ready`, then answers each line of its input with the median of another measurement."""
    set_tf32(arguments.precision != "fp32")
    torch.backends.cudnn.benchmark = True
    dtype = DTYPES[arguments.precision]
    model = make_model(arguments.model).to("cuda", dtype)
    size = model.patch_embed.img_size[0]
    images = torch.randn(arguments.batch, 3, size, size, device="cuda").to(dtype)
    if arguments.layout == "channels_last":
        model = model.to(memory_format=torch.channels_last)
        images = images.to(memory_format=torch.channels_last)
    if arguments.mode != "eager":
        model = torch.compile(model, mode=arguments.mode)
    passes = max(30, min(200, 3200 // arguments.batch))
    with torch.inference_mode():
        for _ in range(8):
            model(images)
        torch.cuda.synchronize()
        print("ready", flush=True)
        for _ in sys.stdin:
            times = []
            for _ in range(10):
                model(images)
            torch.cuda.synchronize()
            for _ in range(passes):
                begin, end = torch.cuda.Event(True), torch.cuda.Event(True)
                begin.record()
                model(images)
                end.record()
                torch.cuda.synchronize()
                times.append(begin.elapsed_time(end))
            print("ms", statistics.median(times), flush=True)


def make_peer(arguments, model, batch, mode, layout):
    command = [sys.executable, os.path.abspath(__file__), "worker", "--model", model, "--batch", str(batch), "--mode", mode,
               "--layout", layout, "--precision", arguments.precision]
    return CompilingPeer((model, batch), f"{mode} {layout}", command)


def compare_case(arguments, model, batch, peers):
    ours_ms(arguments, model, batch)  # chooses the algorithms of this case's products, with nothing else running
    ours, times = [ours_ms(arguments, model, batch)], {peer.name: [] for peer in peers}
    timed = peers
    for _ in range(arguments.rounds):
        for peer in timed:
            times[peer.name].append(float(peer.ask("ms")))
            ours.append(ours_ms(arguments, model, batch))
        near = NEAR_THE_FASTEST * min(min(values) for values in times.values())
        timed = [peer for peer in timed if min(times[peer.name]) <= near]
    medians = {name: statistics.median(values) for name, values in times.items()}
    fastest = min(medians, key=medians.get)
    ratio = medians[fastest] / statistics.median(ours)
    row = {"model": model, "batch": batch, "precision": arguments.precision, "own_precision": arguments.own_precision or arguments.precision, "ours_ms": round(statistics.median(ours), 4),
           "ours_all_ms": [round(t, 4) for t in ours], "torch_ms": {name: round(t, 4) for name, t in medians.items()},
           "torch_all_ms": {name: [round(t, 4) for t in values] for name, values in times.items()},
           "compile_s": {peer.name: round(peer.compile_seconds, 1) for peer in peers},
           "fastest_torch": fastest, "ratio": ratio}
    print(f"{model:<14} batch {batch:>4}  ours {row['ours_ms']:>8.3f} ms ({min(ours):.3f} to {max(ours):.3f})   "
          f"torch {medians[fastest]:>8.3f} ms ({fastest})   ratio {ratio:.2f}", flush=True)
    for name, value in sorted(medians.items(), key=lambda item: item[1]):
        print(f"    {name:<32}{value:>9.3f} ms", flush=True)
    return row


def compare_speed(arguments):
    cases = [(case.split(":")[0], int(case.split(":")[1])) for case in arguments.cases.split(",")]
    peers = [make_peer(arguments, model, batch, mode, layout) for layout in arguments.layouts.split(",")
             for mode in arguments.modes.split(",") for model, batch in cases]
    rows, left_out = [], []
    document = {"schema": "swinscope.peers.speed/2", "gpu": torch.cuda.get_device_name(), "torch": torch.__version__,
                "timm": timm.__version__, "left_out": left_out, "data": rows}
    try:
        started = time.monotonic()
        for peer, why in compile_peers(peers, arguments.jobs, started + arguments.seconds, arguments.compile_limit).items():
            left_out.append(f"{peer.case[0]} batch {peer.case[1]} {peer.name}: {why}")
            print(f"left out: {left_out[-1]}", flush=True)
        print(f"{sum(peer.ready for peer in peers)} of {len(peers)} compiled in {time.monotonic() - started:.0f} s", flush=True)
        wait_for_file(arguments.time_after)
        if arguments.compile_only:
            return document, not left_out
        for model, batch in cases:
            ready = [peer for peer in peers if peer.case == (model, batch) and peer.ready]
            if ready:
                need_quiet_gpu()
                rows.append(compare_case(arguments, model, batch, ready))
                write_json(arguments, document)
    finally:
        for peer in peers:
            peer.stop()
    return document, len(rows) == len(cases) and all(row["ratio"] >= arguments.min_ratio for row in rows)


def relative_error(values, reference):
    difference = torch.linalg.vector_norm(values.double() - reference)
    return (difference / torch.linalg.vector_norm(reference)).item()


def our_logits(arguments, folder, name, weights, batch, precision):
    """The file of the images and of our logits for them."""
    file = os.path.join(folder, f"{name}-{batch}-{precision}.safetensors")
    sizes = ["--image", str(arguments.image)] if arguments.image else []
    sizes += ["--window", str(arguments.window)] if arguments.window else []
    run_swin(arguments, ["--model", name, "--batch", str(batch), "--precision", precision, "--seed", str(export_fixtures.SEED),
                         "--weights", weights, "--steps", "1", "--tune-seconds", "0", "--logits", file] + sizes)
    return file


def error_rows(arguments, name, model, runs):
    """Of one model: `runs` gives our files by batch and precision."""
    rows = []
    for batch in map(int, arguments.batches.split(",")):
        reference = None
        for precision in arguments.precisions.split(","):
            file = runs[batch, precision].result()
            tensors = {key: value.cuda() for key, value in load_file(file).items()}
            os.remove(file)
            images = tensors["images"]
            with torch.inference_mode():
                if reference is None:
                    set_tf32(False)
                    reference = copy.deepcopy(model).double()(images.double())
                set_tf32(precision == "tf32")
                peer_model, peer_images = copy.deepcopy(model).to(DTYPES[precision]), images.to(DTYPES[precision])
                peer = relative_error(peer_model(peer_images), reference)
                rounded = relative_error(peer_model.double()(peer_images.double()), reference)
            ours = relative_error(tensors["logits"], reference)
            # NaN compares false with everything, so it fails.
            allowed = max(PEER_FACTOR * peer, FLOOR)
            if peer <= TOLERANCES[precision]:
                allowed = min(allowed, TOLERANCES[precision])
            size = images.shape[-1]
            passed = ours <= allowed
            rows.append({"model": name, "batch": batch, "image": size, "window": arguments.window, "precision": precision,
                         "ours": ours, "torch": peer, "rounded": rounded, "tolerance": TOLERANCES[precision], "allowed": allowed, "passed": passed})
            beyond = "" if peer <= TOLERANCES[precision] else "  PyTorch misses the tolerance"
            print(f"{name:<14}{batch:>6}{size:>7}{precision:>6}{ours:>12.2e}{peer:>12.2e}{ours / peer:>8.2f}"
                  f"{rounded:>10.1e}{allowed:>10.1e}{beyond if passed else '  FAILED'}", flush=True)
    return rows


def compare_errors(arguments):
    rows = []
    document = {"schema": "swinscope.peers.errors/1", "gpu": torch.cuda.get_device_name(), "torch": torch.__version__,
                "timm": timm.__version__, "data": rows}
    print(f"{'model':<14}{'batch':>6}{'image':>7}{'':>6}{'ours':>12}{'torch':>12}{'ratio':>8}{'rounded':>10}"
          f"{'allowed':>10}")
    names = arguments.models.split(",")
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        models = {}  # in fp32: conversions are made of copies
        for name in names:
            try:
                model = make_model(name, arguments.image, arguments.window)
            except RuntimeError as error:
                # V2 of timm pads no map that its windows do not divide.
                print(f"{name:<14} left out: timm does not build it at {arguments.image} pixels ({error})", flush=True)
                continue
            export_fixtures.load_redrawn(model, (1, 3, 1, 1), export_fixtures.LN_100)
            weights = os.path.join(folder, name + ".safetensors")
            save_file(dict(model.named_parameters()), weights)
            models[name] = model, {(batch, precision): pool.submit(our_logits, arguments, folder, name, weights, batch, precision)
                                   for batch in map(int, arguments.batches.split(","))
                                   for precision in arguments.precisions.split(",")}
        for name, (model, runs) in models.items():
            rows.extend(error_rows(arguments, name, model.cuda(), runs))
            write_json(arguments, document)
            model.cpu()
            torch.cuda.empty_cache()
    return document, all(row["passed"] for row in rows)


def write_fixture_errors(arguments):
    """PyTorch's own errors on the fixtures' images, in each precision below fp32."""
    errors = {}
    if os.path.exists(arguments.json):  # of other models
        with open(arguments.json, encoding="utf-8") as file:
            errors = json.load(file)["errors"]
    for name in arguments.models.split(","):
        fixture = load_file(os.path.join(arguments.fixtures, name + ".safetensors"))
        reference = fixture["logits"].cuda().double()
        model = make_model(name).cuda()
        size = model.patch_embed.img_size[0]
        images, _ = export_fixtures.load_redrawn(model, (reference.shape[0], 3, size, size))
        errors[name] = {}
        for precision in arguments.precisions.split(","):
            set_tf32(precision == "tf32")
            with torch.inference_mode():
                logits = copy.deepcopy(model).to(DTYPES[precision])(images.cuda().to(DTYPES[precision]))
            errors[name][precision] = float(f"{relative_error(logits, reference):.4g}")
        print(name, errors[name], flush=True)
    return {"schema": "swinscope.torch_errors/1", "gpu": torch.cuda.get_device_name(), "torch": torch.__version__,
            "timm": timm.__version__, "errors": errors}, True


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(dest="command", required=True)
    speed = commands.add_parser("speed")
    errors = commands.add_parser("errors")
    fixtures = commands.add_parser("fixtures")
    worker = commands.add_parser("worker")  # what `speed` starts
    for command in (speed, errors):
        command.add_argument("--swin", required=True)
        command.add_argument("--swin-options", default="", help="further options of `swin infer`")
        command.add_argument("--json", help="file for the figures")
    speed.add_argument("--cases", default="swin_base:1,swin_base:32,swin_base:128", help="MODEL:BATCH,…")
    speed.add_argument("--precision", default="fp16", choices=DTYPES)
    speed.add_argument("--own-precision", default="", help="of `swin infer`, where it is another one: fp8, int8")
    speed.add_argument("--modes", default="eager,default,reduce-overhead,max-autotune")
    speed.add_argument("--layouts", default="nchw,channels_last")
    speed.add_argument("--jobs", type=int, default=max(1, (os.cpu_count() or 2) // 2), help="that compile at a time")
    speed.add_argument("--compile-limit", type=float, default=3600.0, help="seconds that one may compile")
    speed.add_argument("--compile-only", action="store_true", help="time nothing")
    speed.add_argument("--rounds", type=int, default=1)
    speed.add_argument("--seconds", type=float, default=3600.0)
    speed.add_argument("--time-after", metavar="FILE")
    speed.add_argument("--min-ratio", type=float, default=0.0)
    errors.add_argument("--models", default=",".join(export_fixtures.MODELS))
    errors.add_argument("--batches", default="1,3,17")
    errors.add_argument("--precisions", default="fp32,fp16,bf16")
    errors.add_argument("--image", type=int, default=0, help="pixels (default: the models' own)")
    errors.add_argument("--window", type=int, default=0, help="tokens along a window's side (default: the models' own)")
    errors.add_argument("--jobs", type=int, default=4, help="of our runs at a time")
    folder = os.path.join(os.path.dirname(os.path.abspath(export_fixtures.__file__)), "fixtures")
    fixtures.add_argument("--fixtures", default=folder)
    fixtures.add_argument("--models", default=",".join(export_fixtures.MODELS))
    fixtures.add_argument("--precisions", default="fp32,tf32,fp16,bf16")
    fixtures.add_argument("--json", default=os.path.join(folder, "torch_errors.json"))
    worker.add_argument("--model", required=True)
    worker.add_argument("--batch", type=int, required=True)
    for option in ("mode", "layout", "precision"):
        worker.add_argument("--" + option, required=True)
    arguments = parser.parse_args()
    if not torch.cuda.is_available():
        sys.exit("error: no GPU answers\n  hint: this compares on a GPU")
    if arguments.command == "worker":
        return peer_worker(arguments)
    document, passed = {"speed": compare_speed, "errors": compare_errors, "fixtures": write_fixture_errors}[
        arguments.command](arguments)
    write_json(arguments, document)
    sys.exit(0 if passed else 1)


if __name__ == "__main__":
    main()
