#!/usr/bin/env python3
"""Makes copies of recordings that may be given away or kept in data/: without host names, ids of hardware, paths and variables.

    scripts/publish_recording.py [--steps N] [--update] --to data/NAME run/rank0.db...

Taken out: the host's name, the kernel's version and container, UUIDs and bus addresses of GPUs (each becomes a number), environment
variables but those that say a version, folders in the command and in paths of libraries, names of threads, and the stored timeline
(`swinscope` builds it anew). Kernels, calls, ranges and times stay as they are. With --steps only the first N ranges `step` do, with all
that began before the end of the last one, and what the GPU did for the calls before it.
"""
import argparse
import os
import re
import shutil
import sqlite3
import sys

KEPT_FACTS = re.compile(r"os\.release|cpu\..*|memory\.total_bytes|cuda\.driver|gpu\.\d+\.name|gpu\.links|env\.(CUDA|NCCL)_VERSION")
FOLDERS = re.compile(r"[^\s/:()]*/(?:[^\s/:()]+/)*")


def tables(database):
    return {row[0] for row in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}


def cut(database, steps):
    """Leaves out what began after so many steps, if there are more."""
    ends = database.execute("SELECT n.end FROM NVTX_EVENTS n LEFT JOIN StringIds t ON t.id = n.textId WHERE n.end IS NOT NULL AND "
                            "(coalesce(n.text, t.value) = 'step' OR coalesce(n.text, t.value) LIKE 'step %') ORDER BY n.start LIMIT 1 OFFSET ?", (steps - 1,)).fetchall()
    if not ends:
        return
    (end,), calls = ends[0], "CUPTI_ACTIVITY_KIND_RUNTIME"
    present = sorted(tables(database), key=lambda table: table != calls)  # whose rows say what belongs to them
    kept = f"correlationId NOT IN (SELECT correlationId FROM {calls})" if calls in present else "1"
    for table in present:
        columns = {row[1] for row in database.execute(f"PRAGMA table_info({table})")}
        late = [f"{time} > {end}" for time in ("start", "timestamp") if time in columns]
        if "correlationId" in columns and table != calls:
            late.append(kept)
        if late:
            database.execute(f"DELETE FROM {table} WHERE " + " AND ".join(late))


def update(database):
    """Gives a recording of an older swinscope the tables and columns that the present schema has."""
    schema = sqlite3.connect(":memory:")
    text = open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "store", "schema.sql"), encoding="utf-8").read()
    schema.executescript(text)
    database.executescript(text)
    for table in sorted(tables(schema)):
        there = {row[1] for row in database.execute(f"PRAGMA table_info({table})")}
        for _, column, kind, required, _, _ in schema.execute(f"PRAGMA table_info({table})"):
            if column not in there:
                if required:
                    sys.exit(f"error: {table}.{column} is missing, and may not be NULL\n  hint: record again")
                database.execute(f"ALTER TABLE {table} ADD COLUMN {column} {kind}")
    database.execute("UPDATE TARGET_INFO_GPU SET cuDevice = id WHERE cuDevice IS NULL")


def clean(database, host):
    present = tables(database)
    for table in sorted(name for name in present if name.startswith("SWINSCOPE_TIMELINE")):
        database.execute(f"DELETE FROM {table}")
    if "SWINSCOPE_ENVIRONMENT" in present:
        for (name,) in database.execute("SELECT name FROM SWINSCOPE_ENVIRONMENT").fetchall():
            if not KEPT_FACTS.fullmatch(name):
                database.execute("DELETE FROM SWINSCOPE_ENVIRONMENT WHERE name = ?", (name,))
    if "TARGET_INFO_SYSTEM_ENV" in present:
        database.execute("DELETE FROM TARGET_INFO_SYSTEM_ENV")
    for table in ("TARGET_INFO_GPU", "TARGET_INFO_CUDA_DEVICE"):
        if table not in present:
            continue
        uuids = sorted({row[0] for row in database.execute(f"SELECT uuid FROM {table} WHERE uuid IS NOT NULL")})
        for number, uuid in enumerate(uuids):
            database.execute(f"UPDATE {table} SET uuid = ? WHERE uuid = ?", (f"GPU-00000000-0000-0000-0000-{number:012d}", uuid))
    if "TARGET_INFO_GPU" in present:
        database.execute("UPDATE TARGET_INFO_GPU SET busLocation = NULL")
    for table, column in (("META_DATA_CAPTURE", "value"), ("DIAGNOSTIC_EVENT", "text")):
        if table in present:
            for (text,) in database.execute(f"SELECT DISTINCT {column} FROM {table}").fetchall():
                database.execute(f"UPDATE {table} SET {column} = ? WHERE {column} = ?", (FOLDERS.sub("", text or ""), text))
    if "SWINSCOPE_RUN" in present:
        for (command,) in database.execute("SELECT DISTINCT command FROM SWINSCOPE_RUN").fetchall():
            database.execute("UPDATE SWINSCOPE_RUN SET command = ? WHERE command = ?", (FOLDERS.sub("", command or ""), command))
        database.execute("UPDATE SWINSCOPE_RUN SET host = ?", (host,))
    if "SWINSCOPE_COLLECTOR" in present:
        for name, value in database.execute("SELECT name, value FROM SWINSCOPE_COLLECTOR").fetchall():
            database.execute("UPDATE SWINSCOPE_COLLECTOR SET value = ? WHERE name = ?", (FOLDERS.sub("", str(value)), name))
    if "ThreadNames" in present:
        # A string may be a range's or a domain's name, too ("swinscope" is both): that one is no secret, and it stays.
        ranges = "SELECT textId FROM NVTX_EVENTS WHERE textId IS NOT NULL" if "NVTX_EVENTS" in present else "SELECT 0"
        database.execute("UPDATE StringIds SET value = 'thread' WHERE id <> 0 AND id IN (SELECT nameId FROM ThreadNames) "
                         f"AND id NOT IN ({ranges})")
        database.execute("DELETE FROM ThreadNames")
    database.commit()
    database.execute("PRAGMA page_size = 4096")
    database.execute("VACUUM")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="+", help="trace files")
    parser.add_argument("--to", required=True, help="the copy, or for several files the folder of the copies")
    parser.add_argument("--steps", type=int, default=0, help="keep only so many (default: all)")
    parser.add_argument("--update", action="store_true", help="with the tables and columns of the present schema")
    parser.add_argument("--host", default="host", help="what to write for the host's name (default: host)")
    arguments = parser.parse_args()
    several = len(arguments.files) > 1
    for file in arguments.files:
        target = os.path.join(arguments.to, os.path.basename(file)) if several else arguments.to
        if os.path.exists(target):
            sys.exit(f"error: {target}: exists already\n  hint: name another place, or delete it first")
        try:
            sqlite3.connect(f"file:{file}?mode=ro", uri=True).execute("SELECT 1 FROM SWINSCOPE_RUN")
        except sqlite3.Error as problem:
            sys.exit(f"error: {file}: is no recording of swinscope\n  cause: {problem}")
        os.makedirs(os.path.dirname(target) or ".", exist_ok=True)
        shutil.copyfile(file, target)
        database = sqlite3.connect(target)
        if arguments.update:
            update(database)
        if arguments.steps > 0:
            cut(database, arguments.steps)
        clean(database, arguments.host)
        database.close()
        print(f"{target}: {os.path.getsize(file)} -> {os.path.getsize(target)} bytes")


if __name__ == "__main__":
    main()
