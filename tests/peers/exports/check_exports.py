#!/usr/bin/env python3
"""Reads the exports of `swinscope export` with the programs that they are for, and compares what these say with our own.

usage: check_exports.py --swinscope PATH [RUN...] [--venv DIR] [--hta-venv DIR] [--show]

RUN is anything that swinscope opens; without it, recordings of data/. Packages are installed from requirements.txt (pinned)
into a virtual environment on first use, which needs the network. For each run:

  tables    the Parquet files are read by pyarrow and by duckdb, and say what the CSV files say, cell by cell; rows of
            gpu_events, cuda_calls and ranges are as many as the records of `swinscope info`
  hta       Holistic Trace Analysis on the Kineto export gives the figures of `swinscope analyze --definition hta` on the run
  import    `analyze`, `kernels` and `launches` of the Kineto export are those of the run
  perfetto  Perfetto's trace processor reads the export without an error and has as many slices, flows and counters as the
            file; left out, which is said, where its binary cannot be fetched

exit: 0 all equal; 1 something differs; 2 wrong usage, or a tool cannot be run.
"""
import argparse
import csv
import gzip
import hashlib
import json
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
REPOSITORY = HERE.parents[2]
sys.path.insert(0, str(HERE.parent / "hta"))
import compare_hta  # noqa: E402  (after its folder is known)

DEFAULT_RUNS = ["swinscope_swin_tiny_ddp_2gpu", "pytorch_swin_tiny_ddp_2gpu", "swinscope_swin_tiny_graph_1gpu.db",
                "pytorch_swinv2b_upernet_amp_1gpu.kineto.json.gz"]
REQUIREMENTS = HERE / "requirements.txt"


class Report:
    """Prints one line a check and remembers whether all were right."""

    def __init__(self):
        self.failures = 0

    def check(self, title, faults, said):
        print(f"  {title:9} {said if not faults else f'{len(faults)} DIFFER'}")
        for fault in faults[:10]:
            print(f"            {fault}")
        self.failures += bool(faults)


def prepare_venv(folder):
    """Creates or updates the environment; returns its python. A stamp keeps later runs off the network."""
    python = folder / "bin" / "python"
    stamp = folder / "requirements.sha256"
    wanted = hashlib.sha256(REQUIREMENTS.read_bytes()).hexdigest()
    if not (python.exists() and stamp.exists() and stamp.read_text(encoding="ascii") == wanted):
        print(f"installing readers into {folder}", file=sys.stderr)
        compare_hta.run_process([sys.executable, "-m", "venv", "--clear", folder])
        compare_hta.run_process([python, "-m", "pip", "install", "--quiet", "-r", REQUIREMENTS])
        stamp.write_text(wanted, encoding="ascii")
    return python


def swinscope(program, *words):
    done = subprocess.run([program, *map(str, words)], capture_output=True, text=True, check=False)
    if done.returncode not in (0, 3):
        raise compare_hta.ToolError(f"exit {done.returncode}: swinscope {' '.join(map(str, words))}\n{done.stderr[-1000:]}")
    return done.stdout


def document(program, run, *words):
    """The data of a command on a run, without what names the run itself."""
    data = json.loads(swinscope(program, *words, run, "--format", "json", "-q"))["data"]

    def strip(value):
        if isinstance(value, dict):
            return {key: strip(part) for key, part in value.items() if key not in ("evidence", "evidence_command", "kind", "path", "files")}
        return [strip(part) for part in value] if isinstance(value, list) else value

    return strip(data)


def check_import(program, run, export, report):
    faults = [command for command in ("analyze", "kernels", "launches", "info")
              if document(program, run, command) != document(program, export, command)]
    report.check("import", faults, "analyze, kernels, launches and info are the same")


def check_hta(program, run, export, python, scratch, report):
    output = pathlib.Path(scratch) / "hta.json"
    compare_hta.run_process([python, HERE.parent / "hta" / "hta_tables.py", export, "-o", output, "--every-kernel"])
    theirs = json.loads(output.read_text(encoding="utf-8"))
    ours = compare_hta.Swinscope(program, run, scratch).tables()
    results = list(compare_hta.compare_tables(theirs, ours, 0.001))
    faults = [f"{result[0]} {result[1]} {result[2]}: HTA {result[3]}, ours {result[4]}" for result in results if not result[6]]
    report.check("hta", faults, f"{len(results)} figures of HTA are ours")
    for row in theirs["temporal_breakdown"]:
        print(f"            rank {row['rank']}: compute {row['compute_time_pctg']} %, other kernels {row['non_compute_time_pctg']} %, "
              f"idle {row['idle_time_pctg']} %")


def count_events(path):
    opened = gzip.open if path.suffix == ".gz" else open
    with opened(path, "rt", encoding="utf-8") as source:
        events = json.load(source)["traceEvents"]
    counts = {}
    for event in events:
        counts[event["ph"]] = counts.get(event["ph"], 0) + 1
    return counts


