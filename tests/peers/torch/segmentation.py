#!/usr/bin/env python3
"""Gradients of our segmentation training (UPerNet's head on Swin's stages) beside PyTorch's.

usage: python3 tests/peers/torch/segmentation.py --swin build/gpu/bin/swin [--models swin_nano,swinv2_nano,swinv2_base] [--image 512]
           [--batch 4] [--batches 1] [--device cpu|cuda] [--precisions fp32,fp16] [--swin-options=--tap-fusion] [--json FILE]

Needs torch, timm, numpy and safetensors (made for torch 2.11 and timm 1.0.29; torch 1.13 does, too), and a GPU for --device cuda.
PyTorch computes on a GPU where there is one.

Both sides take the same redrawn weights and the same batch: `swin train --gradients` writes the batch's images and labels beside the
gradients. The reference is PyTorch in float64; ours may err 1.2 times as much as PyTorch in the same precision, which is also the
bound on the loss. Gradients are compared as one vector; the worst tensor is named. How a rounding falls differs from batch to batch, so
with --batches N errors are root mean squares over the batches of N seeds. Batches are normalized over what they hold, so the
first level of the pyramid, a mean over each image, wants a batch of more than two images to be well conditioned.
"""
import argparse
import math
import os
import sys
import tempfile

from training_model import NANO, keep, make_model, run_swin, set_precision
from training_numerics import GRADIENT_FLOORS, PEER_FACTOR, relative

LOSS_FLOORS = {"fp32": 1e-5, "tf32": 1e-3, "fp16": 1e-3, "bf16": 1e-2}
AUXILIARY_WEIGHT = 0.4
IGNORED = 255
CLASSES = 150
PYRAMID = (1, 2, 3, 6)
LN_10 = 2.3025851


