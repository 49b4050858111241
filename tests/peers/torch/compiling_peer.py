"""Processes that compile a PyTorch program, say `ready`, and then answer each line of their input with a measurement."""
import os
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..", "scripts"))
from quiet_gpu import need_quiet_gpu  # noqa: E402,F401  what is compiled is timed next


class CompilingPeer:
    """A worker process and what it said. case: what it is compared in, (model, batch…); name: its configuration."""

    def __init__(self, case, name, command):
        self.case, self.name, self.command = case, name, command
        self.log = tempfile.TemporaryFile("w+")
        self.process = None
        self.ready = False
        self.started = 0.0
        self.compile_seconds = 0.0
        self.stopped_after = None

    def __str__(self):
        return " ".join(str(part) for part in (*self.case, self.name))

    def start(self):
        # Each would take a thread a core.
        environment = dict(os.environ, TORCHINDUCTOR_COMPILE_THREADS=os.environ.get("TORCHINDUCTOR_COMPILE_THREADS", "4"))
        self.started = time.monotonic()
        self.process = subprocess.Popen(self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.log,
                                        text=True, env=environment)
        threading.Thread(target=self.wait_until_ready, daemon=True).start()

    def answer(self, word):
        """The rest of the next line that begins with `word`; None at the end. PyTorch may print lines of its own."""
        for line in self.process.stdout:
            if line.split()[:1] == [word]:
                return line[len(word):].strip()
        return None

    def ask(self, word):
        """Has it measure; None where it has ended."""
        try:
            self.process.stdin.write("time\n")
            self.process.stdin.flush()
            return self.answer(word)
        except OSError:
            return None

    def wait_until_ready(self):
        is_ready = self.answer("ready") is not None
        self.compile_seconds = time.monotonic() - self.started
        self.ready = is_ready

    def running(self):
        return self.process is not None and not self.ready and self.process.poll() is None

    def enforce(self, limit):
        if self.running() and time.monotonic() - self.started > limit:
            self.stopped_after = limit
            self.stop()

    def why(self):
        self.log.seek(0)
        said = self.log.read()
        tuned = said.count("AUTOTUNE ")  # PyTorch says so of each product once it has timed it
        far = f" ({tuned} products were tuned)" if tuned else ""
        if self.stopped_after is not None:
            return f"not compiled within {self.stopped_after:.0f} s{far}"
        if self.process is None or self.process.poll() is None:
            return f"not compiled in time{far}"
        return f"ended with {self.process.returncode}: {said.strip()[-300:]}"

    def stop(self):
        if self.process is not None:
            self.process.kill()
            self.process.wait()


def compile_peers(peers, jobs, deadline, limit=float("inf")):
    """Starts them, `jobs` at a time, until each is ready or has ended or took longer than `limit`, or the time (monotonic) is over.
    Returns of each that is not ready why; those still compiling are stopped. Says of each when it is ready."""
    waiting, said = list(peers), set()
    while time.monotonic() < deadline:
        while waiting and sum(peer.running() for peer in peers) < jobs:
            waiting.pop(0).start()
        is_over = not waiting and not any(peer.running() for peer in peers)
        for peer in peers:
            peer.enforce(limit)
            if peer.ready and peer not in said:
                said.add(peer)
                print(f"compiled in {peer.compile_seconds:.0f} s: {peer}", flush=True)
        if is_over:
            break
        time.sleep(0.2)
    left_out = {peer: peer.why() for peer in peers if not peer.ready}
    for peer in left_out:
        peer.stop()
    return left_out


def wait_for_file(path):
    """Where something else uses the GPU at first."""
    while path and not os.path.exists(path):
        time.sleep(0.2)
