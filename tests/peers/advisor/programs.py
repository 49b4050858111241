#!/usr/bin/env python3
"""PyTorch programs and their variants, for predict_and_measure.py, which starts this one.

usage: python3 tests/peers/advisor/programs.py work --device cuda     jobs as lines of JSON from the standard input, an answer to each
       python3 tests/peers/advisor/programs.py steps CASE [--variant V] [--steps N]     only runs marked steps, for a recorder around it

A case is MODEL:MODE:BATCH, such as resnet50:train:64. `eager` is the slow way throughout: fp32 without TF32, AdamW operation by
operation, attention as product, softmax, product. A variant changes one of these, or all (`combined`). AdamW is capturable in
every variant, so that a CUDA graph holds the kernels that the eager step launches. Weights and images are random, made once on
the device; losses are looked at by nobody.
"""
import argparse
import contextlib
import dataclasses
import gc
import json
import os
import statistics
import sys
import time

MODELS = {"resnet50": "resnet50", "deit_small": "deit_small_patch16_224", "swin_tiny": "swin_tiny_patch4_window7_224",
          "resnet101": "resnet101", "vit_base": "vit_base_patch16_224", "swin_small": "swin_small_patch4_window7_224"}
WITHOUT_ATTENTION = ("resnet50", "resnet101")
CLASSES = 1000
WINDOWS = 10
LEAST_STEPS_OF_WINDOW = 3
LEAST_WINDOW_SECONDS = 0.04


class Skipped(Exception):
    """The variant does not exist here; says why."""


@dataclasses.dataclass(frozen=True)
class Case:
    model: str
    mode: str  # train or infer
    batch: int

    @staticmethod
    def of(name):
        model, mode, batch = name.split(":")
        if model not in MODELS or mode not in ("train", "infer"):
            raise ValueError(f"{name}: there are {', '.join(MODELS)}, train and infer")
        return Case(model, mode, int(batch))

    @property
    def is_training(self):
        return self.mode == "train"


@dataclasses.dataclass(frozen=True)
class Setting:
    """What of a program differs from `eager`."""
    precision: str = "fp32"
    graph: bool = False
    fused_optimizer: bool = False
    fused_attention: bool = False
    compiled: bool = False


def setting_of(variant, case):
    """Raises Skipped where the program has nothing that the variant changes."""
    has_attention = case.model not in WITHOUT_ATTENTION
    if variant == "sdpa" and not has_attention:
        raise Skipped("the model has no attention")
    if variant == "fused-adamw" and not case.is_training:
        raise Skipped("inference has no optimizer")
    if variant == "combined":
        return Setting("bf16" if case.is_training else "fp16", True, case.is_training, has_attention)
    settings = {"eager": Setting(), "graph": Setting(graph=True), "fused-adamw": Setting(fused_optimizer=True),
                "sdpa": Setting(fused_attention=True), "compile": Setting(compiled=True)}
    settings.update({precision: Setting(precision) for precision in ("tf32", "fp16", "bf16")})
    if variant not in settings:
        raise Skipped(f"there is no variant {variant}")
    return settings[variant]


class Program:
    """`step()` runs one, or hands it to the device."""

    def __init__(self, case, variant, device, pixels=224):
        import timm
        import torch
        from timm.layers import set_fused_attn
        self.torch, self.case, self.device = torch, case, torch.device(device)
        self.setting = setting_of(variant, case)
        if self.setting.graph and not self.is_cuda:
            raise Skipped("a CUDA graph needs a GPU")
        if self.setting.precision == "tf32" and not self.is_cuda:
            raise Skipped("TF32 needs a GPU")
        torch.manual_seed(0)
        torch.backends.cuda.matmul.allow_tf32 = self.setting.precision == "tf32"
        torch.backends.cudnn.allow_tf32 = self.setting.precision == "tf32"
        set_fused_attn(self.setting.fused_attention)  # models ask when they are made
        self.dtype = {"fp16": torch.float16, "bf16": torch.bfloat16}.get(self.setting.precision)
        size = {} if case.model in WITHOUT_ATTENTION else {"img_size": pixels}
        with self.device:
            model = timm.create_model(MODELS[case.model], pretrained=False, **size)
            self.images = torch.randn(case.batch, 3, pixels, pixels)
            self.labels = torch.randint(CLASSES, (case.batch,))
        self.model = model.to(self.device).train(case.is_training)
        if case.is_training:
            kind = {"fused": True} if self.setting.fused_optimizer else {"foreach": False}
            self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=1e-4, capturable=self.is_cuda, **kind)
        elif self.dtype is not None:
            self.model, self.images = self.model.to(self.dtype), self.images.to(self.dtype)
        if self.setting.compiled:
            self.model.compile()
        self.step = self.train if case.is_training else self.infer
        if self.setting.graph:
            self.capture()

    @property
    def is_cuda(self):
        return self.device.type == "cuda"

    def infer(self):
        with self.torch.inference_mode():
            self.model(self.images)

    def autocast(self):
        return contextlib.nullcontext() if self.dtype is None else self.torch.autocast(self.device.type, dtype=self.dtype)

    def train(self):
        self.optimizer.zero_grad(set_to_none=True)
        with self.autocast():
            loss = self.torch.nn.functional.cross_entropy(self.model(self.images), self.labels)
        loss.backward()
        self.optimizer.step()

    def capture(self):
        """From here on a step is a launch of the whole of it."""
        side = self.torch.cuda.Stream()
        side.wait_stream(self.torch.cuda.current_stream())
        with self.torch.cuda.stream(side):
            for _ in range(3):
                self.step()
        self.torch.cuda.current_stream().wait_stream(side)
        self.torch.cuda.synchronize()
        graph = self.torch.cuda.CUDAGraph()
        with self.torch.cuda.graph(graph):
            self.step()
        self.graph, self.step = graph, graph.replay

    def synchronize(self):
        if self.is_cuda:
            self.torch.cuda.synchronize()


