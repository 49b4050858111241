#!/usr/bin/env python3
"""usage: performance_tables.py [--check] [FOLDER PAGE]
Writes docs/performance.md and docs/performance-tools.md from data/benchmarks/*.json, one file a table, in the order of
their names; --check only says whether the pages are up to date. FOLDER PAGE: all files of a folder into one page.
data/README.md describes the files' fields."""
import json
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
HINT = "hint: run scripts/performance_tables.py"
FIELDS = {"title", "question", "machine", "commands", "commit", "details", "columns", "rows", "remarks"}
HEAD = """# {title}

One table answers one question, on the machine that it names. The page is written by `scripts/performance_tables.py` from
[data/benchmarks/](../data/README.md#benchmarks). {beside}
"""
PAGES = [  # which files stand on it, its title, what to read beside it
    ("docs/performance.md", "[1-3]*.json", "Performance",
     "[How the kernels work](kernels/README.md), [what was tried](notes/README.md), "
     "[how fast recording and analysis are](performance-tools.md)."),
    ("docs/performance-tools.md", "[4-9]*.json", "Performance of recording and analysis",
     "[How fast the workloads are](performance.md), [what was tried](notes/README.md).")]


class Mistake(Exception):
    pass


def text_of(value):
    """A number as the file has it; whole ones from 10,000 on with commas. A missing value is an empty cell."""
    if value is None:
        return ""
    if isinstance(value, str) and value.isdigit() and len(value) > 4:
        return f"{int(value):,}"
    return value


def heading(column):
    return column["name"] + (f" ({column['unit']})" if column.get("unit") else "")


def section(path):
    # Numbers stay text: 34.70 is not 34.7.
    table = json.loads(path.read_text(), parse_float=str, parse_int=str)
    if missing := FIELDS - {"remarks"} - table.keys():
        raise Mistake(f"{path.name}: missing: {', '.join(sorted(missing))}")
    if unknown := table.keys() - FIELDS:
        raise Mistake(f"{path.name}: unknown: {', '.join(sorted(unknown))}")
    columns = table["columns"]
    lines = [f"## {table['title']}", table["question"], ""]
    lines += ["| " + " | ".join(heading(column) for column in columns) + " |", "|---" * len(columns) + "|"]
    for row in table["rows"]:
        if len(row["values"]) != len(columns):
            raise Mistake(f"{path.name}: {row['values'][0]}: {len(row['values'])} values in {len(columns)} columns")
        lines.append("| " + " | ".join(text_of(value) for value in row["values"]) + " |")
    commands = ", ".join(f"`{command}`" for command in table["commands"])
    commit = f"`{table['commit']}`" if table["commit"] else "more than one"
    facts = [f"Machine: {table['machine']}.", f"Command: {commands}.", f"Commit: {commit}.",
             f"Details: {', '.join(table['details'])}."]
    return lines + ["", " ".join(table.get("remarks", []) + facts), ""]


def page_of(paths, title, beside):
    return HEAD.format(title=title, beside=beside) + "\n" + "\n".join(line for path in paths for line in section(path)).rstrip() + "\n"


def is_written(folder, page, pattern, title, beside, check):
    paths = sorted(folder.glob(pattern))
    try:
        if not paths:
            raise Mistake(f"{folder}: no tables")
        text = page_of(paths, title, beside)
    except (Mistake, json.JSONDecodeError, KeyError) as mistake:
        print(f"error: {mistake}", file=sys.stderr)
        return False
    if not check:
        page.write_text(text)
    elif not page.exists() or page.read_text() != text:
        print(f"error: {page} is not what {folder} says\n  {HINT}", file=sys.stderr)
        return False
    print(f"{page} is up to date")
    return True


def main(arguments):
    check = arguments[:1] == ["--check"]
    places = [pathlib.Path(argument) for argument in arguments[check:]]
    if len(places) == 2:
        return 0 if is_written(*places, "*.json", PAGES[0][2], "", check) else 1
    if places:
        print(f"error: {places[0]}: FOLDER PAGE, or nothing\n  {__doc__.splitlines()[0]}", file=sys.stderr)
        return 2
    done = [is_written(ROOT / "data/benchmarks", ROOT / page, pattern, title, beside, check)
            for page, pattern, title, beside in PAGES]
    return 0 if all(done) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
