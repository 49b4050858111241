#!/usr/bin/env python3
"""What only a GPU can show: the tests with the label gpu, every row of `swin verify`, the collector beside real programs, and
compute-sanitizer over kernels and training steps.

usage: python3 scripts/gpu_check.py [--build build/gpu] [--seconds S] [--limit S] [--jobs N] [--logs DIR] [--json FILE]
       [--list] [PATTERN…]

One line a check, its output in DIR/NAME.log. PATTERN: names of checks, with * and ?, as --list prints them, in the order in which
they begin, but that tests which count the GPU's free memory come last and alone; default: all but those of compute-sanitizer, which are asked for (`memcheck*`, `racecheck*`). --jobs: so many beside each other, which slows each but not
all of them. Nothing is begun after --seconds, and a check is cut after --limit: what was not done is said.
SIGINT, SIGTERM and SIGHUP end what runs with it. Exit status: 0 all passed, 1 one failed or was not done, 2 it cannot be run, 128 + its number after a signal.
"""
import argparse
import concurrent.futures
import fnmatch
import glob
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import time

FIXTURES = "tests/peers/timm/fixtures"
TRAINED = "--device cuda --dataset-size 16 --steps 2 --warmup 1 --quiet"
VERIFY = ["verify", "--no-models", "--checks"]  # each row is said when it is there: a check that is cut shows how far it came
ALONE = ("workloads_device_model_test", "workloads_device_segmenter_test")  # they count the GPU's free memory
CUBLASLT = "nvjet"  # how its kernels are called that racecheck reports hazards of: not ours to mend, so they are counted apart
ROWS = {  # rows of `swin verify` whose kernels share memory between threads, by the name of their check here
    "attention": "attention", "qkv-attention": "qkv and attention", "attention-backward": "attention backward",
    "attention-backward-wide": "attention backward of wide windows", "attention-steps": "attention by steps",
    "attention-steps-backward": "attention by steps backward", "layernorm": "layernorm,layernorm backward",
    "products": "product tiles", "tall-products": "tall product tiles",
    "normalized-results": "normalized result tiles", "tall-normalized-results": "tall normalized result tiles", "gradients": "gradient products,elementwise backward",
    "8-bits": "8 bits", "tall-8-bits": "tall products of 8 bits",
    "position-bias": "position bias,position bias backward", "loss": "loss,optimizer,stochastic depth,sum of parts", "pixel-loss": "pixel loss",
    "narrow-block": "narrow block", "normalized-rows": "normalized rows", "elementwise": "elementwise,layout", "maps": "resize,batchnorm,map operations", "tap-fusion": "tap fusion",
}
CHOOSING = ("attention-steps", "attention-steps-backward", "gradients")  # of them, those that choose products by time
STEPS = {
    "step-eager": "--model swin_nano --batch-per-gpu 4 --level eager",
    "step-graph": "--model swin_nano --batch-per-gpu 4 --precision fp16",
    "step-graph-v2": "--model swinv2_nano --batch-per-gpu 4 --precision bf16",
    "step-segmentation": "--task segmentation --model swinv2_nano --image 64 --batch-per-gpu 2 --precision fp16",
}


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="build/gpu")
    parser.add_argument("--seconds", type=float, default=3600.0)
    parser.add_argument("--limit", type=float, default=600.0)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--logs", default="build/gpu-check")
    parser.add_argument("--json")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("patterns", nargs="*", metavar="PATTERN")
    return parser.parse_args()


def gpu_tests(build):
    """Names of GoogleTest programs: listed in a package of scripts/gpu_package.sh, else as ctest knows them."""
    listed = os.path.join(build, "gpu_tests")
    if os.path.exists(listed):
        with open(listed, encoding="utf-8") as file:
            names = file.read().split()
    else:
        out = subprocess.run(["ctest", "--test-dir", build, "-N", "-L", "^gpu$"], stdout=subprocess.PIPE, text=True, check=True).stdout
        names = re.findall(r"^ *Test *#\d+: (\S+)", out, re.MULTILINE)
    return [name for name in names if os.path.exists(os.path.join(build, "bin", name))]


def sanitizer():
    found = shutil.which("compute-sanitizer") or max(glob.glob("/usr/local/cuda*/bin/compute-sanitizer"), default=None)
    return found or "compute-sanitizer"


def checks(build):
    """The commands of each check by its name, to run one after another."""
    program = lambda name: os.path.join(build, "bin", name)
    swin, swinscope = program("swin"), program("swinscope")
    result = {name: [[program(name)]] for name in gpu_tests(build)}
    result["verify-kernels"] = [[swin, "verify", "--no-models", "--failures"]]
    models = sorted(os.path.basename(file).removesuffix(".safetensors") for file in glob.glob(f"{FIXTURES}/*.safetensors"))
    result["verify-models"] = [[swin, "verify", "--no-kernels", "--models", ",".join(models), "--fixtures", FIXTURES, "--failures"]]
    result["collector"] = [[sys.executable, "tests/gpu/check_collector.py", "--swinscope", swinscope, "--programs",
                            os.path.join(build, "gpu_programs")]]
    result["layers"] = [[sys.executable, "tests/gpu/check_layers.py", "--swinscope", swinscope, "--swin", swin]]
    result["training-recovery"] = [[sys.executable, "tests/gpu/check_training.py", "--swin", swin]]
    for tool in ("memcheck", "racecheck"):
        # Kernels that racecheck is told to leave out end it with an error of its own (CUDA 13.0): it has to watch all of them.
        judged = ["--print-limit", "0"] if tool == "racecheck" else ["--error-exitcode", "99"]
        # What chooses algorithms by time runs unwatched before, and keeps the choice.
        watched = [sanitizer(), "--tool", tool, *judged, swin]
        for name, rows in ROWS.items():
            commands = [[*watched, *VERIFY, rows]]
            result[f"{tool}-{name}"] = [[swin, *VERIFY, rows], *commands] if name in CHOOSING else commands
        for name, options in STEPS.items():
            training = ["train", *TRAINED.split(), *options.split()]
            result[f"{tool}-{name}"] = [[swin, *training], [*watched, *training]]
    return result


