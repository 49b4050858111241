#!/usr/bin/env python3
"""`swinscope ranges` against an independent SQL over the same rows. Usage: ranges_sql_test.py SWINSCOPE [UnittestArgument…]

The SQL knows nothing of trees: a range's path are the ranges of its thread that hold its start, and its GPU events are
those whose launching call begins within it on its thread.
"""
import csv
import io
import pathlib
import sqlite3
import subprocess
import sys
import tempfile
import unittest

SOURCE = pathlib.Path(__file__).resolve().parents[3]
GPU_TABLES = ("KERNEL", "MEMCPY", "MEMSET", "GRAPH_TRACE")
# Of PyTorch's profiler; they are not shown unless asked for.
LEFT_OUT = ("torch.cpu_op", "torch.python_function", "torch.gpu_user_annotation")

RANGES_SQL = """
WITH gpu AS ({gpu}),
ends AS (SELECT max(t) AS last FROM (SELECT max(end) AS t FROM gpu UNION ALL SELECT max(end) FROM CUPTI_ACTIVITY_KIND_RUNTIME
         UNION ALL SELECT max(end) FROM NVTX_EVENTS UNION ALL SELECT max(start) FROM NVTX_EVENTS WHERE eventType IN (59, 60))),
domains AS (SELECT DISTINCT domainId AS id, coalesce(text, (SELECT value FROM StringIds WHERE StringIds.id = textId)) AS name
            FROM NVTX_EVENTS WHERE eventType = 75),
ranges AS MATERIALIZED (
    SELECT n.rowid AS id, start, coalesce(end, (SELECT last FROM ends)) AS end, eventType, globalTid,
           coalesce(text, (SELECT value FROM StringIds WHERE StringIds.id = n.textId)) AS name,
           coalesce((SELECT name FROM domains WHERE domains.id = n.domainId), '') AS domain
    FROM NVTX_EVENTS n WHERE eventType IN (59, 60)),
shown AS MATERIALIZED (SELECT * FROM ranges WHERE domain NOT IN ({left_out})),
launches AS (SELECT globalTid, correlationId, min(start) AS at FROM CUPTI_ACTIVITY_KIND_RUNTIME WHERE correlationId <> 0
             GROUP BY globalTid >> 24, correlationId),
launched AS MATERIALIZED (
    SELECT l.globalTid, l.at, gpu.start, gpu.end FROM gpu JOIN launches l
    ON l.correlationId = gpu.correlationId AND l.globalTid >> 24 = gpu.pid),
paths AS (
    SELECT r.*, CASE WHEN r.eventType = 60 THEN r.name ELSE (
        SELECT group_concat(name, '/') FROM (
            SELECT a.name FROM shown a
            WHERE a.globalTid = r.globalTid AND a.eventType = 59 AND a.start <= r.start AND (a.end > r.start OR a.id = r.id)
              AND (a.start < r.start OR a.end > r.end OR (a.end = r.end AND a.id <= r.id))
            ORDER BY a.start, a.end DESC, a.id)) END AS path
    FROM shown r),
calls AS (
    SELECT p.path, p.domain, p.eventType, p.end - p.start AS host, count(g.at) AS events, sum(g.end - g.start) AS gpu_sum,
           max(g.end) - min(g.start) AS span
    FROM paths p LEFT JOIN launched g ON g.globalTid = p.globalTid AND g.at >= p.start AND g.at < p.end
    GROUP BY p.id)
SELECT path, domain, CASE eventType WHEN 60 THEN 'start/end' ELSE 'push/pop' END, count(*), sum(host),
       coalesce(sum(gpu_sum), 0), coalesce(sum(span), 0), sum(events)
FROM calls GROUP BY 1, 2, 3
"""