def make_segmenter(name, image):
    """A module whose parameters have the names of ours: timm's stages, a normalization of each one's output, UPerNet's head."""
    from torch import cat, nn
    from torch.nn.functional import interpolate

    def conv_norm(inputs, outputs, kernel):
        return nn.Sequential(nn.Conv2d(inputs, outputs, kernel, padding=kernel // 2, bias=False), nn.BatchNorm2d(outputs),
                             nn.ReLU(inplace=True))

    def resized(x, size):
        return interpolate(x, size=size, mode="bilinear", align_corners=False)

    class Head(nn.Module):
        def __init__(self, widths, channels):
            super().__init__()
            self.ppm = nn.ModuleList(nn.Sequential(nn.AdaptiveAvgPool2d(side), conv_norm(widths[-1], channels, 1))
                                     for side in PYRAMID)
            self.bott = conv_norm(widths[-1] + len(PYRAMID) * channels, channels, 3)
            self.lat = nn.ModuleList(conv_norm(width, channels, 1) for width in widths[:-1])
            self.fpn = nn.ModuleList(conv_norm(channels, channels, 3) for _ in widths[:-1])
            self.fuse = conv_norm(len(widths) * channels, channels, 3)
            self.cls = nn.Conv2d(channels, CLASSES, 1)
            self.aux = nn.Sequential(conv_norm(widths[-2], channels // 2, 3), nn.Conv2d(channels // 2, CLASSES, 1))

        def forward(self, features):
            last = features[-1]
            pyramid = [resized(level(last), last.shape[2:]) for level in self.ppm]
            maps = [self.bott(cat([last, *pyramid], 1))]
            for lateral, feature in zip(reversed(self.lat), reversed(features[:-1])):
                maps.insert(0, lateral(feature) + resized(maps[0], feature.shape[2:]))
            outputs = [output(x) for output, x in zip(self.fpn, maps)] + maps[-1:]
            size = outputs[0].shape[2:]
            fused = self.fuse(cat(outputs[:1] + [resized(x, size) for x in outputs[1:]], 1))
            return self.cls(fused), self.aux(features[-2])

    class Segmenter(nn.Module):
        def __init__(self, backbone):
            super().__init__()
            self.patch_embed, self.layers = backbone.patch_embed, backbone.layers
            widths = [backbone.embed_dim * 2**stage for stage in range(len(backbone.layers))]
            for stage, width in enumerate(widths):
                setattr(self, f"norm{stage}", nn.LayerNorm(width))
            self.h = Head(widths, 64 if "nano" in name else 512)

        def forward(self, images):
            x, features = self.patch_embed(images), []
            for stage, layer in enumerate(self.layers):
                x = layer(x)  # [batch, height, width, channels]
                features.append(getattr(self, f"norm{stage}")(x).permute(0, 3, 1, 2))
            return self.h(features)

    return Segmenter(make_model(name, image=image))


def loss_of(logits, labels):
    from torch.nn.functional import cross_entropy, interpolate
    main, auxiliary = (cross_entropy(interpolate(x, size=labels.shape[1:], mode="bilinear", align_corners=False), labels,
                                     ignore_index=IGNORED) for x in logits)
    return main + AUXILIARY_WEIGHT * auxiliary


def of_head(name):
    """Convolutions of the head lie in memory as [outputs, height, width, inputs] in our files; 1x1 classifiers have no extents."""
    return name.startswith("h.")


def to_ours(name, tensor):
    if not of_head(name) or tensor.ndim != 4:
        return tensor
    if name in ("h.cls.weight", "h.aux.1.weight"):
        return tensor.reshape(tensor.shape[:2])
    return tensor.permute(0, 2, 3, 1)


def to_torch(name, tensor, shape):
    if of_head(name) and tensor.ndim == 4:
        tensor = tensor.permute(0, 3, 1, 2)
    return tensor.reshape(shape)


def redrawn_weights(model, full_scale):
    """In our layout; the numbers of elements are in the order of ours."""
    import export_fixtures
    import numpy as np
    weights = {}
    for name, parameter in model.named_parameters():
        values = export_fixtures.redraw(name, tuple(to_ours(name, parameter).shape))
        weights[name] = np.full_like(values, LN_10) if name.endswith("logit_scale") and not full_scale else values
    for name, buffer in model.named_buffers():
        if name.endswith(("running_mean", "running_var")):
            weights[name] = np.full(tuple(buffer.shape), float(name.endswith("running_var")), np.float32)
    return weights


def peer_gradients(model, weights, precision, images, labels, device):
    """The loss and the gradients in our layout."""
    import torch
    shapes = {name: parameter.shape for name, parameter in model.named_parameters()}
    state = {name: to_torch(name, torch.from_numpy(values), shapes.get(name, values.shape)) for name, values in weights.items()}
    model.load_state_dict(state, strict=False)
    dtype = set_precision(precision)
    kind = torch.float64 if precision == "fp64" else torch.float32
    model = model.to(device=device, dtype=kind).train()
    model.zero_grad(set_to_none=True)
    with torch.autocast(device.split(":")[0], dtype=dtype, enabled=dtype is not None):
        loss = loss_of(model(images.to(device, kind)), labels.to(device))
    scale = 1024.0 if dtype is torch.float16 else 1.0
    (scale * loss).backward()
    return loss.item(), {name: to_ours(name, parameter.grad).double() / scale for name, parameter in model.named_parameters()}


def ours(arguments, name, precision, weights, folder, seed):
    """The loss, the gradients, and the batch that they are of."""
    import torch
    from safetensors.torch import load_file
    file = os.path.join(folder, precision + ".safetensors")
    document, error = run_swin(arguments, ["--task", "segmentation", "--device", arguments.device, "--model", name, "--image",
                                           str(arguments.image or image_size(name)), "--weights", weights, "--batch",
                                           str(arguments.batch), "--steps", "1", "--warmup", "0", "--drop-path", "0", "--lr", "0",
                                           "--seed", str(seed), "--precision", precision, "--gradients", file])
    if error:
        sys.exit("error: " + error)
    tensors = load_file(file)
    images, labels = tensors.pop("batch.images"), tensors.pop("batch.labels").to(torch.int64)
    return document["data"][0]["loss_first"], {key: value.double() for key, value in tensors.items()}, images, labels


def image_size(name):
    return NANO["img_size"] if "nano" in name else 256 if "v2" in name else 224


def batch_errors(arguments, name, model, weights, device, seed):
    """Of one batch, for each precision: the relative errors of the gradients and of the loss, ours and PyTorch's, and our worst tensor."""
    from safetensors.numpy import save_file
    found, reference = {}, None
    with tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, "weights.safetensors")
        save_file(weights, file)
        for precision in arguments.precisions.split(","):
            own_loss, own, images, labels = ours(arguments, name, precision, file, folder, seed)
            if reference is None:
                reference_loss, reference = peer_gradients(model, weights, "fp64", images, labels, device)
                if set(own) != set(reference):
                    sys.exit(f"error: {name}: other parameters: {sorted(set(own) ^ set(reference))}")
            peer_loss, peer = peer_gradients(model, weights, precision, images, labels, device)
            own = {key: value.to(device) for key, value in own.items()}
            largest = max(value.norm() for value in reference.values())
            worst, tensor = max((relative({key: own[key]}, {key: value}), key) for key, value in reference.items()
                                if value.norm() > 1e-4 * largest)
            losses = [abs(loss - reference_loss) / reference_loss for loss in (own_loss, peer_loss)]
            found[precision] = {"ours": relative(own, reference), "torch": relative(peer, reference), "loss_error": losses[0],
                                "loss_error_torch": losses[1], "worst": worst, "worst_tensor": tensor}
    return found


def pooled(errors):
    """Root mean squares over the batches; the worst tensor is the one of all."""
    row = {key: math.sqrt(sum(error[key] ** 2 for error in errors) / len(errors)) for key in ("ours", "torch", "loss_error", "loss_error_torch")}
    worst = max(errors, key=lambda error: error["worst"])
    return {**row, "worst": worst["worst"], "worst_tensor": worst["worst_tensor"], "batches": errors}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--swin", required=True)
    parser.add_argument("--swin-options", default="", help="further options of `swin train`")
    parser.add_argument("--models", default="swin_nano,swinv2_nano,swinv2_base")
    parser.add_argument("--image", type=int, default=0, help="pixels (default: the model's)")
    parser.add_argument("--batch", type=int, default=4)
    parser.add_argument("--batches", type=int, default=1, help="of seeds that follow each other")
    parser.add_argument("--device", default="cpu", choices=("cpu", "cuda"), help="ours")
    parser.add_argument("--precisions", default="fp32")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--full-scale", action="store_true", help="V2: scales of cosines up to 100")
    parser.add_argument("--json", help="file for the figures")
    arguments = parser.parse_args()
    import torch
    device = "cuda" if torch.cuda.is_available() else "cpu"
    document, passed = {"schema": "swinscope.peers.segmentation/2", "torch": torch.__version__, "data": []}, True
    print(f"{'model':<14}{'':>6}{'ours':>12}{'torch':>12}{'allowed':>12}{'loss':>12}")
    for name in arguments.models.split(","):
        image = arguments.image or image_size(name)
        model = make_segmenter(name, image)
        weights = redrawn_weights(model, arguments.full_scale)
        batches = [batch_errors(arguments, name, model, weights, device, arguments.seed + i) for i in range(arguments.batches)]
        for precision in arguments.precisions.split(","):
            row = pooled([batch[precision] for batch in batches])
            allowed = max(PEER_FACTOR * row["torch"], GRADIENT_FLOORS[precision])
            good = (row["ours"] <= allowed and
                    row["loss_error"] <= max(PEER_FACTOR * row["loss_error_torch"], LOSS_FLOORS[precision]))
            passed = passed and good
            document["data"].append({"model": name, "image_size": image, "precision": precision, "allowed": allowed, "passed": good, **row})
            print(f"{name:<14}{precision:>6}{row['ours']:>12.2e}{row['torch']:>12.2e}{allowed:>12.2e}{row['loss_error']:>12.2e}   "
                  f"worst {row['worst_tensor']} {row['worst']:.1e}{'' if good else '  FAILED'}", flush=True)
            keep(arguments, document)
    sys.exit(0 if passed else 1)


if __name__ == "__main__":
    main()
