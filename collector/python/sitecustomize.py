"""`swinscope record --torch-modules`: NVTX ranges around what PyTorch's modules do, named by their path in the model.

Forward, a range around the call of each module. Backward, a range around each autograd node, named by the module whose forward
made it: hooks of modules would put nodes of their own into the graph, and modules that work in place then fail.

Python imports this file as it starts, from the folder that `record` puts in front of PYTHONPATH. Whatever goes wrong here, the
program runs on as without it.
"""
import bisect
import importlib.abc
import importlib.machinery
import importlib.util
import os
import sys
import threading

FORWARD = "torch.nn:"  # both known to analyzer/analyses/layers.cpp
BACKWARD = "torch.nn.backward:"
TARGET = "torch.nn.modules.module"


def _nodes_of(value):
    """The autograd nodes behind a module's output."""
    if isinstance(value, (list, tuple)):
        return [node for part in value for node in _nodes_of(part)]
    if isinstance(value, dict):
        return [node for part in value.values() for node in _nodes_of(part)]
    node = getattr(value, "grad_fn", None)
    return [] if node is None else [node]


class _Backward:
    """Which module made an autograd node: nodes are numbered as they are made."""

    def __init__(self):
        self.numbers = []  # from this number on the innermost module is ...
        self.names = []  # ... this one

    def entered(self, number, name):
        self.numbers.append(number)
        self.names.append(name)

    def hook(self, output, end, push, pop):
        """Ranges around all nodes between the output and what was there before the forward."""
        begin = self.numbers[0]
        pending = _nodes_of(output)
        seen = set()
        while pending:
            node = pending.pop()
            number = getattr(node, "_sequence_nr", lambda: -1)()
            # Parameters come last in the numbering, and live on.
            if number in seen or not begin <= number < end:
                continue
            seen.add(number)
            self._hook_node(node, BACKWARD + self.names[bisect.bisect_right(self.numbers, number) - 1], push, pop)
            pending.extend(before for before, _ in node.next_functions if before is not None)

    @staticmethod
    def _hook_node(node, name, push, pop):
        # What a hook returns takes the place of the gradients.
        def before(grad_outputs):
            push(name)

        def after(grad_inputs, grad_outputs):
            pop()

        node.register_prehook(before)
        node.register_hook(after)


def _register(module_file):
    import weakref

    names = weakref.WeakKeyDictionary()
    active = threading.local()

    def name_of(module):
        name = names.get(module)
        if name is None:  # the outermost one that runs is the model
            for path, part in module.named_modules():
                names[part] = path or type(part).__name__
            name = names.get(module, type(module).__name__)
        return name

    def is_quiet():
        torch = sys.modules.get("torch")
        compiler = getattr(torch, "compiler", None)
        return compiler is None or compiler.is_compiling()

    def next_number():
        return sys.modules["torch"].autograd._get_sequence_nr()

    def before(module, args):
        if is_quiet():
            return
        try:
            name = name_of(module)
            sys.modules["torch"]._C._nvtx.rangePushA(FORWARD + name)
        except Exception:
            return
        stack = active.__dict__.setdefault("stack", [])
        if not stack:
            active.backward = _Backward()
        stack.append((id(module), name))
        try:
            active.backward.entered(next_number(), name)
        except Exception:  # a version of PyTorch that does not number its nodes: no ranges of the backward
            pass

    def after(module, args, output):
        stack = active.__dict__.get("stack")
        if not stack or stack[-1][0] != id(module):
            return
        stack.pop()
        nvtx = sys.modules["torch"]._C._nvtx
        nvtx.rangePop()
        try:
            if stack:
                active.backward.entered(next_number(), stack[-1][1])
            elif active.backward.numbers:
                active.backward.hook(output, next_number(), nvtx.rangePushA, nvtx.rangePop)
        except Exception:
            pass

    module_file.register_module_forward_pre_hook(before)
    module_file.register_module_forward_hook(after, always_call=True)


class _Loader(importlib.abc.Loader):
    def __init__(self, loader):
        self._loader = loader

    def __getattr__(self, name):
        return getattr(self._loader, name)

    def create_module(self, spec):
        return self._loader.create_module(spec)

    def exec_module(self, module):
        self._loader.exec_module(module)
        try:
            _register(module)
        except Exception:
            pass


class _Finder(importlib.abc.MetaPathFinder):
    def find_spec(self, fullname, path, target=None):
        if fullname != TARGET:
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(fullname)
        if spec is not None and spec.loader is not None:
            spec.loader = _Loader(spec.loader)
        return spec


def _import_the_next_one():
    """The sitecustomize that the program would have had."""
    here = os.path.dirname(os.path.abspath(__file__))
    others = [folder for folder in sys.path if os.path.abspath(folder or ".") != here]
    spec = importlib.machinery.PathFinder.find_spec("sitecustomize", others)
    if spec is not None and spec.loader is not None:
        module = importlib.util.module_from_spec(spec)
        sys.modules["sitecustomize"] = module
        spec.loader.exec_module(module)


sys.meta_path.insert(0, _Finder())
_import_the_next_one()
