#!/usr/bin/env python3
"""Runs the report and rule scripts that Nsight Systems ships, on recordings of swinscope.

    tests/peers/nsys_clients/nsys_reports.py --scripts DIR RECORDING.db...

DIR has the folders reports/ and rules/ of an installation of Nsight Systems, or of a copy of them. The scripts are plug-ins of
`nsys stats`; the modules that they import from it (nsysstats, kernel_helper) are stood in for here. For each script one line:
the rows it gave, or the words with which it refused. Exit 1: a script failed, or refused for want of a table that swinscope's
files promise to have.
"""
import argparse
import importlib.util
import os
import re
import sqlite3
import statistics
import sys
import types

# A refusal that names one of these tables is a fault of ours: every recording has them.
PROMISED = ("ENUM_", "StringIds", "TARGET_INFO_GPU", "TARGET_INFO_SYSTEM_ENV", "NVTX_EVENTS", "META_DATA_")


def quantile(fraction):
    """An aggregate of SQL: what so many of the values are below."""

    class Aggregate:
        def __init__(self):
            self.values = []

        def step(self, value):
            if value is not None:
                self.values.append(value)

        def finalize(self):
            values = sorted(self.values)
            if not values:
                return None
            place = fraction * (len(values) - 1)
            low = int(place)
            high = min(low + 1, len(values) - 1)
            return values[low] + (place - low) * (values[high] - values[low])

    return Aggregate


class Deviation:
    def __init__(self):
        self.values = []

    def step(self, value):
        if value is not None:
            self.values.append(value)

    def finalize(self):
        return statistics.stdev(self.values) if len(self.values) > 1 else 0.0


class Report:
    """What the scripts derive from."""

    table_checks = {}
    table_col_checks = {}
    query = None
    statements = []
    _arg_opts = []
    _row_limit = -1  # none

    def __init__(self, file):
        self.file = file
        self.database = sqlite3.connect(f"file:{file}?mode=ro", uri=True)
        # Where a time is between two others: the R-tree of SQLite has 32 bits for it.
        self.database.create_function("rtree_scale", 3, lambda time, low, high: (time - low) / max(high - low, 1))
        self.database.create_aggregate("median", 1, quantile(0.5))
        self.database.create_aggregate("lower_quartile", 1, quantile(0.25))
        self.database.create_aggregate("upper_quartile", 1, quantile(0.75))
        self.database.create_aggregate("stdev", 1, Deviation)
        parser = argparse.ArgumentParser()
        for names, options in self._arg_opts:
            known = {key: value for key, value in options.items() if key in ("action", "type", "default", "nargs", "choices")}
            parser.add_argument(f"--{names[0]}", **known)
        self.parsed_args = parser.parse_args([])
        for name, value in vars(self.parsed_args).items():
            setattr(self.parsed_args, name.replace("-", "_"), value)

    def search_tables(self, pattern):
        return [name for name in self.names() if re.search(pattern, name)]

    def names(self):
        return [row[0] for row in self.database.execute("SELECT name FROM sqlite_master WHERE type IN ('table', 'view')")]

    def table_exists(self, table):
        # A client takes an empty table for one that is not there.
        if table not in self.names():
            return False
        return self.database.execute(f'SELECT EXISTS (SELECT 1 FROM "{table}")').fetchone()[0] == 1

    def table_col_exists(self, table, column):
        return any(row[1] == column for row in self.database.execute(f'PRAGMA table_info("{table}")'))

    def check_table_existence(self, checks):
        missing = [message for table, message in checks.items() if not self.table_exists(table)]
        return (not missing, missing[0] if missing else None)

    def check_columns(self, checks=None):
        for table, columns in (self.table_col_checks if checks is None else checks).items():
            for column, message in columns.items():
                if not self.table_col_exists(table, column):
                    return message
        return None

    def setup(self):
        exists, message = self.check_table_existence(self.table_checks)
        return message if not exists else self.check_columns()

    def rows(self):
        for statement in self.statements:
            self.database.executescript(statement)
        return self.database.execute(self.query).fetchall()

    @classmethod
    def Main(cls):
        raise SystemExit("run it through nsys_reports.py")


def kernel_view(report):
    report.database.execute("CREATE TEMP VIEW CUPTI_ACTIVITY_KIND_KERNEL_NAMED AS SELECT s.value AS name, k.* FROM "
                            "CUPTI_ACTIVITY_KIND_KERNEL k JOIN StringIds s ON s.id = k.demangledName")
    return None


def stand_in():
    stats = types.ModuleType("nsysstats")
    stats.StatsReport = stats.Report = stats.ExpertSystemsReport = Report
    helper = types.ModuleType("kernel_helper")
    helper.create_kernel_view = kernel_view
    sys.modules.update({"nsysstats": stats, "kernel_helper": helper})


def script_class(path):
    spec = importlib.util.spec_from_file_location(os.path.basename(path)[:-3], path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    found = [value for value in vars(module).values() if isinstance(value, type) and issubclass(value, Report) and value is not Report]
    return found[-1] if found else None


def run(path, recording):
    """(rows or None, what was said)"""
    try:
        kind = script_class(path)
    except ModuleNotFoundError as missing:
        return None, f"needs {missing.name} of Nsight Systems, which is not stood in for"
    try:
        if kind is None:
            return None, "is no report"
        report = kind(recording)
        refusal = report.setup()
        if refusal:
            return None, "refuses: " + " ".join(refusal.replace("{DBFILE}", "the file").split())
        return len(report.rows()), "rows"
    except Exception as problem:  # whatever the script does
        return None, f"FAILED: {type(problem).__name__}: {problem}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("recordings", nargs="+")
    parser.add_argument("--scripts", required=True, help="folder with reports/ and rules/ of Nsight Systems")
    arguments = parser.parse_args()
    stand_in()
    paths = [os.path.join(arguments.scripts, folder, name) for folder in ("reports", "rules")
             if os.path.isdir(os.path.join(arguments.scripts, folder))
             for name in sorted(os.listdir(os.path.join(arguments.scripts, folder))) if name.endswith(".py") and not name.startswith("_")]
    if not paths:
        sys.exit(f"error: {arguments.scripts}: no scripts of Nsight Systems\n  hint: name the folder that has reports/ and rules/")
    faults = 0
    for recording in arguments.recordings:
        print(f"## {recording}")
        ran = 0
        for path in paths:
            rows, said = run(path, recording)
            fault = said.startswith("FAILED") or (said.startswith("refuses") and any(name in said for name in PROMISED))
            faults += fault
            ran += rows is not None
            print(f"  {'FAULT ' if fault else ''}{os.path.basename(path)[:-3]}: {said if rows is None else f'{rows} rows'}")
        print(f"  {ran} of {len(paths)} scripts ran")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
