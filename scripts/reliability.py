#!/usr/bin/env python3
"""Attacks on `swinscope record`, counted: what the figures in docs/reliability.md are from.

usage: python3 scripts/reliability.py faults|kills|soak [--build build/dev] [--seed 1] [--most N] [--step 1] [--seconds S] [--rate R] [--max-size 64M]

faults  Every call of a kind (memory, files, locks, threads, clocks …) fails, once and for ever, the first, second … one until there is
        none left, or the --most-th: within the library in a program, and in `record` itself (there every --step-th). The program's output and status are as alone, and
        what is in the folder opens.
kills   --most times kill -9 at a random moment, of the program, of `record` or of both: every file opens, and the loss is stated.
soak    --seconds of ranges at --rate per second with `--max-size --rotate`: memory of `record` and of the program over time, sizes, losses.

Ends with 1 when something is not as it is to be, and says what.
"""
import argparse
import concurrent.futures
import os
import pathlib
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time

IN_PROGRAM = ("memory", "open", "mmap", "madvise", "ftruncate", "fcntl", "key", "setspecific", "thread", "clock", "read", "write", "stat", "name")
IN_RECORD = ("open", "mmap", "ftruncate", "fcntl", "thread", "clock", "read", "write", "stat", "name", "memory")


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("attack", choices=("faults", "kills", "soak"))
    parser.add_argument("--build", default="build/dev")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--most", type=int, default=0)
    parser.add_argument("--step", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=1800)
    parser.add_argument("--rate", type=int, default=100_000)
    parser.add_argument("--max-size", default="64M")
    arguments = parser.parse_args()
    arguments.bin = pathlib.Path(arguments.build).resolve() / "bin"
    return arguments


def trace_files(folder):
    return sorted(folder.glob("rank*.db")) if folder.is_dir() else []


def what_is_wrong(file):
    """Of a trace: nothing, or why it does not open. A copy is read, as `info` does: the file stays as it was left."""
    try:
        with tempfile.TemporaryDirectory() as folder:
            for part in (file, file.with_name(file.name + "-wal")):
                if part.exists():
                    shutil.copy(part, folder)
            if file.stat().st_size == 0:
                return ""  # a name that was taken, and nothing written yet
            with sqlite3.connect(os.path.join(folder, file.name)) as db:
                result = db.execute("PRAGMA integrity_check").fetchone()[0]
                return "" if result == "ok" else result
    except (sqlite3.Error, OSError) as error:
        return str(error)


class Faults:
    def __init__(self, arguments):
        self.arguments, self.failures, self.runs = arguments, [], 0
        self.program = str(arguments.bin / "faulty_program")
        self.library = str(arguments.bin / "libfault_library.so")
        self.alone = subprocess.run([self.program, "none", "0", "once"], stdout=subprocess.PIPE, check=False)

    def one(self, kind, number, how, where):
        """Whether the call was made."""
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            report = folder / "report"
            environment = dict(os.environ, FAULTS_REPORT=str(report))
            command = [str(self.arguments.bin / "swinscope"), "record", "-o", str(folder / "run"), "--", "env"]
            if where == "record":
                environment |= {"FAULTS": f"{kind} {number} {how} swinscope", "LD_PRELOAD": self.library}
                command += ["-u", "LD_PRELOAD", self.program, "none", "0", "once"]
            else:
                command += [f"LD_PRELOAD={self.library}", self.program, kind, str(number), how]
            try:
                done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment, timeout=60, check=False)
                is_same = (done.stdout, done.returncode) == (self.alone.stdout, self.alone.returncode)
                said = "" if is_same else f"status {done.returncode}, printed {done.stdout!r}, {done.stderr.decode(errors='replace')[-200:]!r}"
            except subprocess.TimeoutExpired:
                said = "did not end in 60 s"
            self.runs += 1
            for file in trace_files(folder / "run"):
                wrong = what_is_wrong(file)
                said = said or (wrong and f"{file.name}: {wrong}")
            if said:
                self.failures.append(f"{where}: {kind} {number} {how}: {said}")
            return report.exists()

    def sweep_kind(self, where, kind):
        reached = 0
        for number in range(1, (self.arguments.most or 100_000) + 1, 1 if where == "program" else self.arguments.step):
            made = [self.one(kind, number, how, where) for how in ("once", "ever")]
            if not any(made):
                break
            reached = number
        return f"{where}: {kind}: up to call {reached}, each once and for ever"

    def sweep(self):
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count() or 2) as workers:
            kinds = [(where, kind) for where, kinds in (("program", IN_PROGRAM), ("record", IN_RECORD)) for kind in kinds]
            for line in workers.map(lambda pair: self.sweep_kind(*pair), kinds):
                print(line, flush=True)
        print(f"{self.runs} runs, {len(self.failures)} not as alone")
        return self.failures


