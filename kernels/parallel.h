// The thread pool of the CPU's operations: loops over tasks whose results do not depend on the number of threads, and
// scratch memory that each thread keeps.
#pragma once

#include <cstdint>
#include <type_traits>
#include <utility>

namespace swinscope::cpu {

// The threads that the CPU operations share: the caller of an operation and thread_count() - 1 workers,
// started at the first use and kept. Results never depend on the thread count, because work is cut into tasks
// by shape alone and every reduction adds its partial results in task order.
//
// One operation runs in parallel at a time: a second thread that calls an operation meanwhile runs it alone.
// A forked child starts its own workers. OpenBLAS is limited to the calling thread
// (openblas_set_num_threads(1)) at the first GEMM.

// Default: the CPUs this process is allowed to run on.
int thread_count();

// Sets the thread count, at least 1. Must not be called while an operation runs.
void set_thread_count(int count);

namespace detail {
using TaskFunction = void (*)(const void* body, std::int64_t task);
void run_tasks(std::int64_t count, TaskFunction function, const void* body);
void* thread_scratch(std::int64_t bytes);
}  // namespace detail

// Calls body(task) for every task in [0, count), in any order and on any thread, and returns when all have
// ended. The body must not throw. Nested calls run on the calling thread.
template <typename Body>
void parallel_for(std::int64_t count, const Body& body) {
  detail::run_tasks(
      count, [](const void* erased, std::int64_t task) { (*static_cast<const Body*>(erased))(task); }, &body);
}

// Calls body(begin, end) for consecutive ranges of at most `grain` elements that cover [0, count).
template <typename Body>
void parallel_ranges(std::int64_t count, std::int64_t grain, const Body& body) {
  parallel_for((count + grain - 1) / grain, [&](std::int64_t task) {
    const std::int64_t begin = task * grain;
    body(begin, begin + grain < count ? begin + grain : count);
  });
}

// Uninitialized memory of the calling thread for `count` elements, 64-byte aligned, valid until the next call
// on this thread. It grows to the largest request and is kept: the one allocation inside the operations, in fp32 less
// than 1 MiB a thread for windows of 16 x 16 tokens, and 6 MiB for a convolution of 3072 channels.
template <typename T>
T* thread_scratch(std::int64_t count) {
  static_assert(std::is_trivially_copyable_v<T>);
  return static_cast<T*>(detail::thread_scratch(count * static_cast<std::int64_t>(sizeof(T))));
}

}  // namespace swinscope::cpu
