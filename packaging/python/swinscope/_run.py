"""A run, and its tables in the form that the caller has a library for."""
import importlib.util
import os

from swinscope import _program

_KINDS = {"arrow": "pyarrow", "pandas": "pandas"}


class Run:
    """A trace file, run folder, experiment or foreign trace; nothing is kept in memory of it."""

    def __init__(self, path):
        self.path = os.fspath(path)

    def __repr__(self):
        return f"swinscope.open({self.path!r})"

    def document(self, command, *arguments):
        """What `swinscope COMMAND RUN ARGUMENTS --format json` prints."""
        return _program.document(command, self.path, *arguments)

    def tables(self):
        """The names that table() knows, each with the definition of its figures."""
        return _program.document("analyze", "--list")["data"]

    def table(self, name, *arguments, kind=None):
        """A table of `tables()`: `swinscope analyze RUN --table NAME`. The commands `kernels`, `launches` and `gaps` take their own
        arguments, such as "--by", "operation". kind: "arrow", "pandas" or "rows"; None: the first of them that there is."""
        if name in ("kernels", "launches", "gaps"):
            rows = self.document(name, *arguments)["data"]
        else:
            rows = self.document("analyze", "--table", name, *arguments)["data"]
        return _as(rows, kind)

    def query(self, sql, kind=None):
        """The rows of a statement that only reads (docs/schema.md has the tables)."""
        return _as(self.document("query", sql)["data"], kind)


def open(path):
    """The run at `path`. Raises FileNotFoundError."""
    if not os.path.exists(path):
        raise FileNotFoundError(f"{os.fspath(path)}: no such file or folder")
    return Run(path)


def _as(rows, kind):
    if kind is None:
        kind = next((one for one, module in _KINDS.items() if importlib.util.find_spec(module)), "rows")
    if kind == "arrow":
        import pyarrow
        return pyarrow.Table.from_pylist(rows)
    if kind == "pandas":
        import pandas
        return pandas.DataFrame(rows)
    if kind == "rows":
        return rows
    raise ValueError(f"kind is {kind!r}: it is 'arrow', 'pandas' or 'rows'")
