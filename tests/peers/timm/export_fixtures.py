#!/usr/bin/env python3
"""Exports what timm's Swin models compute, for tests/unit/workloads/timm_fixtures_test.cpp.

usage: python3 tests/peers/timm/export_fixtures.py [--out DIR] [--device cuda|cpu] [--models NAME,NAME]

Needs torch, timm and numpy (made with torch 2.11 and timm 1.0.29); writes one <model>.safetensors a model, about 40 KB each.

The weights are not stored. Every parameter is redrawn from its name by a counter-based generator that
workloads/redraw.cpp repeats bit for bit: timm's own initialization sets SwinV2's post-norms to zero, which turns every
block into the identity and would hide almost any error. The rule, with u in [0, 1) carrying 24 random bits:

  key     = FNV-1a-64(tensor name) XOR mix(seed)
  u(i)    = (mix(key + (i + 1) * 0x9E3779B97F4A7C15) >> 40) * 2^-24       mix: the finalizer of splitmix64
  value   = float32(scale * (u + shift))                                  u + shift is exact, one product in float64

  tensor                             shift   scale            distribution
  norm weights                       0.5     1                U(0.5, 1.5)
  biases (q_bias and v_bias too)    -0.5     sqrt(0.48)       uniform, std 0.2
  relative_position_bias_table      -0.5     sqrt(12)         uniform, std 1
  cpb_mlp.0.weight                  -0.5     sqrt(12)         uniform, std 1
  logit_scale                        0       ln 200           one head in eight lies above the clamp at ln 100
  other weights                     -0.5     sqrt(12/fan_in)  uniform, std 1/sqrt(fan_in)
  input.image                       -0.5     sqrt(12)         uniform, std 1

cpb_mlp.2.weight is one of the other weights: so the bias table that it makes has a standard deviation of order 1. With
weights of standard deviation 1 the 512 hidden channels would saturate 16 * sigmoid and hide errors before it.

Contents of a file (float32, computed in float64):
  logits         [2, classes]   eval mode, two images
  loss           [1]            cross-entropy with label smoothing, mean over the images
  stages         [6, 2]         mean and L2 norm of the outputs of patch_embed, layers.0 .. layers.3, norm
  grad_summary   [tensors, 2]   for all parameters by name (bytewise order): the L2 norm of the loss's gradient and its inner
                                product with signs s(i) = 1 - 2 * (u_sign(i) >= 0.5), generator name "<tensor>#sign"
  grad:<name>    the whole gradient of a small tensor, or 64 of its elements at mix(...) mod size, generator name
                 "<tensor>#sample"
The metadata holds model, versions, seed, labels, label_smoothing and checksums: for each group of tensors (the name's first
component, and the second below "layers") the sum over its tensors and elements of (bits + 1) * (2 i + 1), mod 2^64.
"""
import argparse
import json
import math
import os
import sys
import time

import numpy as np
import timm
import torch
from safetensors.numpy import save_file

SEED = 20240229
LABELS = (3, 997)
LABEL_SMOOTHING = 0.1
SAMPLES = 64
WHOLE_LIMIT = 128  # a gradient of at most this many elements is stored whole
LN_100 = 4.605170185988092
LN_200 = 5.298317366548036

# timm has no 256-pixel window-8 large V2, so it is the base one widened.
MODELS = {
    "swin_tiny": ("swin_tiny_patch4_window7_224", {}),
    "swin_small": ("swin_small_patch4_window7_224", {}),
    "swin_base": ("swin_base_patch4_window7_224", {}),
    "swin_large": ("swin_large_patch4_window7_224", {}),
    "swinv2_tiny": ("swinv2_tiny_window8_256", {}),
    "swinv2_small": ("swinv2_small_window8_256", {}),
    "swinv2_base": ("swinv2_base_window8_256", {}),
    "swinv2_large": ("swinv2_base_window8_256", {"embed_dim": 192, "num_heads": (6, 12, 24, 48)}),
}

MASK = (1 << 64) - 1
GOLDEN = 0x9E3779B97F4A7C15


