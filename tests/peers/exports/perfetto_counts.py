#!/usr/bin/env python3
"""What Perfetto's trace processor finds in a trace, as JSON on the first line. check_exports.py starts it.

usage: perfetto_counts.py TRACE [--show]

--show prints the tracks with their first slices behind it. exit 2: the trace processor cannot be started; its binary is
fetched by the package on first use.
"""
import argparse
import json
import sys


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("trace")
    parser.add_argument("--show", action="store_true")
    options = parser.parse_args()
    try:
        from perfetto.trace_processor import TraceProcessor

        processor = TraceProcessor(trace=options.trace)
    except Exception as error:  # the package raises what urllib, subprocess and sockets raise
        print(f"the trace processor cannot be started: {error}", file=sys.stderr)
        return 2

    def number(sql):
        return next(iter(processor.query(f"SELECT ({sql}) AS n"))).n

    errors = [f"{row.name}: {row.value}" for row in
              processor.query("SELECT name, value FROM stats WHERE severity IN ('error', 'data_loss') AND value > 0")]
    print(json.dumps({"slices": number("SELECT count(*) FROM slice"), "flows": number("SELECT count(*) FROM flow"),
                      "counters": number("SELECT count(*) FROM counter"), "errors": errors}))
    if options.show:
        for row in processor.query("SELECT process.name AS process, thread.name AS thread, count(*) AS slices, min(slice.name) AS first "
                                   "FROM slice JOIN thread_track ON slice.track_id = thread_track.id JOIN thread USING (utid) "
                                   "JOIN process USING (upid) GROUP BY utid"):
            print(f"            {row.process} | {row.thread} | {row.slices} slices | {row.first[:60]}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
