"""compare_training.py accuracy: how long ours and PyTorch's training from the same JPEG files take to a held-out accuracy."""
import json
import os
import signal
import subprocess
import tempfile
import time

from compiling_peer import need_quiet_gpu
from training_model import MEAN, STD, Stepper, keep, make_model, random_crops
from training_numerics import scheduled


def ours(arguments):
    """Seconds from the first step, which includes its preparation, to the end of the epoch that reached the accuracy."""
    with tempfile.TemporaryDirectory() as folder:
        log, said = os.path.join(folder, "log"), open(os.path.join(folder, "said"), "w+", encoding="utf-8")
        command = [arguments.swin, "train", "--device", "cuda", "--model", arguments.model, "--data", arguments.data, "--log", log,
                   "--batch", str(arguments.batch), "--epochs", str(arguments.epochs), "--precision", arguments.precision,
                   "--lr", str(arguments.lr), "--lr-warmup", str(arguments.lr_warmup), "--drop-path", str(arguments.drop_path),
                   "--crop-area", str(arguments.crop_area), "--loader-threads", str(arguments.loader_workers), "--warmup", "0",
                   "-q", *arguments.swin_options.split()]
        began = time.monotonic()
        process = subprocess.Popen(command, stdout=said, stderr=said)
        epochs = []
        while process.poll() is None and not (epochs and epochs[-1]["accuracy"] >= arguments.target):
            time.sleep(0.05)
            if not os.path.exists(log):
                continue
            with open(log, encoding="utf-8") as lines:
                whole = [json.loads(line) for line in lines if line.startswith('{"type":"epoch"') and line.endswith("\n")]
            for line in whole[len(epochs):]:
                epochs.append({"seconds": line["elapsed_ns"] * 1e-9, "accuracy": line["validation_accuracy"],
                               "program_seconds": time.monotonic() - began})
                print(f"ours  epoch {len(epochs):>3} {epochs[-1]['seconds']:7.1f} s  {100 * line['validation_accuracy']:5.1f} %",
                      flush=True)
        if process.poll() is None:
            process.send_signal(signal.SIGINT)
        process.wait()
        said.seek(0)
        return {"epochs": epochs, "said": said.read()[-2000:]}


def loaders(arguments, size):
    import torch
    from torchvision import datasets, transforms
    whole = transforms.Compose([transforms.Resize(int(size / 0.9), transforms.InterpolationMode.BICUBIC), transforms.CenterCrop(size),
                                transforms.ToTensor(), transforms.Normalize(MEAN, STD)])
    parts = []
    for part, transform in (("train", random_crops(size, arguments.crop_area)), ("val", whole)):
        training = part == "train"
        parts.append(torch.utils.data.DataLoader(
            datasets.ImageFolder(os.path.join(arguments.data, part), transform), arguments.batch, shuffle=training,
            num_workers=arguments.loader_workers, pin_memory=True, drop_last=training, persistent_workers=True, prefetch_factor=4))
    return parts


def torch_side(arguments):
    import torch
    torch.manual_seed(0)
    size = 256 if "v2" in arguments.model else 224
    training, held_out = loaders(arguments, size)
    model = make_model(arguments.model, len(training.dataset.classes), arguments.drop_path).cuda()
    stepper = Stepper(model, torch.compile(model), arguments.precision, arguments.lr)
    total = arguments.epochs * len(training)
    epochs, step, compiled = [], 0, 0.0
    began = time.monotonic()
    for number in range(arguments.epochs):
        model.train()
        for images, labels in training:
            for group in stepper.optimizer.param_groups:
                group["lr"] = scheduled(arguments.lr, step, arguments.lr_warmup, total)
            stepper.step(images.cuda(non_blocking=True), labels.cuda(non_blocking=True))
            step += 1
            if step == 2:
                torch.cuda.synchronize()
                compiled = time.monotonic() - began
        model.eval()
        right = torch.zeros((), dtype=torch.int64, device="cuda")
        with torch.no_grad(), torch.autocast("cuda", dtype=stepper.dtype, enabled=stepper.dtype is not None):
            for images, labels in held_out:
                right += (model(images.cuda(non_blocking=True)).argmax(1) == labels.cuda(non_blocking=True)).sum()
        accuracy = right.item() / len(held_out.dataset)
        epochs.append({"seconds": time.monotonic() - began - compiled, "accuracy": accuracy})
        print(f"torch epoch {number + 1:>3} {epochs[-1]['seconds']:7.1f} s  {100 * accuracy:5.1f} %", flush=True)
        if accuracy >= arguments.target or time.monotonic() - began > arguments.seconds:
            break
    return {"epochs": epochs, "compile_seconds": compiled}


def reached(epochs, target):
    return next((epoch["seconds"] for epoch in epochs if epoch["accuracy"] >= target), None)


def accuracy(arguments):
    need_quiet_gpu()
    document = {"schema": "swinscope.peers.accuracy/1", "model": arguments.model, "batch": arguments.batch, "target":
                arguments.target, "epochs": arguments.epochs, "loader_workers": arguments.loader_workers, "ours": ours(arguments)}
    keep(arguments, document)
    mine = reached(document["ours"]["epochs"], arguments.target)
    if mine is None:
        print(document["ours"]["said"])
    document["torch"] = torch_side(arguments)
    keep(arguments, document)
    peer = reached(document["torch"]["epochs"], arguments.target)
    for name, seconds in (("ours", mine), ("torch", peer)):
        best = max((epoch["accuracy"] for epoch in document[name]["epochs"]), default=0.0)
        print(f"{name:<6} {f'{seconds:.1f} s' if seconds else 'not reached'} to {100 * arguments.target:.0f} % (best {100 * best:.1f} %)")
    print(f"torch's time leaves out {document['torch']['compile_seconds']:.0f} s until its second step (compilation)")
    return mine is not None and (peer is None or mine <= peer)
