"""Ranges from Python by NVIDIA's nvtx package: nested, with payloads, from four threads. Exits with 23."""
import sys
import threading

import nvtx


def work(thread):
    domain = nvtx.get_domain("python")
    for step in range(10):
        outer = domain.get_event_attributes(message=f"step {thread}", payload=step)
        domain.push_range(outer)
        with nvtx.annotate("forward", domain="python", color="green", payload=step * 0.5):
            with nvtx.annotate("layer", domain="python"):
                pass
        domain.pop_range()


threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
for t in threads:
    t.start()
for t in threads:
    t.join()
nvtx.mark("done")
sys.exit(23)
