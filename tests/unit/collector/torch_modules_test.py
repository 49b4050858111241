#!/usr/bin/env python3
"""collector/python/sitecustomize.py against a stand-in for PyTorch: modules with hooks, autograd nodes that are numbered as they
are made, and ranges that are written down. What it does under PyTorch itself is tested with a GPU (tests/gpu/check_collector.py).
"""
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

HOOK = Path(__file__).parents[3] / "collector/python/sitecustomize.py"

TORCH = """
events = []
class _nvtx:
    @staticmethod
    def rangePushA(name): events.append("+" + name); return len(events)
    @staticmethod
    def rangePop(): events.append("-"); return len(events)
class _C: _nvtx = _nvtx
class compiler:
    compiling = False
    @classmethod
    def is_compiling(cls): return cls.compiling
class Node:
    made = 0
    def __init__(self, name, inputs):
        self.name, self.number, self.next_functions = name, Node.made, [(i, 0) for i in inputs]
        self.before, self.after = [], []
        Node.made += 1
    def _sequence_nr(self): return self.number
    def register_prehook(self, hook): self.before.append(hook)
    def register_hook(self, hook): self.after.append(hook)
    def run(self):
        results = [hook(("gradient",)) for hook in self.before]
        events.append(self.name)
        results += [hook(("gradient",), ("gradient",)) for hook in self.after]
        assert not any(results), "what a hook returns replaces the gradients"
class autograd:
    @staticmethod
    def _get_sequence_nr(): return Node.made
class Tensor:
    def __init__(self, node): self.grad_fn = node
"""

MODULE = """
pre, post = [], []
def register_module_forward_pre_hook(hook): pre.append(hook)
def register_module_forward_hook(hook, always_call): post.append(hook)
class Module:
    def named_modules(self, prefix=""):
        yield prefix, self
        for name, part in list(vars(self).items()):
            if isinstance(part, Module): yield from part.named_modules((prefix + "." if prefix else "") + name)
    def __call__(self, *args):
        for hook in pre: hook(self, args)
        result = None
        try:
            result = self.forward(*args)
        finally:
            for hook in post: hook(self, args, result)
        return result
"""

PROGRAM = """
import torch
from torch.nn.modules.module import Module
accumulate = torch.Node("accumulate", [])
accumulate.number = 2**64 - 1  # of a parameter, which lives on
class Linear(Module):
    def forward(self, x):
        if x is None: raise ValueError
        return torch.Tensor(torch.Node("linear", [x.grad_fn, accumulate]))
class Block(Module):
    def __init__(self): self.fc = Linear()
    def forward(self, x):
        y = self.fc(torch.Tensor(torch.Node("before", [x.grad_fn])))
        return {"y": [torch.Tensor(torch.Node("add", [y.grad_fn, x.grad_fn]))]}
class Net(Module):
    def __init__(self): self.block = Block()
    def forward(self, x): return self.block(x)
def backward(node, done):
    if node in done: return
    done.append(node); node.run()
    for before, _ in sorted(node.next_functions, key=lambda n: -n[0].number): backward(before, done)
net = Net()
outside = torch.Node("outside", [])
"""


class TorchModules(unittest.TestCase):
    def run_program(self, code):
        with tempfile.TemporaryDirectory() as folder:
            package = Path(folder) / "torch/nn/modules"
            package.mkdir(parents=True)
            (Path(folder) / "torch/__init__.py").write_text(TORCH)
            for name in ("nn", "nn/modules"):
                (Path(folder) / "torch" / name / "__init__.py").write_text("")
            (package / "module.py").write_text(MODULE)
            result = subprocess.run([sys.executable, "-c", PROGRAM + code + "\nfor event in torch.events: print(event)"], capture_output=True,
                                    text=True, env={"PYTHONPATH": f"{HOOK.parent}:{folder}"})
        self.assertEqual(result.stderr, "")
        return result.stdout.splitlines()

    def test_forward_and_backward_by_the_innermost_module(self):
        events = self.run_program("out = net(torch.Tensor(outside))\nbackward(out['y'][0].grad_fn, [])")
        self.assertEqual(events, ["+torch.nn:Net", "+torch.nn:block", "+torch.nn:block.fc", "-", "-", "-",
                                  "+torch.nn.backward:block", "add", "-", "+torch.nn.backward:block.fc", "linear", "-",
                                  "accumulate",  # of no module
                                  "+torch.nn.backward:block", "before", "-", "outside"])

    def test_nodes_of_an_earlier_forward_keep_their_names(self):
        events = self.run_program("x = net(torch.Tensor(outside))['y'][0]\nother = Linear()\nz = other(x)\nbackward(z.grad_fn, [])")
        pushed = [e for e in events if e.startswith("+torch.nn.backward:")]
        self.assertEqual(pushed, ["+torch.nn.backward:Linear", "+torch.nn.backward:block", "+torch.nn.backward:block.fc",
                                  "+torch.nn.backward:block"])

    def test_a_forward_that_throws_leaves_no_range_open(self):
        events = self.run_program("try:\n    Linear()(None)\nexcept ValueError: pass\nnet(torch.Tensor(outside))")
        self.assertEqual(events[:2], ["+torch.nn:Linear", "-"])
        self.assertEqual(sum(e.startswith("+") for e in events), sum(e == "-" for e in events))

    def test_without_gradients_nothing_is_hooked(self):
        events = self.run_program("class Plain(Module):\n    def forward(self, x): return (None, 3, torch.Tensor(None))\nPlain()(1)")
        self.assertEqual(events, ["+torch.nn:Plain", "-"])

    def test_quiet_while_compiling_and_without_numbers(self):
        self.assertEqual(self.run_program("torch.compiler.compiling = True\nnet(torch.Tensor(outside))"), [])
        events = self.run_program("del torch.autograd._get_sequence_nr\nout = net(torch.Tensor(outside))\nbackward(out['y'][0].grad_fn, [])")
        self.assertEqual([e for e in events if e.startswith("+")], ["+torch.nn:Net", "+torch.nn:block", "+torch.nn:block.fc"])

    def test_the_next_sitecustomize_still_runs(self):
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "sitecustomize.py").write_text("print('mine')")
            result = subprocess.run([sys.executable, "-c", "print('program')"], capture_output=True, text=True,
                                    env={"PYTHONPATH": f"{HOOK.parent}:{folder}"})
        self.assertEqual(result.stdout, "mine\nprogram\n")


if __name__ == "__main__":
    unittest.main()