def warm_up(program, steps):
    for _ in range(steps):
        program.step()
    program.synchronize()


def time_window(program, steps):
    """Seconds of a step, and how long the device went on after the host had handed over the last one."""
    program.synchronize()
    begin = time.perf_counter()
    for _ in range(steps):
        program.step()
    handed_over = time.perf_counter()
    program.synchronize()
    end = time.perf_counter()
    return (end - begin) / steps, end - handed_over


def time_steps(program, is_smoke):
    """Times of steps without a recorder, in windows at whose ends the host waits for the device."""
    warm_up(program, 1 if is_smoke else 5)
    steps = 1 if is_smoke else max(LEAST_STEPS_OF_WINDOW, int(LEAST_WINDOW_SECONDS / time_window(program, 3)[0]) + 1)
    windows = [time_window(program, steps) for _ in range(3 if is_smoke else WINDOWS)]
    step = statistics.median(window[0] for window in windows)
    tail = statistics.median(window[1] for window in windows)
    return {"step_ns": round(1e9 * step), "windows_ns": [round(1e9 * window[0]) for window in windows], "steps_of_window": steps,
            "tail_ns": round(1e9 * tail), "is_host_bound": tail < 0.05 * step if program.is_cuda else None}


def trace_steps(program, path, steps, waits_each_step):
    """A trace of torch.profiler, with shapes. The first of the active steps fills the device's queue: it is for the reader to leave out."""
    from torch.profiler import ProfilerActivity, profile, schedule
    activities = [ProfilerActivity.CPU] + ([ProfilerActivity.CUDA] if program.is_cuda else [])
    warmup = 2
    with profile(activities=activities, schedule=schedule(wait=0, warmup=warmup, active=steps, repeat=1), record_shapes=True) as recorder:
        for number in range(warmup + steps):
            program.step()
            if waits_each_step or number in (warmup - 1, warmup + steps - 1):
                program.synchronize()
            recorder.step()
    recorder.export_chrome_trace(path)


def mark_steps(program, steps, waits_each_step):
    """Ranges `step N` for a recorder that is around this process."""
    nvtx = program.torch.cuda.nvtx
    for number in range(steps):
        if program.is_cuda:
            nvtx.range_push(f"step {number}")
        program.step()
        if waits_each_step:
            program.synchronize()
        if program.is_cuda:
            nvtx.range_pop()
    program.synchronize()


def describe_machine(device):
    import timm
    import torch
    return {"gpu": torch.cuda.get_device_name() if device == "cuda" else None, "torch": torch.__version__, "timm": timm.__version__,
            "cuda": torch.version.cuda, "cores": len(os.sched_getaffinity(0))}


def answer(job, arguments):
    try:
        if job["do"] == "describe":
            return describe_machine(arguments.device)
        program = Program(Case.of(job["case"]), job["variant"], arguments.device, arguments.pixels)
        if job["do"] == "time":
            return time_steps(program, arguments.smoke)
        warm_up(program, 1 if arguments.smoke else 5)
        trace_steps(program, job["path"], job["steps"], arguments.sync_each_step)
        return {"path": job["path"]}
    except Skipped as why:
        return {"skipped": str(why)}
    except Exception as error:  # whatever a case or the device does is told, and the next one is tried
        return {"failed": " ".join(f"{type(error).__name__}: {error}".split())[:400]}


def work(arguments):
    answers = os.fdopen(os.dup(1), "w")  # libraries print to the standard output
    os.dup2(2, 1)
    for line in sys.stdin:
        result = answer(json.loads(line), arguments)
        print(json.dumps(result), file=answers, flush=True)
        if "failed" in result:
            return 1  # the device or a capture may be left broken
        gc.collect()
        if arguments.device == "cuda":
            import torch
            torch.cuda.empty_cache()
    return 0


def run_steps(arguments):
    program = Program(Case.of(arguments.case), arguments.variant, arguments.device, arguments.pixels)
    warm_up(program, 1 if arguments.smoke else 5)
    mark_steps(program, arguments.steps, arguments.sync_each_step)
    return 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("work")
    steps = commands.add_parser("steps")
    steps.add_argument("case")
    steps.add_argument("--variant", default="eager")
    steps.add_argument("--steps", type=int, default=7)
    for command in commands.choices.values():
        command.add_argument("--device", choices=["cuda", "cpu"], default="cuda")
        command.add_argument("--pixels", type=int, default=224)
        command.add_argument("--smoke", action="store_true", help="as few steps as can be")
        command.add_argument("--sync-each-step", action="store_true", help="the host waits for the device after each step that is recorded")
    arguments = parser.parse_args()
    return work(arguments) if arguments.command == "work" else run_steps(arguments)


if __name__ == "__main__":
    sys.exit(main())
