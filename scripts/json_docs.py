#!/usr/bin/env python3
"""usage: scripts/json_docs.py [--check] [PROGRAM]
Writes the keys in docs/json.md, between its two marks, from documents that the program (default: build/release/bin/swinscope) prints of
the recordings in data/; --check only says whether they are up to date. What stands around them is written by hand."""
import json
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs/json.md"
BEGIN, END = "<!-- Written by scripts/json_docs.py, from here -->", "<!-- to here. -->"
GRAPH, DDP = "data/swinscope_swin_tiny_graph_1gpu.db", "data/pytorch_swin_tiny_ddp_2gpu"
OWN, WEAK = "data/swinscope_swin_tiny_ddp_2gpu", "data/swinscope_swin_large_weak_2gpu"
INFER, UPERNET = "data/swinscope_swin_tiny_infer_1gpu.db", "data/pytorch_swinv2b_upernet_amp_1gpu.kineto.json.gz"
# Each document: what a user calls it, and command lines whose documents have all of its keys between them.
DOCUMENTS = [
    ("analyze RUN", [("analyze", GRAPH), ("analyze", DDP), ("analyze", UPERNET)]),
    ("analyze EXPERIMENT", [("analyze", WEAK)]),
    ("info", [("info", GRAPH), ("info", DDP)]),
    ("kernels", [("kernels", GRAPH), ("kernels", OWN)]),
    ("layers", [("layers", f"{WEAK}/gpus1/tracing"), ("layers", DDP)]),
    ("ranges", [("ranges", GRAPH), ("ranges", INFER)]),
    ("ranks", [("ranks", DDP)]),
    ("stragglers", [("stragglers", DDP), ("stragglers", "data/swinscope_captured_allreduce_2gpu")]),
    ("collectives", [("collectives", DDP), ("collectives", OWN)]),
    ("launches", [("launches", GRAPH)]),
    ("gaps", [("gaps", GRAPH)]),
    ("roofline", [("roofline", f"{WEAK}/gpus1/tracing")]),
    ("critical-path", [("critical-path", GRAPH)]),
    ("advise", [("advise", GRAPH), ("advise", DDP)]),
    ("compare RUN RUN", [("compare", GRAPH, INFER)]),
    ("gate BASE RUN", [("gate", GRAPH, GRAPH), ("gate", GRAPH, INFER)]),
    ("compare EXPERIMENT EXPERIMENT", [("compare", WEAK, "data/swinscope_swinv2b_upernet_weak_2gpu")]),
    ("predict", [("predict", WEAK, "--gpus", "4", "--price", "3.5")]),
    ("platforms", [("platforms",)]),
    ("doctor", [("doctor",)]),
]
# By the end of a key.
UNITS = [("images_per_s", "images/s"), ("tflop_per_s", "TFLOP/s"), ("gbyte_per_s", "GB/s"), ("gb_per_s", "GB/s"), ("_gb_s", "GB/s"),
         ("_gbit_s", "Gbit/s"), ("_per_s", "per second"), ("gflop", "GFLOP"), ("_percent", "percent"), ("_ns", "ns"), ("_us", "us"), ("_ms", "ms"), ("_gbps", "GB/s"), ("_tflops", "TFLOP/s"), ("_bytes", "bytes"),
         ("bytes", "bytes"), ("flops", "FLOP"), ("_hours", "h"), ("_h", "h"), ("_s", "s"), ("_mhz", "MHz"), ("_watts", "W"), ("_w", "W"),
         ("_joules", "J"), ("_j", "J"), ("_c", "°C")]


def documents(program, lines):
    """The documents of the command lines that can say something here; a refusal names what is missing and is no document."""
    for words in lines:
        ended = subprocess.run([program, *words, "--format", "json", "--quiet"], cwd=ROOT, capture_output=True, text=True)
        try:
            yield json.loads(ended.stdout)
        except ValueError:
            raise SystemExit(f"swinscope {' '.join(words)}: {ended.stderr.strip()}") from None


def kind_of(value):
    if isinstance(value, bool):
        return "true or false"
    return {int: "number", float: "number", str: "text", list: "list", dict: "object"}.get(type(value), "")


def collect(value, path, found):
    """{path: kinds} of the keys below `value`, rows as one, two levels deep."""
    if isinstance(value, list):
        for item in value:
            collect(item, path + "[]" if path else "", found)
    elif isinstance(value, dict):
        for key, below in value.items():
            name = f"{path}.{key}" if path else key
            kinds = found.setdefault(name, set())
            if below is not None:
                kinds.add(kind_of(below))
            if name.count(".") < 1:
                collect(below, name, found)


def unit(key):
    last = key.rsplit(".", 1)[-1]
    return next((text for end, text in UNITS if last.endswith(end) and last != text), "")


def shown(key, kinds):
    """`key` (ns): with its unit, or else what it is where that is neither number nor text."""
    if kinds <= {"number"} and unit(key):
        return f"`{key}` ({unit(key)})"
    said = " or ".join(sorted(kinds - {"number", "text"}))
    return f"`{key}` ({said})" if said else f"`{key}`"


def section(title, found):
    """Keys of the first level, then a line for each table or object with what its rows have."""
    plain = [key for key in found if "." not in key]
    below = {}
    for key in found:
        if "." in key:
            above, name = key.split(".", 1)
            below.setdefault(above, []).append((name, found[key]))
    lines = [f"### {title}", "", ", ".join(shown(key, found[key]) for key in plain) + ".", ""]
    for above, names in below.items():
        lines.append(f"- `{above}`: " + ", ".join(shown(name, kinds) for name, kinds in names))
    return "\n".join(lines).rstrip() + "\n"


def written(program):
    parts = []
    for title, lines in DOCUMENTS:
        found = {}
        for document in documents(program, lines):
            collect(document["data"], "", found)
        parts.append(section(title, found))
    return "\n".join(parts)


def main(words):
    check = "--check" in words
    programs = [word for word in words if word != "--check"]
    program = pathlib.Path(programs[0] if programs else ROOT / "build/release/bin/swinscope").resolve()
    page = PAGE.read_text()
    text = re.sub(f"{re.escape(BEGIN)}\n.*{re.escape(END)}", lambda _: f"{BEGIN}\n\n{written(program)}\n{END}", page, flags=re.S)
    if text == page:
        print("docs/json.md is up to date")
    elif check:
        sys.exit("error: the keys in docs/json.md are not those that the program prints\n  hint: run scripts/json_docs.py")
    else:
        PAGE.write_text(text)
        print("docs/json.md is written")


if __name__ == "__main__":
    main(sys.argv[1:])
