"""tests/peers/overhead/overhead.py without a GPU: a PyTorch whose clock advances by what a forward is said to take."""
import json
import os
import subprocess
import sys
import tempfile
import unittest

SCRIPT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../peers/overhead/overhead.py")
# Milliseconds of a forward, and half a one more in every other turn: 5, recorded 6 (graphs as a whole 5.1), torch.profiler 7, with the CPU 10.
TORCH = '''
import contextlib, os, time
now, forwards = [0.0], [0]
time.perf_counter = lambda: now[0]
cost = [{"": 5.0, "node": 6.0, "graph": 5.1}[os.environ.get("RECORDED", "")]]
pinned, late = [0], [0.5]
def set_affinity(thread, cores):  # this thread's twice a turn: to one core and back
    if thread != 0: return
    pinned[0] += 1
    if pinned[0] % 2 == 1: late[0] = 0.5 - late[0]
os.sched_setaffinity = set_affinity
class Tensor:
    def half(self): return self
    cuda = eval = half
    def __call__(self, x):
        forwards[0] += 1
        now[0] += (cost[0] + late[0]) * 1e-3
        if "FORWARDS" in os.environ:
            with open(os.environ["FORWARDS"], "w") as file: file.write(str(forwards[0]))
inference_mode = contextlib.nullcontext
def randn(*shape, device=None): return Tensor()
class cuda:
    Stream, stream = object, contextlib.nullcontext
    synchronize = staticmethod(lambda: None)
    class CUDAGraph:
        def replay(self): Tensor()(None)
    graph = contextlib.nullcontext
    class nvtx:
        range_push = staticmethod(lambda name: None)
        range_pop = staticmethod(lambda: None)
class autograd:
    class DeviceType: CUDA = 1
'''
PROFILER = '''
import torch
class ProfilerActivity: CPU, CUDA = 0, 1
class Event:
    def __init__(self, name): self.text = name
    def name(self): return self.text
    def device_type(self): return 1
class profile:
    def __init__(self, activities, acc_events): self.ms, self.profiler = 7.0 if len(activities) == 1 else 10.0, self
    def __enter__(self):
        self.before, torch.cost[0], self.begun = torch.cost[0], self.ms, torch.forwards[0]
        return self
    def __exit__(self, *_): torch.cost[0], self.ended = self.before, torch.forwards[0]
    @property
    def kineto_results(self): return self
    def events(self): return [Event(name) for _ in range(self.ended - self.begun) for name in ("gemm", "softmax", "Memcpy DtoD")]
'''
# Ends with the program's status; the file has two kernels a forward in the range of its batch.
SWINSCOPE = '''#!{python}
import os, sqlite3, subprocess, sys
words, command = sys.argv[1:sys.argv.index("--")], sys.argv[sys.argv.index("--") + 1:]
assert words[:3] == ["record", "-q", "-o"], words
folder, options = words[3], words[4:]
os.makedirs(folder)
kind = "graph" if "--cuda-graph-trace" in options else "node"
status = subprocess.call(command, env=dict(os.environ, RECORDED=kind, FORWARDS=folder + "/forwards"))
with open(folder + "/forwards") as file:
    kernels = 2 * (int(file.read()) - {before})
with sqlite3.connect(folder + "/rank0.db") as db:
    db.executescript("CREATE TABLE NVTX_EVENTS (start, end, text, textId); CREATE TABLE StringIds (id, value);"
                     "CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start, correlationId); CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (correlationId);"
                     "CREATE TABLE SWINSCOPE_DROPS (count); CREATE TABLE SWINSCOPE_COLLECTOR (name, value);"
                     "INSERT INTO NVTX_EVENTS VALUES (1, 2, NULL, 1); INSERT INTO StringIds VALUES (1, 'batch 1');"
                     "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (1, 7); INSERT INTO SWINSCOPE_DROPS VALUES (3)")
    db.executemany("INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (?)", [(7,)] * kernels)
sys.exit(status)
'''


