"""tests/peers/torch/compiling_peer.py, with shells that say when they have compiled."""
import contextlib
import io
import os
import sys
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../peers/torch"))
from compiling_peer import CompilingPeer, compile_peers  # noqa: E402


def peer(name, script):
    return CompilingPeer(("swin_base", 1), name, ["sh", "-c", script])


class CompilingPeers(unittest.TestCase):
    def compile(self, peers, jobs=2, limit=float("inf"), seconds=60):
        said = io.StringIO()
        with contextlib.redirect_stdout(said):
            left_out = compile_peers(peers, jobs, time.monotonic() + seconds, limit)
        for each in peers:
            each.stop()
        return said.getvalue().splitlines(), left_out

    def test_says_what_has_compiled_and_why_the_rest_has_not(self):
        peers = [peer("quick", "echo ready; cat"), peer("broken", "echo no such mode >&2; exit 3")]
        said, left_out = self.compile(peers)
        self.assertEqual(len(said), 1)
        self.assertRegex(said[0], r"^compiled in \d+ s: swin_base 1 quick$")
        self.assertEqual(left_out, {peers[1]: "ended with 3: no such mode"})

    def test_one_that_takes_too_long_says_how_far_it_came(self):
        endless = peer("endless", "echo 'AUTOTUNE mm(1x2, 2x3)' >&2; echo 'AUTOTUNE mm(4x5, 5x6)' >&2; exec sleep 600")
        said, left_out = self.compile([endless], limit=3)
        self.assertEqual(said, [])
        self.assertEqual(left_out, {endless: "not compiled within 3 s (2 products were tuned)"})

    def test_what_was_never_begun(self):
        first, second = peer("first", "exec sleep 600"), peer("second", "echo ready; cat")
        _, left_out = self.compile([first, second], jobs=1, seconds=1)
        self.assertEqual(left_out, {first: "not compiled in time", second: "not compiled in time"})


if __name__ == "__main__":
    unittest.main()
