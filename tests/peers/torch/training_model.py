"""What the parts of compare_training.py share: timm's models, a training step of PyTorch, ours as a program."""
import json
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "timm"))

MEAN, STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
SMOOTHING = 0.1
CLIP_NORM = 5.0
WEIGHT_DECAY = 0.05
NO_DECAY = ("relative_position_bias_table", "logit_scale", "cpb_mlp.0.weight", "cpb_mlp.2.weight")
NANO = {"img_size": 64, "embed_dim": 32, "depths": (2, 2), "num_heads": (2, 4), "window_size": 4, "num_classes": 10}


def make_model(name, classes=None, drop_path=0.0, image=None):
    import export_fixtures
    import timm
    from timm.models.swin_transformer import SwinTransformer
    from timm.models.swin_transformer_v2 import SwinTransformerV2
    overrides = {} if classes is None else {"num_classes": classes}
    if image is not None:
        overrides["img_size"] = image
    if name == "swin_nano":
        return SwinTransformer(drop_path_rate=drop_path, **{**NANO, **overrides})
    if name == "swinv2_nano":
        return SwinTransformerV2(drop_path_rate=drop_path, **{**NANO, **overrides})
    timm_name, more = export_fixtures.MODELS[name]
    return timm.create_model(timm_name, pretrained=False, drop_path_rate=drop_path, **{**more, **overrides})


def random_crops(size, least_area):
    from torchvision import transforms
    return transforms.Compose([
        transforms.RandomResizedCrop(size, scale=(least_area, 1.0), interpolation=transforms.InterpolationMode.BICUBIC),
        transforms.RandomHorizontalFlip(), transforms.ToTensor(), transforms.Normalize(MEAN, STD)])


def image_size(model):
    return model.patch_embed.img_size[0]


def set_precision(precision):
    """Sets TF32 and returns the type for autocast, None for none."""
    import torch
    torch.backends.cuda.matmul.allow_tf32 = precision != "fp32"
    torch.backends.cudnn.allow_tf32 = precision != "fp32"
    torch.backends.cudnn.benchmark = True
    return {"fp16": torch.float16, "bf16": torch.bfloat16}.get(precision)


def make_optimizer(model, learning_rate):
    """Weight decay for matrices only, as ours."""
    import torch
    decays, rest = [], []
    for name, parameter in model.named_parameters():
        (decays if parameter.ndim > 1 and not name.endswith(NO_DECAY) else rest).append(parameter)
    groups = [{"params": decays, "weight_decay": WEIGHT_DECAY}, {"params": rest, "weight_decay": 0.0}]
    return torch.optim.AdamW(groups, lr=learning_rate, fused=True)


class Stepper:
    """One training step of PyTorch."""

    def __init__(self, model, forward, precision, learning_rate):
        import torch
        self.torch = torch
        self.model, self.forward = model, forward
        self.dtype = set_precision(precision)
        self.optimizer = make_optimizer(model, learning_rate)
        self.scaler = torch.amp.GradScaler("cuda", enabled=self.dtype is torch.float16)
        self.loss = torch.nn.CrossEntropyLoss(label_smoothing=SMOOTHING)

    def judge(self, images, labels):
        return self.loss(self.forward(images), labels)

    def backward(self, images, labels):
        self.optimizer.zero_grad(set_to_none=True)
        with self.torch.autocast("cuda", dtype=self.dtype, enabled=self.dtype is not None):
            loss = self.judge(images, labels)
        self.scaler.scale(loss).backward()
        self.scaler.unscale_(self.optimizer)
        return loss

    def step(self, images, labels):
        loss = self.backward(images, labels)
        self.torch.nn.utils.clip_grad_norm_(self.model.parameters(), CLIP_NORM)
        self.scaler.step(self.optimizer)
        self.scaler.update()
        return loss.detach()


def load_weights(model, file):
    from safetensors.torch import load_file
    tensors = {name: value for name, value in load_file(file).items() if not name.startswith("optimizer.")}
    missing, unexpected = model.load_state_dict(tensors, strict=False)
    parameters = {name for name, _ in model.named_parameters()}
    if unexpected or parameters & set(missing):
        sys.exit(f"error: {file}: not timm's names: {unexpected} {sorted(parameters & set(missing))}")


def run_swin(arguments, options, timeout=None):
    command = [arguments.swin, "train", "--json", "-q", *options, *arguments.swin_options.split()]
    try:
        finished = subprocess.run(command, capture_output=True, text=True, check=False, timeout=timeout)
    except subprocess.TimeoutExpired:
        return None, f"{' '.join(command)}: not ended after {timeout} s"
    if finished.returncode != 0:
        return None, f"{' '.join(command)} ended with {finished.returncode}\n{finished.stderr}"
    return json.loads(finished.stdout), None


def keep(arguments, document):
    if not arguments.json:
        return
    with open(arguments.json + ".new", "w", encoding="utf-8") as file:
        json.dump(document, file, indent=1)
    os.replace(arguments.json + ".new", arguments.json)
