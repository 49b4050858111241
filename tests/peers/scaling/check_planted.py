#!/usr/bin/env python3
"""Plants faults of known size in a job of two GPUs, and compares what swinscope says with what was planted.

usage: python3 tests/peers/scaling/check_planted.py --swinscope PROGRAM [-o FOLDER] [--ms 4] [--draws 0] [--record-only]

A row a fault: the cause that `swinscope ranks` gives the late rank, in ms a step, less the same of the job without a
fault; for `all`, the part of `swinscope analyze` of an experiment of one and two GPUs. --draws N: `all` with N sizes from 2 to
10 ms, each of which has to be in the interval that the replays give its part, but for one in ten. Exit status 1 where one is
off by more than 5 % or under another name. Recordings that are in the folder are taken as they are; others need torch and two
GPUs, and --record-only ends when all are there.
"""
import argparse
import json
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).parent
CAUSES = {"host": "host_ns", "input": "input_ns", "kernel": "kernels_ns", "launch": "host_ns"}
TOLERANCE = 0.05


def run(command):
    done = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}: status {done.returncode}\n{done.stdout[-2000:]}\n{done.stderr[-4000:]}")
    return done.stdout


class Planted:
    def __init__(self, arguments):
        self.a = arguments
        self.folder = pathlib.Path(arguments.output)

    def job(self, fault, ms=None):
        return [HERE / "planted_job.py", "--plant", fault, "--ms", ms or self.a.ms]

    def record(self, fault, name=None, ms=None):
        out = self.folder / (name or fault)
        if out.exists():
            return out
        launcher = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc_per_node", 2]
        run([self.a.swinscope, "record", "-q", "-o", out, "--trace", "cuda,nvtx,sync", "--", *launcher, *self.job(fault, ms)])
        return out

    def sizes(self):
        count = self.a.draws
        return [2 + 8 * (i + 0.5) / count for i in range(count)]

    def draw(self, ms):
        return self.record("all", f"draw_{ms:.2f}", ms)

    def interval(self, ms):
        """Of the kernels slowed otherwise, ms a step, against one GPU without a fault."""
        out = self.folder / f"joined_{ms:.2f}"
        if not out.exists():
            run([self.a.swinscope, "join", "-q", "-o", out, f"gpus=1:{self.scale('none') / 'gpus1' / 'tracing'}", f"gpus=2:{self.draw(ms)}"])
        data = json.loads(run([self.a.swinscope, "analyze", "-q", out, "--format", "json"]))["data"]
        row = next(row for row in data["scaling_loss"] if row["part"] == "slowed")
        return row["replay_low_ns"] / 1e6, row["replay_high_ns"] / 1e6

    def scale(self, fault):
        out = self.folder / f"scale_{fault}"
        if not out.exists():
            run([self.a.swinscope, "scale", "--gpus", "1,2", "--repeat", 1, "--launcher", "torchrun", "--step", "nvtx:step",
                 "-o", out, "--", *self.job(fault)])
        return out

    def causes(self, fault):
        """Of rank 1, by column of the table late_ranks, ms a step."""
        text = run([self.a.swinscope, "ranks", self.record(fault), "--format", "json"])
        data = json.loads(text)["data"]
        row = next(row for row in data["late_ranks"] if row["rank"] == 1)
        return {name: value / 1e6 for name, value in row.items() if name.endswith("_ns") and value is not None}

    def slowed(self, fault):
        """The part of the loss of two GPUs over one, ms a step."""
        data = json.loads(run([self.a.swinscope, "analyze", self.scale(fault), "--format", "json"]))["data"]
        return {row["part"]: row["time_ns"] / 1e6 for row in data["scaling_loss"]}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--swinscope", required=True)
    parser.add_argument("-o", "--output", default="runs/planted")
    parser.add_argument("--ms", type=float, default=4)
    parser.add_argument("--draws", type=int, default=0)
    parser.add_argument("--record-only", action="store_true")
    planted = Planted(parser.parse_args())
    for fault in ["none", *CAUSES]:
        planted.record(fault)
    for fault in ["none", "all"]:
        planted.scale(fault)
    for ms in planted.sizes():
        planted.draw(ms)
    if planted.a.record_only:
        return 0
    without = planted.causes("none")
    failed = False

    def judge(fault, cause, found):
        nonlocal failed
        error = found / planted.a.ms - 1
        failed = failed or abs(error) > TOLERANCE
        print(f"{fault:8} planted {planted.a.ms:.3f} ms  {cause:12} {found:.3f} ms  {100 * error:+.1f} %", flush=True)

    for fault, cause in CAUSES.items():
        with_fault = planted.causes(fault)
        judge(fault, cause, with_fault.get(cause, 0) - without.get(cause, 0))
        print(f"         all causes: { {k: round(v, 3) for k, v in with_fault.items()} }")
    before, after = planted.slowed("none"), planted.slowed("all")
    judge("all", "slowed", after.get("slowed", 0) - before.get("slowed", 0))
    contained = 0
    for ms in planted.sizes():
        low, high = planted.interval(ms)
        contained += low <= ms <= high
        print(f"draw     planted {ms:.3f} ms  by replay {low:.3f} to {high:.3f} ms{'' if low <= ms <= high else '  outside'}", flush=True)
    if planted.a.draws:
        print(f"{contained} of {planted.a.draws} in their interval")
        failed = failed or contained < 0.9 * planted.a.draws
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
