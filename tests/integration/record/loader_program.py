"""As torch's DataLoader: four forked workers that inherit RANK, use the CPU and emit ranges. Prints getrusage's CPU
seconds of itself and of the workers."""
import multiprocessing
import resource
import time

import nvtx


def work(number):
    with nvtx.annotate(f"batch {number}", domain="loader"):
        until = time.process_time() + 0.3 + 0.1 * number
        while time.process_time() < until:
            sum(range(1000))


def cpu_seconds(who):
    usage = resource.getrusage(who)
    return usage.ru_utime + usage.ru_stime


context = multiprocessing.get_context("fork")
with nvtx.annotate("epoch", domain="loader"):
    workers = [context.Process(target=work, args=(i,)) for i in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
print(cpu_seconds(resource.RUSAGE_SELF), cpu_seconds(resource.RUSAGE_CHILDREN))