def by_sql(file):
    """(path, domain, style) -> (calls, host ns, GPU sum, GPU span, GPU events)."""
    with sqlite3.connect(file) as database:
        there = {row[0] for row in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
        gpu = " UNION ALL ".join(
            # An importer that did not know the process yet has left it out: it is that of the rank.
            "SELECT start, end, correlationId, coalesce(globalPid, (SELECT globalPid FROM SWINSCOPE_RUN)) >> 24 AS pid "
            f"FROM CUPTI_ACTIVITY_KIND_{table}"
            for table in GPU_TABLES if f"CUPTI_ACTIVITY_KIND_{table}" in there)
        rows = database.execute(RANGES_SQL.format(gpu=gpu, left_out=",".join(f"'{name}'" for name in LEFT_OUT)))
        return {tuple(row[:3]): tuple(row[3:]) for row in rows}


def by_program(run, *options):
    """The same of `swinscope ranges`, by rank."""
    command = [SWINSCOPE, "ranges", str(run), "--scope", "trace", "--numbers-apart", "--by-rank", "--format", "csv", *options]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    table = done.stdout.split("# ranges\n")[1]
    result = {}
    for row in csv.DictReader(io.StringIO(table.split("\n#")[0])):
        if row["style"] == "graph":
            continue
        key = (row["path"], row["domain"], row["style"])
        result.setdefault(int(row["rank"]), {})[key] = tuple(
            int(row[column]) for column in ("calls", "host_ns", "gpu_sum_ns", "gpu_span_ns", "gpu_events"))
    return result


class Ranges(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def golden(self, name):
        """The trace of a golden case."""
        file = self.folder / f"{name}.db"
        with sqlite3.connect(file) as database:
            for script in ("store/schema.sql", "tests/golden/shorthand.sql", f"tests/golden/{name}/trace.sql"):
                database.executescript((SOURCE / script).read_text())
        return file

    def check(self, expected, found):
        self.assertGreater(len(expected), 0)
        self.assertEqual(expected, found)

    def test_golden_traces(self):
        for name in ("ranges", "ranges_steps", "ranges_graph"):
            with self.subTest(name):
                file = self.golden(name)
                self.check(by_sql(file), by_program(file)[0])

    def test_own_recordings(self):
        for rank in (0, 1):
            with self.subTest(rank=rank):
                file = SOURCE / f"data/swinscope_swin_tiny_ddp_2gpu/rank{rank}.db"
                self.check(by_sql(file), by_program(file)[rank])
        graph = SOURCE / "data/swinscope_swin_tiny_graph_1gpu.db"
        self.check(by_sql(graph), by_program(graph)[0])

    def test_two_ranks_of_pytorch(self):
        recording = SOURCE / "data/pytorch_swin_tiny_ddp_2gpu"
        run = self.folder / "run"
        subprocess.run([SWINSCOPE, "import", *sorted(map(str, recording.glob("*.gz"))), "-o", str(run)], check=True,
                       capture_output=True)
        found = by_program(recording)
        for rank in (0, 1):
            with self.subTest(rank=rank):
                expected = by_sql(run / f"rank{rank}.db")
                self.check(expected, found[rank])
                # The program launches its forward pass within DDP's own annotation.
                forward = [row for key, row in expected.items() if key[0].endswith("DistributedDataParallel.forward")]
                self.assertGreater(sum(row[2] for row in forward), 1_000_000)

    def test_operators_of_pytorch_are_shown_on_request(self):
        recording = SOURCE / "data/pytorch_swin_tiny_ddp_2gpu"
        domains = {key[1] for rank in by_program(recording).values() for key in rank}
        self.assertEqual(domains, {"torch.user_annotation"})
        run = self.folder / "run"
        subprocess.run([SWINSCOPE, "import", str(recording / "rank0.kineto.json.gz"), "-o", str(run)], check=True,
                       capture_output=True)
        calls = 0
        for key, row in by_program(run, "--operators")[0].items():
            calls += row[0] if key[0].split("/")[-1] == "aten::addmm" else 0
        with sqlite3.connect(run / "rank0.db") as database:
            named = "SELECT count(*) FROM NVTX_EVENTS JOIN StringIds ON id = textId WHERE value = 'aten::addmm'"
            self.assertEqual(calls, database.execute(named).fetchone()[0])


if __name__ == "__main__":
    SWINSCOPE = sys.argv.pop(1)
    unittest.main()
