#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <csignal>
#include <cstddef>
#include <memory>
#include <mutex>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include <pthread.h>
#include <sched.h>

#include "kernels/check.h"
#include "kernels/parallel.h"

namespace swinscope::cpu {
namespace {

thread_local bool inside_task = false;

int allowed_cpus() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof(set), &set) == 0) return std::max(1, CPU_COUNT(&set));
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

class WorkerPool {
 public:
  explicit WorkerPool(int workers) {
    // Signals are for the threads of the program: one that arrives during a GEMM must find the program's
    // handler on a thread the program knows.
    sigset_t all;
    sigset_t previous;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &previous);
    try {
      for (int i = 0; i < workers; ++i)
        workers_.emplace_back([this, i] { work(i); });
    } catch (const std::system_error&) {
      // Fewer threads than asked for compute the same results.
    }
    pthread_sigmask(SIG_SETMASK, &previous, nullptr);
  }

  ~WorkerPool() {
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
    }
    wake_.notify_all();
    for (std::thread& worker : workers_)
      worker.join();
  }

  WorkerPool(const WorkerPool&) = delete;
  WorkerPool(WorkerPool&&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;
  WorkerPool& operator=(WorkerPool&&) = delete;

  void run(std::int64_t count, detail::TaskFunction function, const void* body) {
    {
      const std::lock_guard lock(mutex_);
      function_ = function;
      body_ = body;
      count_ = count;
      next_.store(0, std::memory_order_relaxed);
      open_ = true;
      ++generation_;
    }
    wake_.notify_all();
    take_tasks();
    std::unique_lock lock(mutex_);
    open_ = false;  // a worker that wakes up only now stays out
    done_.wait(lock, [this] { return active_ == 0; });
  }

 private:
  void take_tasks() {
    inside_task = true;
    for (;;) {
      const std::int64_t task = next_.fetch_add(1, std::memory_order_relaxed);
      if (task >= count_) break;
      function_(body_, task);
    }
    inside_task = false;
  }

  void work(int index) {
    pthread_setname_np(pthread_self(), ("swin-cpu-" + std::to_string(index + 1)).c_str());
    std::uint64_t seen = 0;
    std::unique_lock lock(mutex_);
    for (;;) {
      wake_.wait(lock, [&] { return stopping_ || (open_ && generation_ != seen); });
      if (stopping_) return;
      seen = generation_;
      ++active_;
      lock.unlock();
      take_tasks();
      lock.lock();
      if (--active_ == 0) done_.notify_one();
    }
  }

  std::mutex mutex_;
  std::condition_variable wake_;
  std::condition_variable done_;
  bool stopping_ = false;
  bool open_ = false;
  std::uint64_t generation_ = 0;
  int active_ = 0;
  detail::TaskFunction function_ = nullptr;
  const void* body_ = nullptr;
  std::int64_t count_ = 0;
  std::atomic<std::int64_t> next_{0};
  std::vector<std::thread> workers_;
};

struct PoolState {
  std::mutex in_use;  // held by the operation that has the workers
  int threads = allowed_cpus();
  std::unique_ptr<WorkerPool> pool;
  PoolState* before_fork = nullptr;
};

// Threads do not survive a fork: the child abandons the parent's state, whose locks may be held by threads it
// does not have, and makes its own. It keeps a pointer to the abandoned one, so that no leak checker takes it
// for lost.
std::atomic<PoolState*> state_of_process{nullptr};

struct StateOwner {
  StateOwner() {
    state_of_process = new PoolState;
    pthread_atfork(nullptr, nullptr, [] {
      PoolState* const parent = state_of_process;
      if (parent == nullptr) return;
      auto* const child = new PoolState;
      child->threads = parent->threads;
      child->before_fork = parent;
      state_of_process = child;
    });
  }
  ~StateOwner() { delete state_of_process.exchange(nullptr); }
  StateOwner(const StateOwner&) = delete;
  StateOwner(StateOwner&&) = delete;
  StateOwner& operator=(const StateOwner&) = delete;
  StateOwner& operator=(StateOwner&&) = delete;
};

PoolState& state() {
  static const StateOwner owner;
  return *state_of_process.load();
}

struct alignas(64) CacheLine {
  std::byte bytes[64];
};

}  // namespace

int thread_count() { return state().threads; }

void set_thread_count(int count) {
  require(count >= 1, "set_thread_count", "at least one thread is needed");
  PoolState& pool_state = state();
  const std::lock_guard lock(pool_state.in_use);
  pool_state.pool.reset();
  pool_state.threads = count;
}

namespace detail {

void run_tasks(std::int64_t count, TaskFunction function, const void* body) {
  if (count > 1 && !inside_task) {
    PoolState& pool_state = state();
    const std::unique_lock lock(pool_state.in_use, std::try_to_lock);
    if (lock.owns_lock() && pool_state.threads > 1) {
      if (!pool_state.pool) pool_state.pool = std::make_unique<WorkerPool>(pool_state.threads - 1);
      pool_state.pool->run(count, function, body);
      return;
    }
  }
  for (std::int64_t task = 0; task < count; ++task)
    function(body, task);
}

void* thread_scratch(std::int64_t bytes) {
  thread_local std::vector<CacheLine> memory;
  const std::size_t needed = (static_cast<std::size_t>(bytes) + sizeof(CacheLine) - 1) / sizeof(CacheLine);
  if (memory.size() < needed) memory = std::vector<CacheLine>(needed);
  return memory.data();
}

}  // namespace detail
}  // namespace swinscope::cpu