def check_perfetto(python, trace, show, report):
    counts = count_events(trace)
    done = subprocess.run([python, HERE / "perfetto_counts.py", trace] + (["--show"] if show else []), capture_output=True,
                          text=True, check=False)
    if done.returncode == 2:
        print(f"  perfetto  left out: {done.stderr.strip().splitlines()[-1] if done.stderr else 'no trace processor'}")
        return
    if done.returncode != 0:
        raise compare_hta.ToolError(f"perfetto_counts.py: {done.stderr[-1000:]}")
    theirs = json.loads(done.stdout.splitlines()[0])
    print("\n".join(done.stdout.splitlines()[1:]))
    expected = {"slices": counts.get("X", 0) + counts.get("i", 0), "flows": counts.get("s", 0), "counters": counts.get("C", 0)}
    faults = [f"{what}: {theirs[what]} read, {count} written" for what, count in expected.items() if theirs[what] != count]
    faults += theirs["errors"]
    report.check("perfetto", faults, f"{expected}")


def cell_text(value):
    """A value of a Parquet file as it stands in CSV."""
    if value is None:
        return ""
    if isinstance(value, str) and value[:1] in tuple("=+-@\t\r"):
        return "'" + value
    return value if isinstance(value, str) else str(value)


def same_cell(parquet, text):
    if isinstance(parquet, float):
        return text != "" and float(text) == parquet
    return cell_text(parquet) == text


def check_tables(program, run, folder, report):
    import duckdb
    import pyarrow.parquet

    swinscope(program, "export", run, "--format", "csv", "-o", folder / "csv", "-q")
    swinscope(program, "export", run, "--format", "parquet", "-o", folder / "parquet", "-q")
    faults = []
    cells = 0
    for path in sorted((folder / "parquet").glob("*.parquet")):
        arrow = pyarrow.parquet.read_table(path)
        duck = duckdb.sql(f"SELECT * FROM '{path}'").fetchall()
        with open(folder / "csv" / f"{path.stem}.csv", newline="", encoding="utf-8") as source:
            header, *rows = csv.reader(source)
        if arrow.column_names != header or len(rows) != arrow.num_rows or len(duck) != len(rows):
            faults.append(f"{path.stem}: {len(rows)} rows of CSV, {arrow.num_rows} by pyarrow, {len(duck)} by duckdb")
            continue
        columns = [column.to_pylist() for column in arrow.columns]
        for number, row in enumerate(rows):
            values = tuple(column[number] for column in columns)
            cells += len(row)
            if values != duck[number] or not all(map(same_cell, values, row)):
                faults.append(f"{path.stem} row {number}: pyarrow {values}, duckdb {duck[number]}, CSV {row}")
    counts = duckdb.sql(f"SELECT count(*) FROM '{folder}/parquet/gpu_events.parquet'").fetchall()[0][0]
    expected = document(program, run, "info")["gpu_events"]
    if counts != expected:
        faults.append(f"gpu_events: {counts} rows, `info` says {expected}")
    report.check("tables", faults, f"{cells} cells of pyarrow, duckdb and CSV are equal")


def check_run(options, run, hta_python, report):
    print(run.name)
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        check_tables(options.swinscope, run, folder, report)
        swinscope(options.swinscope, "export", run, "--format", "kineto", "-o", folder / "kineto", "-q")
        check_import(options.swinscope, run, folder / "kineto", report)
        check_hta(options.swinscope, run, folder / "kineto", hta_python, scratch, report)
        swinscope(options.swinscope, "export", run, "--format", "perfetto", "-o", folder / "trace.json.gz", "-q")
        check_perfetto(sys.executable, folder / "trace.json.gz", options.show, report)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("runs", nargs="*", type=pathlib.Path, help="default: recordings of data/")
    parser.add_argument("--swinscope", required=True, type=pathlib.Path, help="the built program")
    parser.add_argument("--venv", type=pathlib.Path, default=REPOSITORY / "build" / "peers" / "exports-venv")
    parser.add_argument("--hta-venv", type=pathlib.Path, default=compare_hta.DEFAULT_VENV)
    parser.add_argument("--show", action="store_true", help="print the tracks that Perfetto shows")
    options = parser.parse_args()
    options.swinscope = options.swinscope.resolve()
    try:
        python = prepare_venv(options.venv.absolute())
        if pathlib.Path(sys.prefix).resolve() != options.venv.resolve():
            return subprocess.run([python, *sys.argv], check=False).returncode
        hta_python = compare_hta.prepare_venv(options.hta_venv.absolute())
        report = Report()
        for run in options.runs or [REPOSITORY / "data" / name for name in DEFAULT_RUNS]:
            check_run(options, run.resolve(), hta_python, report)
    except compare_hta.ToolError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    return 1 if report.failures else 0


if __name__ == "__main__":
    sys.exit(main())
