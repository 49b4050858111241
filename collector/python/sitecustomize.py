"""`swinscope record --torch-modules`: an NVTX range around the forward of each module of PyTorch, named by its path in the model.

Python imports this file as it starts, from the folder that `record` puts in front of PYTHONPATH. Whatever goes wrong here, the
program runs on as without it.
"""
import importlib.abc
import importlib.machinery
import importlib.util
import os
import sys
import threading

PREFIX = "torch.nn:"  # known to analyzer/layers.cpp
TARGET = "torch.nn.modules.module"


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

    def before(module, args):
        if is_quiet():
            return
        try:
            name = PREFIX + name_of(module)
            sys.modules["torch"]._C._nvtx.rangePushA(name)
        except Exception:
            return
        stack = active.__dict__.setdefault("stack", [])
        stack.append(id(module))

    def after(module, args, output):
        stack = active.__dict__.get("stack")
        if stack and stack[-1] == id(module):
            stack.pop()
            sys.modules["torch"]._C._nvtx.rangePop()

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