RUNNING, BEGINNING = set(), threading.RLock()  # which a second signal takes again


def begin(command, file):
    with BEGINNING:
        process = subprocess.Popen(command, stdout=file, stderr=subprocess.STDOUT, start_new_session=True)
        RUNNING.add(process)
    return process


def kill(process):
    """With what it started. The caller waits for it or ends."""
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)


def end(number, _):
    """A signal ends what runs, too: left alone it would go on beside whatever uses the GPU next."""
    BEGINNING.acquire()  # and keeps it: nothing begins from here on
    for process in RUNNING:
        kill(process)
    os.write(2, f"gpu_check: {signal.Signals(number).name}: what ran was ended, too\n".encode())
    os._exit(128 + number)


def ended(futures):
    """Each as it ends. A second at a time: Python notices a signal that comes just before a wait only behind it."""
    left = set(futures)
    while left:
        done, left = concurrent.futures.wait(left, timeout=1, return_when=concurrent.futures.FIRST_COMPLETED)
        yield from done


def run(commands, log, seconds):
    """The verdict on the commands, of which each must succeed: passed, FAILED, skipped or cut."""
    deadline = time.monotonic() + seconds
    with open(log, "w", encoding="utf-8") as file:
        for command in commands:
            try:
                process = begin(command, file)
            except OSError as error:
                file.write(f"{command[0]}: {error.strerror}\n")
                return "FAILED"
            try:
                status = process.wait(timeout=deadline - time.monotonic())
            except subprocess.TimeoutExpired:
                kill(process)
                process.wait()
                return "cut"
            if status != 0:
                break
    if status == 77:
        return "skipped"
    with open(log, encoding="utf-8", errors="replace") as file:
        text = file.read()
    if status == 0 and "[  SKIPPED ]" in text and "[       OK ]" not in text:
        return "skipped"
    hazards = races(text)
    return "passed" if status == 0 and (hazards is None or hazards[0] == hazards[1]) else "FAILED"


def races(text):
    """What racecheck reported: hazards, and how many of them lie in cuBLASLt's own kernels; None where it did not watch."""
    summary = re.search(r"RACECHECK SUMMARY: (\d+) hazard", text)
    if not summary:
        return None
    kernels = re.findall(r"Race reported between \w+ access at (.+?)\+0x", text)
    return int(summary[1]), sum(CUBLASLT in kernel for kernel in kernels)


def last_line(log):
    with open(log, encoding="utf-8", errors="replace") as file:
        text = file.read()
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    hazards = races(text)
    beside = f", {hazards[1]} of them in cuBLASLt's own kernels" if hazards and hazards[0] else ""
    return lines[-1][:140] + beside if lines else "said nothing"


def chosen(names, patterns):
    if not patterns:
        return [name for name in names if not name.startswith(("memcheck-", "racecheck-"))]
    for pattern in patterns:
        if not fnmatch.filter(names, pattern):
            sys.exit(f"error: {pattern}: no check has this name\n  hint: --list prints them")
    return list(dict.fromkeys(name for pattern in patterns for name in fnmatch.filter(names, pattern)))


def main():
    arguments = parse()
    if not os.path.exists(os.path.join(arguments.build, "bin", "swin")):
        print(f"error: {arguments.build}/bin/swin: not built\n  hint: cmake --preset gpu && cmake --build --preset gpu", file=sys.stderr)
        return 2
    all_checks = checks(arguments.build)
    names = chosen(all_checks, arguments.patterns)
    if arguments.list:
        print("\n".join(names if arguments.patterns else all_checks))
        return 0
    os.makedirs(arguments.logs, exist_ok=True)
    os.environ["SWINSCOPE_REQUIRE_GPU"] = "1"
    os.environ.setdefault("NCCL_NVLS_ENABLE", "0")
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) != signal.SIG_IGN:  # as under nohup
            signal.signal(number, end)
    deadline, rows = time.monotonic() + arguments.seconds, []

    def row_of(name):
        start = time.monotonic()
        left, log = deadline - start, os.path.join(arguments.logs, name + ".log")
        verdict = run(all_checks[name], log, min(left, arguments.limit)) if left > 0 else "left out"
        said = last_line(log) if left > 0 else "no time was left"
        return {"check": name, "verdict": verdict, "seconds": round(time.monotonic() - start, 1), "said": said}

    for alone in (False, True):
        now = [name for name in names if (name in ALONE) == alone]
        with concurrent.futures.ThreadPoolExecutor(1 if alone else arguments.jobs) as pool:
            for done in ended([pool.submit(row_of, name) for name in now]):
                row = done.result()
                rows.append(row)
                print(f"{row['verdict']:<9}{row['seconds']:>7.1f} s  {row['check']}: {row['said']}", flush=True)
                if arguments.json:
                    with open(arguments.json, "w", encoding="utf-8") as file:
                        json.dump(rows, file, indent=1)
    count = lambda verdict: sum(row["verdict"] == verdict for row in rows)
    print(", ".join(f"{count(verdict)} {verdict}" for verdict in ("passed", "FAILED", "skipped", "cut", "left out")))
    return 0 if count("passed") + count("skipped") == len(rows) else 1


if __name__ == "__main__":
    sys.exit(main())