class Overhead(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.swinscope = os.path.join(self.folder.name, "swinscope")
        for path, text in (("torch/__init__.py", TORCH), ("torch/profiler.py", PROFILER),
                           ("timm.py", "import torch\ndef create_model(name): return torch.Tensor()\n")):
            file = os.path.join(self.folder.name, path)
            os.makedirs(os.path.dirname(file), exist_ok=True)
            with open(file, "w", encoding="utf-8") as opened:
                opened.write(text)

    def tearDown(self):
        self.folder.cleanup()

    def run_overhead(self, *words, before):
        """`before`: forwards that a process makes before its first turn."""
        with open(self.swinscope, "w", encoding="utf-8") as opened:
            opened.write(SWINSCOPE.replace("{python}", sys.executable).replace("{before}", str(before)))
        os.chmod(self.swinscope, 0o755)
        environment = dict(os.environ, PYTHONPATH=self.folder.name)
        json_file = os.path.join(self.folder.name, "figures.json")
        done = subprocess.run([sys.executable, SCRIPT, "--swinscope", self.swinscope, "--rounds", "2", "--turns", "2", "--loops", "6",
                               "--json", json_file, *words], env=environment, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        with open(json_file, encoding="utf-8") as opened:
            return done.stdout.splitlines(), json.load(opened)

    def row(self, lines, variant):
        return next(line for line in lines if line.startswith(variant + " ")).removeprefix(variant).split()

    def test_eager(self):
        lines, document = self.run_overhead("--core", "0", before=6)  # so that all are late in the same turns
        self.assertEqual(self.row(lines, "untraced"), ["24", "5.250", "+0.00%", "5.000", "+0.00%", "+0.00%", "0.0", "5.25", "5.25"])
        self.assertEqual(self.row(lines, "ours"), ["24", "6.250", "+19.05%", "6.000", "+20.00%", "+19.09%", "2.0", "6.25", "6.25"])
        self.assertEqual(self.row(lines, "cuda"), ["24", "7.250", "+38.10%", "7.000", "+40.00%", "+38.18%", "2.0", "7.25", "7.25"])
        # One turn a round of two forwards, and that one is late, as the untraced one of its second is.
        self.assertEqual(self.row(lines, "all"), ["4", "10.500", "+100.00%", "10.500", "+110.00%", "+90.91%", "2.0", "10.50", "10.50"])
        for figure in ("median", "quick", "turns"):
            self.assertIn(f"ours: of torch.profiler's CUDA only 0.50 by {figure} (0.50 to 0.50 in nine of ten draws of the rounds)", lines)
        self.assertIn("records lost: 6", lines)
        self.assertEqual(len(document["rounds"]), 2)
        self.assertEqual([len(times) for times in document["rounds"][0]["ours"]["1"]["turns"].values()], [6, 6])  # without the first turn

    def show(self, *files):
        return subprocess.run([sys.executable, SCRIPT, "--show", *files], capture_output=True, text=True, check=False)

    def test_kept_rounds_of_several_machines_are_shown_together(self):
        lines, document = self.run_overhead("--core", "0", "--variant", "untraced", "--variant", "ours", "--variant", "cuda", before=6)
        first, second = (os.path.join(self.folder.name, name) for name in ("figures.json", "second.json"))
        for found in document["rounds"]:  # a machine that has another variant, too, and on which recording costs nothing
            found["other"] = found["ours"]
            found["ours"] = {"1": dict(found["other"]["1"], turns=found["untraced"]["1"]["turns"])}
        with open(second, "w", encoding="utf-8") as opened:
            json.dump(document, opened)
        alone = self.show(first)
        self.assertEqual(alone.stdout.splitlines(), lines[-len(alone.stdout.splitlines()):])
        # The median of 1, 1, 1, 1, 6.5 / 5.5, 6.5 / 5.5, 6 / 5 and 6 / 5, beside that of 7.5 / 5.5 and 7 / 5.
        lines = self.show(first, second).stdout.splitlines()
        self.assertEqual(self.row(lines, "ours")[-4:], ["6.25", "6.25", "5.25", "5.25"])
        self.assertIn("of torch.profiler's CUDA only 0.24 by turns", "\n".join(lines))
        self.assertFalse([line for line in lines if line.startswith("other")])

    def test_kept_rounds_of_different_programs_are_refused(self):
        self.run_overhead("--graph", before=3 + 1 + 6)
        graph = os.path.join(self.folder.name, "graph.json")
        os.rename(os.path.join(self.folder.name, "figures.json"), graph)
        self.run_overhead(before=6)
        done = self.show(graph, os.path.join(self.folder.name, "figures.json"))
        self.assertEqual(done.returncode, 1)
        self.assertIn("different programs", done.stderr)

    def test_graph(self):
        lines, _ = self.run_overhead("--graph", before=3 + 1 + 6)
        self.assertEqual(self.row(lines, "ours")[:5], ["4", "6.250", "+19.05%", "6.000", "+20.00%"])  # one time a turn
        self.assertEqual(self.row(lines, "ours --cuda-graph-trace graph")[3:5], ["5.100", "+2.00%"])

    def test_a_program_that_fails_is_told(self):
        with open(os.path.join(self.folder.name, "timm.py"), "w", encoding="utf-8") as opened:
            opened.write("raise SystemExit('no such model')\n")
        done = subprocess.run([sys.executable, SCRIPT, "--swinscope", self.swinscope, "--variant", "untraced"],
                              env=dict(os.environ, PYTHONPATH=self.folder.name), capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn("untraced: status 1: no such model", done.stderr)


if __name__ == "__main__":
    unittest.main()
