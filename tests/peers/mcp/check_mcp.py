#!/usr/bin/env python3
"""Talks to `swinscope mcp` with the reference client of the Model Context Protocol (PyPI: mcp).

    tests/peers/mcp/check_mcp.py --swinscope PATH/TO/swinscope [--venv DIR]

Without --venv it uses the package where it is installed, and says so and ends with 77 (skipped) where it is not; with it, a virtual
environment is made on first use (requirements.txt; it needs the network once). It initializes, lists the tools, calls each
tool of a run on data/planted, asks for what must be refused, and compares an answer with --format json. Exit 1: something differs.
"""
import argparse
import asyncio
import json
import os
import subprocess
import sys
import venv

HERE = os.path.dirname(os.path.abspath(__file__))
DATA = os.path.join(HERE, "..", "..", "..", "data")
SKIPPED = 77


def restart_in(folder):
    python = os.path.join(folder, "bin", "python")
    if not os.path.exists(python):
        venv.create(folder, with_pip=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", "-r", os.path.join(HERE, "requirements.txt")], check=True)
    arguments = [word for word in sys.argv[1:] if word != "--venv" and word != folder]
    os.execv(python, [python, os.path.abspath(__file__), *arguments])


async def ask(session, failures):
    hello = await session.initialize()
    print(f"protocol {hello.protocol_version}, {hello.server_info.name} {hello.server_info.version}")
    await session.send_ping()
    tools = (await session.list_tools()).tools
    print(f"{len(tools)} tools")

    def check(holds, what):
        print(("ok    " if holds else "FAILED"), what)
        if not holds:
            failures.append(what)

    runs = await session.call_tool("list_runs", {})
    listed = [row["run"] for row in json.loads(runs.content[0].text)["data"]]
    check("planted/slow_rank/trace/rank0.json" in listed, "list_runs lists the planted traces")
    for tool in tools:
        takes = tool.input_schema.get("required", [])
        if takes != ["run"]:
            continue
        answer = await session.call_tool(tool.name, {"run": "planted/slow_rank/trace"})
        text = answer.content[0].text
        document = {} if answer.is_error else json.loads(text)
        check(answer.is_error and text.startswith("error: ") or document.get("schema", "").startswith("swinscope."), f"{tool.name}")
    # Of recordings of real programs: what to do next, and what a change brought.
    ladder = "swinscope_swin_large_train_ladder/"
    for tool, arguments, said in [
            ("advise", {"run": ladder + "eager.db"}, lambda d: d["data"]["opportunities"] and d["evidence"].startswith("WITH ")),
            ("compare", {"base": ladder + "eager.db", "runs": [ladder + "attention.db"]}, lambda d: "times faster than eager.db" in d["verdict"]),
            ("gate", {"base": ladder + "eager.db", "run": ladder + "eager.db"}, lambda d: d["verdict"].startswith("pass")),
            ("query", {"run": ladder + "eager.db", "sql": "SELECT count(*) AS kernels FROM CUPTI_ACTIVITY_KIND_KERNEL"},
             lambda d: d["data"][0]["kernels"] > 100)]:
        answer = await session.call_tool(tool, arguments)
        text = answer.content[0].text
        check(not answer.is_error and said(json.loads(text)), f"{tool} of recordings in data/")
        if answer.is_error:
            print(text)
    outside = await session.call_tool("info", {"run": "../README.md"})
    check(outside.is_error and "not below" in outside.content[0].text, "a path that leads outside is refused")
    try:
        await session.call_tool("kernels", {"run": 7})
        check(False, "a wrong type is refused")
    except Exception as error:  # the client's own class differs between its versions
        check("run" in str(error), f"a wrong type is refused: {error}")
    verdict = await session.call_tool("analyze", {"run": "planted/host_gaps/trace", "top": 10})
    return verdict.content[0].text


async def main_session(program):
    from mcp import ClientSession, StdioServerParameters
    from mcp.client.stdio import stdio_client
    failures = []
    parameters = StdioServerParameters(command=program, args=["mcp", "--root", DATA])
    async with stdio_client(parameters) as (read, write), ClientSession(read, write) as session:
        answer = await ask(session, failures)
    run = os.path.realpath(os.path.join(DATA, "planted/host_gaps/trace"))
    printed = subprocess.run([program, "analyze", run, "--format", "json"], capture_output=True, text=True, check=True).stdout
    print("ok    the same document as --format json" if answer == printed else "FAILED the document differs")
    return 1 if failures or answer != printed else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--swinscope", required=True)
    parser.add_argument("--venv")
    options = parser.parse_args()
    if options.venv:
        restart_in(options.venv)
    try:
        import mcp  # noqa: F401
    except ImportError:
        print("skipped: the Python package mcp is not installed (pip install mcp, or --venv DIR)")
        return SKIPPED
    return asyncio.run(main_session(os.path.abspath(options.swinscope)))


if __name__ == "__main__":
    sys.exit(main())