def kills(arguments):
    """Each at a time of its own, of the program, the recorder or both."""
    chance = random.Random(arguments.seed)
    failures, unstated = [], 0
    most = arguments.most or 200
    for number in range(most):
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            run = folder / "run"
            command = [str(arguments.bin / "swinscope"), "record", "-q", "-o", str(run), "--", str(arguments.bin / "steady_program"), "60", "20000"]
            process = subprocess.Popen(command, stdout=subprocess.PIPE, start_new_session=True)
            child = int(process.stdout.readline())
            time.sleep(chance.uniform(0, 0.5))
            whom = chance.choice(("program", "record", "both"))
            if whom == "program":
                os.kill(child, signal.SIGKILL)
            elif whom == "record":
                process.kill()
            else:
                os.killpg(process.pid, signal.SIGKILL)
            status = process.wait()
            try:
                os.kill(child, signal.SIGKILL)
            except ProcessLookupError:
                pass
            process.stdout.close()
            if whom == "program" and status != 128 + signal.SIGKILL:
                failures.append(f"kill {number} of the program: status {status}")
            for file in trace_files(run):
                if file.stat().st_size == 0:
                    continue
                wrong = what_is_wrong(file)
                info = subprocess.run([str(arguments.bin / "swinscope"), "info", str(file)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
                if "a SQLite file without tables" in info.stdout and not wrong:
                    unstated += 1  # killed before its first commit, and said to hold nothing
                elif wrong or info.returncode != 0:
                    failures.append(f"kill {number} of {whom}: {file.name}: {wrong or info.stdout[-200:]}")
                elif "cut off" not in info.stdout:
                    failures.append(f"kill {number} of {whom}: {file.name}: `info` does not say that it was cut off")
            unstated += not trace_files(run)
    print(f"{most} kills, {len(failures)} with a file that does not open or does not say its loss, {unstated} before the first commit")
    return failures


def rss_mib(pid):
    try:
        for line in pathlib.Path(f"/proc/{pid}/status").read_text(encoding="ascii").splitlines():
            if line.startswith("VmRSS:"):
                return int(line.split()[1]) / 1024
    except OSError:
        pass
    return 0.0


def bytes_of(run):
    total = 0
    for part in run.glob("rank0.db*"):
        try:
            total += part.stat().st_size
        except FileNotFoundError:
            pass  # a log that is merged by now
    return total


def slope(points):
    """Least squares, per unit of x."""
    mean_x = sum(x for x, _ in points) / len(points)
    mean_y = sum(y for _, y in points) / len(points)
    return sum((x - mean_x) * (y - mean_y) for x, y in points) / sum((x - mean_x) ** 2 for x, _ in points)


def soak(arguments):
    failures = []
    with tempfile.TemporaryDirectory() as folder:
        run = pathlib.Path(folder) / "run"
        command = [str(arguments.bin / "swinscope"), "record", "-o", str(run), "--max-size", arguments.max_size, "--rotate", "--",
                   str(arguments.bin / "steady_program"), str(arguments.seconds), str(arguments.rate)]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        child = int(process.stdout.readline())
        begin, samples, largest = time.monotonic(), [], 0
        while process.poll() is None and time.monotonic() - begin < arguments.seconds:
            time.sleep(min(1.0, arguments.seconds / 10))
            samples.append((time.monotonic() - begin, rss_mib(process.pid), rss_mib(child)))
            largest = max(largest, bytes_of(run))
        emitted = int(process.stdout.readline().split()[1])
        process.wait()
        settled = [sample for sample in samples if sample[0] >= arguments.seconds / 3 and sample[2] > 0]
        with sqlite3.connect(run / "rank0.db") as db:
            kept = db.execute("SELECT count(*) FROM NVTX_EVENTS WHERE eventType = 59").fetchone()[0]
            rotated = db.execute("SELECT coalesce(sum(count), 0) FROM SWINSCOPE_DROPS WHERE what LIKE 'NVTX range%' AND reason LIKE '%--max-size%'").fetchone()[0]
            lost = db.execute("SELECT coalesce(sum(count), 0) FROM SWINSCOPE_DROPS WHERE what LIKE 'NVTX range%' AND reason NOT LIKE '%--max-size%'").fetchone()[0]
        for who, column in (("record", 1), ("the program", 2)):
            memory = [(sample[0] / 60, sample[column]) for sample in settled]
            print(f"{who}: {memory[-1][1]:.1f} MiB at the end, {max(m for _, m in memory):.1f} at most, {slope(memory):+.2f} MiB a minute")
        print(f"{emitted} ranges in {arguments.seconds:.0f} s: {kept} in the file, {rotated} older than it keeps, {lost} lost; "
              f"at most {largest / 2**20:.0f} MiB on the disk, {(run / 'rank0.db').stat().st_size / 2**20:.0f} in the end")
        if kept + rotated + lost != emitted:
            failures.append(f"{kept} + {rotated} + {lost} is not {emitted}")
    return failures


def main():
    arguments = parse()
    failures = {"faults": lambda: Faults(arguments).sweep(), "kills": lambda: kills(arguments), "soak": lambda: soak(arguments)}[arguments.attack]()
    for failure in failures:
        print(f"error: {failure}", file=sys.stderr)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
