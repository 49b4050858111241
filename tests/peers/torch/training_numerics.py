"""compare_training.py curve and gradients: what ours and PyTorch's training compute from the same weights and images."""
import json
import math
import os
import sys
import tempfile

from training_model import SMOOTHING, Stepper, image_size, keep, load_weights, make_model, run_swin

PEER_FACTOR = 1.2
GRADIENT_FLOORS = {"fp32": 1e-4, "tf32": 3e-3, "fp16": 3e-3, "bf16": 2e-2}
MASK = (1 << 64) - 1


def mix(z):
    z &= MASK
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
    return z ^ (z >> 31)


def stream_bits(name, seed, count):
    """workloads/hash_stream.h."""
    import numpy as np
    key = 0xCBF29CE484222325
    for byte in name.encode():
        key = ((key ^ byte) * 0x100000001B3) & MASK
    z = np.arange(1, count + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15) + np.uint64(key ^ mix(seed))
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


def stream_units(name, seed, count):
    import numpy as np
    return (stream_bits(name, seed, count) >> np.uint64(40)).astype(np.float64) * 2.0**-24


def synthetic_set(size, classes, pixels, seed):
    """workloads/synthetic_data.h: images [size, 3, pixels, pixels] in float32, labels [size]."""
    import numpy as np
    draws = stream_units("synthetic.classes", seed, 5 * classes).reshape(classes, 5)
    angle, cycles = 2.0 * math.pi * draws[:, 0], 2.0 + 6.0 * draws[:, 1]
    horizontal, vertical = cycles * np.cos(angle), cycles * np.sin(angle)
    colours = np.where(draws[:, 2:] < 0.5, -1.0, 1.0)
    labels = (stream_bits("synthetic.label", seed, size) % np.uint64(classes)).astype(np.int64)
    images = np.empty((size, 3, pixels, pixels), np.float32)
    step, places = 2.0 * math.pi / pixels, np.arange(pixels)
    for number, label in enumerate(labels):
        units = stream_units(f"synthetic.image.{number}", seed, 1 + 3 * pixels * pixels)
        rows = step * vertical[label] * places + 2.0 * math.pi * units[0]
        columns = step * horizontal[label] * places
        grating = np.cos(rows)[:, None] * np.cos(columns) - np.sin(rows)[:, None] * np.sin(columns)
        noise = 1.7320508075688772 * (units[1:].reshape(3, pixels, pixels) - 0.5)
        images[number] = 1.2247448713915890 * colours[label][:, None, None] * grating + noise
    return images, labels


def scheduled(peak, step, warmup, total):
    """workloads/optimizer.h."""
    if step < warmup:
        return peak * (step + 1) / warmup
    return peak * 0.5 * (1.0 + math.cos(math.pi * (step - warmup) / (total - warmup)))


def torch_curve(arguments, name, weights, images, labels):
    import torch
    model = make_model(name).cuda().train()
    load_weights(model, weights)
    stepper = Stepper(model, model, arguments.precision, arguments.lr)
    pictures, answers = torch.from_numpy(images).cuda(), torch.from_numpy(labels).cuda()
    losses = []
    for step in range(arguments.steps):
        for group in stepper.optimizer.param_groups:
            group["lr"] = scheduled(arguments.lr, step, arguments.lr_warmup, arguments.steps)
        at = (torch.arange(arguments.batch, device="cuda") + step * arguments.batch) % len(answers)
        losses.append(stepper.step(pictures[at], answers[at]))
    return [loss.item() for loss in losses]


def curve(arguments):
    document = {"schema": "swinscope.peers.curve/1", "data": []}
    passed = True
    for name in arguments.models.split(","):
        with tempfile.TemporaryDirectory() as folder:
            weights = os.path.join(folder, "start", "checkpoint.safetensors")
            same = ["--model", name, "--warmup", "0", "--drop-path", "0", "--seed", str(arguments.seed), "--dataset-size",
                    str(arguments.images)]
            # At a learning rate of 0 the checkpoint is what a training begins with.
            _, error = run_swin(arguments, [*same, "--device", "cpu", "--batch", "1", "--steps", "1", "--lr", "0",
                                            "--checkpoint", os.path.dirname(weights)])
            if error:
                sys.exit("error: " + error)
            log = os.path.join(folder, "log")
            _, error = run_swin(arguments, [*same, "--device", "cuda", "--weights", weights, "--batch", str(arguments.batch),
                                            "--steps", str(arguments.steps), "--precision", arguments.precision, "--lr",
                                            str(arguments.lr), "--lr-warmup", str(arguments.lr_warmup), "--log", log])
            if error:
                sys.exit("error: " + error)
            with open(log, encoding="utf-8") as lines:
                own = [line["loss"] for line in map(json.loads, lines) if line["type"] == "step"]
            pixels = image_size(make_model(name))
            images, labels = synthetic_set(arguments.images, 1000 if "nano" not in name else 10, pixels, arguments.seed)
            peer = torch_curve(arguments, name, weights, images, labels)
        means = [(sum(own[i:i + 20]) / 20, sum(peer[i:i + 20]) / 20) for i in range(0, arguments.steps - 19, 20)]
        worst = max(abs(a - b) / b for a, b in means)
        passed = passed and worst <= 0.005
        document["data"].append({"model": name, "precision": arguments.precision, "ours": own, "torch": peer, "means_of_20": means,
                                 "worst": worst})
        print(f"{name:<14} {arguments.precision}  means of 20 steps differ by {100 * worst:.3f} % at most", flush=True)
        keep(arguments, document)
    return passed