def mix(z):
    """The finalizer of splitmix64 on a Python integer."""
    z &= MASK
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
    return z ^ (z >> 31)


def fnv1a(name):
    h = 0xCBF29CE484222325
    for byte in name.encode():
        h = ((h ^ byte) * 0x100000001B3) & MASK
    return h


def hashes(name, count):
    """mix(key + (i + 1) * GOLDEN) for i in [0, count), as uint64."""
    key = fnv1a(name) ^ mix(SEED)
    z = np.arange(1, count + 1, dtype=np.uint64)
    z *= np.uint64(GOLDEN)
    z += np.uint64(key)
    z ^= z >> np.uint64(30)
    z *= np.uint64(0xBF58476D1CE4E5B9)
    z ^= z >> np.uint64(27)
    z *= np.uint64(0x94D049BB133111EB)
    z ^= z >> np.uint64(31)
    return z


def unit(name, count):
    """Uniform in [0, 1) with 24 bits, exact in float64 (and in float32)."""
    return (hashes(name, count) >> np.uint64(40)).astype(np.float64) * 2.0**-24


def rule(name, shape, most_logit_scale=LN_200):
    """(shift, scale) of a tensor, by the table in the module's description."""
    parts = name.split(".")
    if name == "input.image" or parts[-1] == "relative_position_bias_table" or name.endswith("cpb_mlp.0.weight"):
        return -0.5, math.sqrt(12.0)
    if parts[-1] == "logit_scale":
        return 0.0, most_logit_scale
    if parts[-1].endswith("bias"):
        return -0.5, math.sqrt(0.48)
    if len(parts) >= 2 and parts[-2].startswith("norm") and parts[-1] == "weight":
        return 0.5, 1.0
    return -0.5, math.sqrt(12.0 / math.prod(shape[1:]))


def redraw(name, shape, most_logit_scale=LN_200):
    shift, scale = rule(name, shape, most_logit_scale)
    values = unit(name, math.prod(shape))
    values += shift
    values *= scale
    return values.astype(np.float32).reshape(shape)


def group_of(name):
    parts = name.split(".")
    return ".".join(parts[:2]) if parts[0] == "layers" else parts[0]


def checksum(values):
    bits = values.reshape(-1).view(np.uint32).astype(np.uint64)
    odd = np.arange(bits.size, dtype=np.uint64) * np.uint64(2) + np.uint64(1)
    return int(np.sum((bits + np.uint64(1)) * odd, dtype=np.uint64))


def load_redrawn(model, image_shape, most_logit_scale=LN_200):
    """Redraws every parameter in place. Returns the images and the checksums by group."""
    sums = {}
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            values = redraw(name, tuple(parameter.shape), most_logit_scale)
            group = group_of(name)
            sums[group] = (sums.get(group, 0) + checksum(values)) & MASK
            parameter.copy_(torch.from_numpy(values))
    images = redraw("input.image", image_shape)
    sums["input"] = checksum(images)
    return torch.from_numpy(images), sums


def watch_stages(model):
    """Hooks that keep (mean, L2 norm) of each stage's output, in order."""
    summary = []

    def keep(_module, _inputs, output):
        summary.append((output.mean().item(), torch.linalg.vector_norm(output).item()))

    watched = [model.patch_embed, *model.layers, model.norm]
    return summary, [module.register_forward_hook(keep) for module in watched]


def chosen(model_name, names):
    """The parameters whose gradient elements are stored: the ends, and one shifted and one plain block a stage."""
    depth3 = 6 if model_name.endswith("tiny") else 18
    blocks = ("layers.0.blocks.0.", "layers.0.blocks.1.", f"layers.2.blocks.{depth3 - 1}.", "layers.3.blocks.0.")
    ends = ("patch_embed.", "layers.1.downsample.", "layers.3.downsample.", "norm.", "head.")
    return [name for name in names if name.startswith(blocks + ends)]


