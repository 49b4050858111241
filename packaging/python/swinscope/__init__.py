"""Runs of swinscope as tables. Every figure is the program's own: each call runs `swinscope … --format json`.

    import swinscope
    run = swinscope.open("trace.json.gz")
    run.table("kernels")                        # a pyarrow.Table, or a pandas.DataFrame, or rows: what is installed
    run.table("kernels", "--by", "operation", kind="pandas")
    run.query("SELECT count(*) AS ranges FROM NVTX_EVENTS", kind="rows")
    run.document("analyze")["data"]["verdict"]
"""
from swinscope._program import PROGRAM, Failure, Warned
from swinscope._run import Run, open

__all__ = ["PROGRAM", "Failure", "Run", "Warned", "open"]