def gradients(arguments):
    import export_fixtures
    import numpy as np
    import torch
    from safetensors.numpy import save_file
    from safetensors.torch import load_file
    document, passed = {"schema": "swinscope.peers.gradients/1", "data": []}, True
    print(f"{'model':<14}{'':>6}{'ours':>12}{'torch':>12}{'allowed':>12}")
    for name in arguments.models.split(","):
        model = make_model(name)
        redrawn = {key: export_fixtures.redraw(key, tuple(value.shape)) for key, value in model.named_parameters()}
        if not arguments.full_scale:  # as the reference's initialization: large scales of cosines make roundings large
            redrawn = {key: np.full_like(value, 2.3025851) if key.endswith("logit_scale") else value
                       for key, value in redrawn.items()}
        images, labels = synthetic_set(arguments.images, model.num_classes, image_size(model), arguments.seed)
        with tempfile.TemporaryDirectory() as folder:
            weights = os.path.join(folder, "weights.safetensors")
            save_file(redrawn, weights)
            reference = None
            for precision in arguments.precisions.split(","):
                file = os.path.join(folder, precision + ".safetensors")
                _, error = run_swin(arguments, ["--device", "cuda", "--model", name, "--weights", weights, "--batch",
                                                str(arguments.batch), "--steps", "1", "--warmup", "0", "--drop-path", "0", "--lr",
                                                "0", "--seed", str(arguments.seed), "--dataset-size", str(arguments.images),
                                                "--precision", precision, "--gradients", file])
                if error:
                    sys.exit("error: " + error)
                own = {key: value.double().cuda() for key, value in load_file(file).items()}
                pictures = torch.from_numpy(images[:arguments.batch]).cuda()
                answers = torch.from_numpy(labels[:arguments.batch]).cuda()
                if reference is None:
                    reference = peer_gradients(name, weights, "fp64", pictures, answers)
                    if arguments.out:
                        save_file({key: value.float().cpu().numpy() for key, value in reference.items()},
                                  os.path.join(arguments.out, f"{name}_gradients.safetensors"))
                peer = peer_gradients(name, weights, precision, pictures, answers)
                errors = [relative(found, reference) for found in (own, peer)]
                allowed = max(PEER_FACTOR * errors[1], GRADIENT_FLOORS[precision])
                worst = max(((relative({key: own[key]}, {key: value}), key) for key, value in reference.items()
                             if value.norm() > 1e-4 * max(v.norm() for v in reference.values())))
                good = errors[0] <= allowed
                passed = passed and good
                document["data"].append({"model": name, "precision": precision, "ours": errors[0], "torch": errors[1],
                                         "allowed": allowed, "worst_tensor": worst[1], "worst": worst[0], "passed": good})
                print(f"{name:<14}{precision:>6}{errors[0]:>12.2e}{errors[1]:>12.2e}{allowed:>12.2e}   worst {worst[1]} "
                      f"{worst[0]:.1e}{'' if good else '  FAILED'}", flush=True)
                keep(arguments, document)
    return passed


def peer_gradients(name, weights, precision, images, labels):
    import torch
    model = make_model(name).cuda().train()
    load_weights(model, weights)
    if precision == "fp64":
        model, images = model.double(), images.double()
        torch.nn.functional.cross_entropy(model(images), labels, label_smoothing=SMOOTHING).backward()
    else:
        Stepper(model, model, precision, 0.0).backward(images, labels)
    return {key: value.grad.double() for key, value in model.named_parameters()}


def relative(found, reference):
    import torch
    difference = sum(torch.sum((found[key].reshape(value.shape) - value)**2) for key, value in reference.items())
    return math.sqrt(difference.item() / sum(torch.sum(value**2) for value in reference.values()).item())
