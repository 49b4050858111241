#!/usr/bin/env python3
"""usage: scripts/mutated_files.py BIN_DIR [--count N] [--seed S] [--formats LIST] [--limit SECONDS] [--jobs N] [--keep DIR]

Damages real files of every format that is read, N of them (1000), and gives each to a command that reads it, on all cores or N of them. A damaged
file is read (exit status 0, or 1 where what is left says nothing on the question) or refused (3, or 2 for settings and
options); everything else is a fault: a signal, a sanitizer's report, "please report it", an error of SQLite's that
nobody has put into words, more than SECONDS (60) or 4 GiB; and an undamaged file that is not read. Faulty files are kept
in DIR (build/mutated), and the table of formats and exit statuses in DIR/summary.md. The same seed damages the same files in the same way.

BIN_DIR has `swinscope` and, for checkpoints and images, `swin`; with the preset asan (build/asan/bin) memory errors and
undefined behaviour are faults, too."""

import argparse
import collections
import concurrent.futures
import ctypes
import gzip
import json
import os
import pathlib
import random
import re
import resource
import shutil
import sqlite3
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
DATA = ROOT / "data"
EXPERIMENT = DATA / "swinscope_swinv2b_upernet_weak_2gpu"
TRACE = DATA / "swinscope_swin_tiny_infer_1gpu.db"
MEMORY = 4 << 30
SIGNS = ("Sanitizer", "runtime error:", "terminate called", "please report it", "SQLite error", "not enough memory")
NUMBERS = [b"0", b"-1", b"9223372036854775807", b"-9223372036854775808", b"18446744073709551616", b"1e400", b"-1e-400",
           b"0.5", b"null", b"true", b'""', b"[]", b"{}"]
STRINGS = [b'""', b'"\\u0000"', b'"\\ud800"', b'"<img src=x>"', b'"' + b"n" * 5000 + b'"', b"17", b"null", b"[[]]"]
BYTES = [b"\0", b"\xff", b"\x7f\xff\xff\xff", b"\xff" * 8, b"\0" * 64, b'"', b"{", b"\x1b[2J"]


def damaged_bytes(data, dice):
    """Bytes overwritten, cut out, doubled, or gone behind some place."""
    data = bytearray(data)
    for _ in range(dice.choice([1, 1, 2, 8])):
        at = dice.randrange(len(data)) if data else 0
        kind = dice.randrange(6)
        if kind == 0:
            data[at : at + 1] = bytes([dice.randrange(256)])
        elif kind == 1:
            piece = dice.choice(BYTES)
            data[at : at + len(piece)] = piece
        elif kind == 2:
            del data[at : at + dice.choice([1, 4, 100, 4096])]
        elif kind == 3:
            data[at:at] = data[at : at + dice.choice([1, 16, 4096])]
        elif kind == 4:
            del data[at:]
        else:
            from_ = dice.randrange(len(data)) if data else 0
            data[at : at + 4096] = data[from_ : from_ + 4096]
    return bytes(data)


def damaged_json(data, dice):
    """Numbers and strings replaced by others that are still JSON; now and then the bytes as well."""
    for _ in range(dice.choice([1, 2, 5])):
        pattern, pool = dice.choice([(rb"-?\d+(\.\d+)?", NUMBERS), (rb'"[^"\\]*"', STRINGS), (rb'"[^"\\]*"', NUMBERS)])
        found = re.compile(pattern).search(data, dice.randrange(max(len(data), 1)))
        if found:
            data = data[: found.start()] + dice.choice(pool) + data[found.end() :]
    return damaged_bytes(data, dice) if dice.random() < 0.2 else data


def damaged_gzip(data, dice):
    if dice.random() < 0.3:
        return damaged_bytes(data, dice)
    return gzip.compress(damaged_json(gzip.decompress(data), dice), 1)


