#!/usr/bin/env python3
"""usage: build_wheel.py BUILD OUT
Packs the program, the collector and the libraries that they need (of the build folder) with the Python reader into a wheel. What it
asks of a machine is its name: manylinux_X_Y is the newest glibc that a symbol of any file in it asks for. The same build gives the
same bytes. `swin` is not in it: OpenBLAS would be most of the wheel (the other packages have both)."""
import base64
import csv
import hashlib
import io
import os
import pathlib
import platform
import re
import subprocess
import sys
import tempfile
import zipfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
PROGRAMS = "swinscope/programs"


def version():
    return re.search(r"project\(swinscope VERSION ([\d.]+)", (ROOT / "CMakeLists.txt").read_text()).group(1)


def is_elf(path):
    with path.open("rb") as file:
        return file.read(4) == b"\x7fELF"


def newest_glibc(files):
    """The newest version (2, Y) that a symbol of one of the files asks for."""
    found = {(2, 17)}
    for path in filter(is_elf, files):
        said = subprocess.run(["objdump", "-T", path], check=True, capture_output=True, text=True).stdout
        found.update((int(major), int(minor)) for major, minor in re.findall(r"\bGLIBC_(\d+)\.(\d+)", said))
    return max(found)


def install(build, folder):
    """The parts of the installation that the wheel has, stripped."""
    for component in ("swinscope", "python_libraries"):
        subprocess.run(["cmake", "--install", build, "--prefix", folder, "--component", component, "--strip"],
                       check=True, stdout=subprocess.DEVNULL)
    wanted = [folder / "bin/swinscope", *sorted((folder / "lib/swinscope").rglob("*")), *sorted((folder / "share/swinscope").rglob("*")),
              *sorted((folder / "share/doc/swinscope/libraries").rglob("*"))]
    return [path for path in wanted if path.is_file()]


def metadata():
    readme = (HERE / "README.md").read_text()
    return f"""Metadata-Version: 2.1
Name: swinscope
Version: {version()}
Summary: Profiling and scaling analysis for CUDA deep learning
License: Apache-2.0
Requires-Python: >=3.9
Provides-Extra: arrow
Provides-Extra: pandas
Requires-Dist: pyarrow; extra == "arrow"
Requires-Dist: pandas; extra == "pandas"
Description-Content-Type: text/markdown

{readme}"""


def contents(build, folder):
    """{path in the wheel: (bytes, mode)} and the wheel's tag."""
    installed = install(build, folder)
    files = {}
    for path in sorted((HERE / "swinscope").glob("*.py")):
        files[f"swinscope/{path.name}"] = (path.read_bytes(), 0o644)
    for path in installed:
        files[f"{PROGRAMS}/{path.relative_to(folder)}"] = (path.read_bytes(), 0o755 if is_elf(path) else 0o644)
    major, minor = newest_glibc(installed)
    tag = f"py3-none-manylinux_{major}_{minor}_{platform.machine()}"
    info = f"swinscope-{version()}.dist-info"
    files[f"{info}/METADATA"] = (metadata().encode(), 0o644)
    files[f"{info}/WHEEL"] = (f"Wheel-Version: 1.0\nGenerator: swinscope\nRoot-Is-Purelib: false\nTag: {tag}\n".encode(), 0o644)
    files[f"{info}/entry_points.txt"] = (b"[console_scripts]\nswinscope = swinscope.__main__:main\n", 0o644)
    files[f"{info}/LICENSE"] = ((ROOT / "LICENSE").read_bytes(), 0o644)
    files[f"{info}/RECORD"] = (record(files, info), 0o644)
    return files, tag


def record(files, info):
    lines = io.StringIO()
    out = csv.writer(lines, lineterminator="\n")
    for name, (data, _) in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        out.writerow((name, f"sha256={digest}", len(data)))
    out.writerow((f"{info}/RECORD", "", ""))
    return lines.getvalue().encode()


def main(build, out):
    with tempfile.TemporaryDirectory(prefix="swinscope-wheel-") as name:
        files, tag = contents(build, pathlib.Path(name))
    path = pathlib.Path(out) / f"swinscope-{version()}-{tag}.whl"
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_suffix(".new")
    with zipfile.ZipFile(unfinished, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as wheel:
        for name, (data, mode) in files.items():
            entry = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            entry.external_attr = (0o100000 | mode) << 16
            wheel.writestr(entry, data, zipfile.ZIP_DEFLATED)
    os.replace(unfinished, path)
    print(path)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(pathlib.Path(sys.argv[1]).resolve(), sys.argv[2])
