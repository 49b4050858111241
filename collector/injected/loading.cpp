#include "collector/injected/loading.h"

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <ctime>

#include <pthread.h>

#include "collector/base/clock.h"
#include "collector/base/not_cancelled.h"

namespace swinscope {
namespace {

// Other threads may keep the one that loads from a core. Not every function of NVTX is ours, though: it may have come
// through unseen.
constexpr std::int64_t kMaxWaitNs = 200'000'000;

std::atomic<int> threads_loading = 0;
thread_local bool is_loading = false;

void before_fork() {
  if (is_loading || threads_loading.load() == 0) return;
  const int before = errno;
  const NotCancelled whole;
  const std::int64_t until_ns = monotonic_ns() + kMaxWaitNs;
  while (threads_loading.load() != 0 && monotonic_ns() < until_ns) {
    constexpr timespec kPause = {0, 50'000};
    nanosleep(&kPause, nullptr);
  }
  threads_loading.store(0);
  errno = before;
}

// As early as there is code of ours to run.
__attribute__((constructor)) void library_is_loaded() {
  loading_begins();
  pthread_atfork(&before_fork, nullptr, nullptr);
}

}  // namespace

void loading_begins() noexcept {
  if (is_loading) return;
  is_loading = true;
  threads_loading.fetch_add(1);
}

void loading_ends() noexcept {
  if (!is_loading) return;
  is_loading = false;
  // A fork may have waited for too long, and have forgotten it.
  int count = threads_loading.load();
  while (count > 0 && !threads_loading.compare_exchange_weak(count, count - 1)) {
  }
}

}  // namespace swinscope