def damaged_rows(data, dice):
    """A value of a table's rows replaced by an extreme one, a table emptied or gone; what SQLite itself writes."""
    values = [None, 0, -1, 2**63 - 1, -(2**63), 2**61, 1.5e308, "", "x" * 2000, b"\xff\xfe", "9" * 30]
    with tempfile.NamedTemporaryFile(suffix=".db") as file:
        pathlib.Path(file.name).write_bytes(data)
        with sqlite3.connect(file.name) as base:
            tables = [name for (name,) in base.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
            for _ in range(dice.choice([1, 2, 6])):
                table = dice.choice(tables)
                columns = [row[1] for row in base.execute(f'PRAGMA table_info("{table}")')]
                column = dice.choice(columns)
                kind = dice.randrange(8)
                try:
                    if kind == 0:
                        base.execute(f'DROP TABLE "{table}"')
                        tables.remove(table)
                    elif kind == 1:
                        base.execute(f'DELETE FROM "{table}"')
                    elif kind == 2:
                        base.execute(f'ALTER TABLE "{table}" RENAME COLUMN "{column}" TO "gone"')
                    else:
                        every = dice.choice([1, 2, 7])
                        base.execute(f'UPDATE "{table}" SET "{column}" = ? WHERE rowid % {every} = 0',
                                     (dice.choice(values),))
                except sqlite3.Error:
                    pass  # a table that takes no such value
        base.close()
        return pathlib.Path(file.name).read_bytes()


def damaged_database(data, dice):
    return damaged_rows(data, dice) if dice.random() < 0.5 else damaged_bytes(data, dice)


def damaged_safetensors(data, dice):
    """Half of the damage in the header, which says what the bytes behind it are."""
    length = int.from_bytes(data[:8], "little")
    header = data[8 : 8 + length]
    if dice.random() < 0.5:
        header = damaged_json(header, dice)
        return len(header).to_bytes(8, "little") + header + data[8 + length :]
    return damaged_bytes(data, dice)


def nsys_export(path):
    """An export with a few kernels, their launches and ranges, in the schema of nsys 2026."""
    base = sqlite3.connect(path)
    base.executescript((ROOT / "tests/golden/nsys_3_25.sql").read_text())
    base.executescript((ROOT / "tests/golden/shorthand.sql").read_text())
    for i in range(20):
        base.execute("INSERT INTO kernel (start, end, name) VALUES (?, ?, ?)",
                     (1000 * i + 200, 1000 * i + 900, f"gemm{i % 3}"))
    base.commit()
    base.close()


class Format:
    """Files to damage, how, and what reads them: words, {} is the damaged file."""

    def __init__(self, seeds, damage, commands, place=None):
        self.seeds, self.damage, self.commands = seeds, damage, commands
        self.place = place  # lays the damaged file where it is looked for; gives what {} stands for

    def put(self, folder, seed, data):
        if self.place:
            return self.place(folder, seed, data)
        path = folder / seed.name
        path.write_bytes(data)
        return path


def in_experiment(folder, seed, data):
    copy = folder / "experiment"
    shutil.copytree(EXPERIMENT, copy)
    (copy / seed.relative_to(EXPERIMENT)).write_bytes(data)
    return copy


def as_settings(folder, _, data):
    (folder / ".swinscope.toml").write_bytes(data)
    return TRACE


def in_data_set(base):
    def place(folder, seed, data):
        copy = folder / "data"
        shutil.copytree(base, copy)
        (copy / seed.relative_to(base)).write_bytes(data)
        return copy
    return place


READ = ["info {}", "analyze {}", "kernels {}", "layers {}", "launches {}", "gaps {}", "collectives {}", "ranges {}",
        "critical-path {}", "advise {}", "report {} -o OUT.html", "query {} SELECT+count(*)+FROM+sqlite_master",
        "export {} --format perfetto -o OUT", "import {} -o OUTDIR"]
TRAIN = "swin train --device cpu --model swin_nano --batch 8 --threads 1 -q"


def formats(programs, work):
    """Of what BIN_DIR has the programs."""
    nsys = work / "export.sqlite"
    nsys_export(nsys)
    settings = work / "settings.toml"
    settings.write_text('top = 5\nnames = "short"\ncolor = "never"\n[kernels]\nsort = "total"\n')
    ledger = work / "ledger.json"
    run([programs / "swinscope", "advise", TRACE, "--ledger", ledger], work, 120)
    known = {
        "trace": Format([TRACE, DATA / "swinscope_captured_allreduce_2gpu/rank0.db"], damaged_database, READ),
        "nsys": Format([nsys], damaged_database, READ),
        "kineto": Format([DATA / "pytorch_captured_allreduce_2gpu/rank0.kineto.json.gz",
                          DATA / "pytorch_swin_tiny_graph_1gpu.kineto.json.gz"], damaged_gzip, READ),
        "peaks": Format(sorted((DATA / "peaks").glob("*.json")), damaged_json, [f"advise {TRACE} --peaks {{}}"]),
        "experiment": Format([EXPERIMENT / "experiment.json", *sorted(EXPERIMENT.glob("*/point.json"))], damaged_json,
                             ["analyze {}", "report {} -o OUT.html", "predict {} --gpus 8"], in_experiment),
        "settings": Format([settings], damaged_bytes, ["info {}", "kernels {}"], as_settings),
    }
    if ledger.exists():
        known["ledger"] = Format([ledger], damaged_json, [f"advise --check {{}} {TRACE}"])
    if (programs / "swin").exists():
        images = work / "images"
        run([programs / "swin", "make-data", images, "--images", "20", "--size", "64", "-q"], work, 120)
        shown = sorted(images.rglob("*.jpg"))
        if shown:
            known["jpeg"] = Format(shown[:8], damaged_bytes, [f"{TRAIN} --images 8 --data {{}}"], in_data_set(images))
            folder = work / "checkpoint"
            run([*f"{programs / 'swin'} {TRAIN[5:]} --images 8 --checkpoint {folder}".split(), "--data", images], work, 300)
            for saved in folder.glob("*.safetensors"):
                known["checkpoint"] = Format([saved], damaged_safetensors,
                                             [f"{TRAIN} --images 8 --data {images} --resume --checkpoint {{}}"], as_checkpoint)
    return known


def as_checkpoint(folder, seed, data):
    (folder / "saved").mkdir()
    (folder / "saved" / seed.name).write_bytes(data)
    return folder / "saved"


def run(words, folder, limit, is_sanitized=True):
    def limits():
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        ctypes.CDLL(None).personality(0x0040000)  # addresses as sanitizers expect them, whatever the kernel's settings
        if not is_sanitized:  # which maps terabytes
            resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    environment = {"PATH": os.environ["PATH"], "HOME": str(folder), "TMPDIR": str(folder),
                   "LD_LIBRARY_PATH": os.environ.get("LD_LIBRARY_PATH", ""),
                   "ASAN_OPTIONS": "detect_leaks=0:hard_rss_limit_mb=4096", "UBSAN_OPTIONS": "halt_on_error=1"}
    try:
        done = subprocess.run([str(word) for word in words], cwd=folder, env=environment, timeout=limit,
                              stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                              preexec_fn=limits)
    except subprocess.TimeoutExpired:
        return "too long", ""
    return done.returncode, done.stderr.decode("utf-8", "replace")


def fault_of(status, stderr):
    for sign in SIGNS:
        if sign in stderr:
            return f"it says: {stderr[max(0, stderr.index(sign) - 100):][:300]}"
    if status in (0, 1, 2, 3):
        return None
    return f"exit {status}: {stderr[-300:]}"


def try_one(number, name, form, options, is_sanitized):
    """Number -1: the file as it is."""
    dice = random.Random(f"{options.seed} {number}")
    seed, command = dice.choice(form.seeds), dice.choice(form.commands)
    data = seed.read_bytes()
    if number >= 0:
        data = form.damage(data, dice)
    else:
        command = form.commands[0]
    with tempfile.TemporaryDirectory(prefix="mutated-") as place:
        folder = pathlib.Path(place)
        path = form.put(folder, seed, data)
        words = [word.replace("{}", str(path)).replace("+", " ").replace("OUT", str(folder / "out"))
                 for word in command.split()]
        program = words.pop(0) if words[0] == "swin" else "swinscope"
        status, stderr = run([options.programs / program, *words], folder, options.limit, is_sanitized)
    fault = fault_of(status, stderr)
    if number < 0 and status != 0:
        fault = f"undamaged, exit {status}: {stderr[-300:]}"
    if fault:
        (options.keep / f"{name}-{options.seed}-{number}-{seed.name}").write_bytes(data)
    return name, status, fault and f"{name} {number}, {seed.name}, `{command}`: {fault}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("programs", type=lambda text: pathlib.Path(text).resolve())
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--formats", default="")
    parser.add_argument("--limit", type=float, default=60)
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--keep", type=pathlib.Path, default=ROOT / "build/mutated")
    options = parser.parse_args()
    if not os.access(options.programs / "swinscope", os.X_OK):
        print(f"error: {options.programs / 'swinscope'}: no such program\n  hint: build it, or name the folder of another build", file=sys.stderr)
        return 2
    is_sanitized = b"__asan_init" in (options.programs / "swinscope").read_bytes()
    options.keep.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="mutated-") as place:
        known = formats(options.programs, pathlib.Path(place))
        names = [name for name in known if not options.formats or name in options.formats.split(",")]
        print(f"{options.count} files of {', '.join(names)}, {'with' if is_sanitized else 'without'} sanitizers")
        counts, faults = collections.Counter(), []
        with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
            tried = [pool.submit(try_one, i, names[i % len(names)], known[names[i % len(names)]], options, is_sanitized)
                     for i in range(options.count)]
            tried += [pool.submit(try_one, -1, name, known[name], options, is_sanitized) for name in names]
            for one in concurrent.futures.as_completed(tried):
                name, status, fault = one.result()
                counts[name, str(status)] += 1
                if fault:
                    faults.append(fault)
                    print(f"fault: {fault}", flush=True)
    summary = ["| format | runs | by exit status |", "|---|---|---|"]
    for name in names:
        statuses = {status: count for (of, status), count in sorted(counts.items()) if of == name}
        summary.append(f"| {name} | {sum(statuses.values())} | {', '.join(f'{status}: {count}' for status, count in statuses.items())} |")
    summary.append(f"| all | {counts.total()} | {len(faults)} faults |")
    (options.keep / "summary.md").write_text("\n".join(summary) + "\n")
    print("\n".join(summary))
    print(f"{len(faults)} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