def gradient_tensors(model_name, gradients):
    """grad_summary and the grad:<name> tensors of one model."""
    names = sorted(gradients, key=lambda name: name.encode())
    out = {}
    summary = np.zeros((len(names), 2))
    for row, name in enumerate(names):
        flat = gradients[name].reshape(-1)
        signs = np.where(hashes(name + "#sign", flat.size) >> np.uint64(63), -1.0, 1.0)
        summary[row] = np.linalg.norm(flat), float(np.dot(flat, signs))
    for name in chosen(model_name, names):
        flat = gradients[name].reshape(-1)
        if flat.size > WHOLE_LIMIT:
            flat = flat[(hashes(name + "#sample", SAMPLES) % np.uint64(flat.size)).astype(np.int64)]
        out["grad:" + name] = flat.astype(np.float32)
    out["grad_summary"] = summary.astype(np.float32)
    return out


def identity_effect(model, images, logits):
    """The smallest relative change of the logits when one block is replaced by the identity."""
    smallest = math.inf
    for layer in model.layers:
        for index in range(len(layer.blocks)):
            block = layer.blocks[index]
            layer.blocks[index] = torch.nn.Identity()
            with torch.no_grad():
                change = torch.linalg.vector_norm(model(images) - logits) / torch.linalg.vector_norm(logits)
            layer.blocks[index] = block
            smallest = min(smallest, change.item())
    return smallest


def export(model_name, out_dir, device):
    start = time.monotonic()
    timm_name, overrides = MODELS[model_name]
    model = timm.create_model(timm_name, pretrained=False, **overrides).eval()
    size = model.patch_embed.img_size[0]
    images, sums = load_redrawn(model, (len(LABELS), 3, size, size))
    model, images = model.to(device), images.to(device)
    with torch.no_grad():
        single = model(images).double()
    model, images = model.double(), images.double()

    stages, hooks = watch_stages(model)
    logits = model(images)
    for hook in hooks:
        hook.remove()
    labels = torch.tensor(LABELS, device=device)
    loss = torch.nn.functional.cross_entropy(logits, labels, label_smoothing=LABEL_SMOOTHING)
    loss.backward()
    gradients = {name: p.grad.cpu().numpy() for name, p in model.named_parameters()}

    tensors = gradient_tensors(model_name, gradients)
    tensors["logits"] = logits.detach().cpu().numpy().astype(np.float32)
    tensors["loss"] = np.array([loss.item()], dtype=np.float32)
    tensors["stages"] = np.array(stages, dtype=np.float32)
    metadata = {
        "model": model_name,
        "timm_model": timm_name,
        "versions": f"timm {timm.__version__}, torch {torch.__version__}",
        "seed": str(SEED),
        "labels": json.dumps(LABELS),
        "label_smoothing": str(LABEL_SMOOTHING),
        "checksums": json.dumps({group: str(value) for group, value in sorted(sums.items())}),
    }
    path = os.path.join(out_dir, model_name + ".safetensors")
    save_file(tensors, path, metadata=metadata)

    drift = torch.linalg.vector_norm(single - logits) / torch.linalg.vector_norm(logits)
    changed = identity_effect(model, images, logits)
    print(f"{model_name}: {os.path.getsize(path)} bytes, {time.monotonic() - start:.1f} s, "
          f"{sum(p.numel() for p in model.parameters())} parameters, loss {loss.item():.6f}, "
          f"logits rms {logits.square().mean().sqrt().item():.3f}, float32 against float64 {drift.item():.1e}, "
          f"least change by an identity block {changed:.1e}", flush=True)


def main():
    here = os.path.dirname(os.path.abspath(__file__))
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", default=os.path.join(here, "fixtures"))
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--models", default=",".join(MODELS), help="comma-separated (default: all eight)")
    arguments = parser.parse_args()
    unknown = [name for name in arguments.models.split(",") if name not in MODELS]
    if unknown:
        sys.exit(f"error: unknown model {', '.join(unknown)}\n  hint: one of {', '.join(MODELS)}")
    torch.backends.cuda.matmul.allow_tf32 = False
    torch.backends.cudnn.allow_tf32 = False
    os.makedirs(arguments.out, exist_ok=True)
    for model_name in arguments.models.split(","):
        export(model_name, arguments.out, torch.device(arguments.device))


if __name__ == "__main__":
    main()
