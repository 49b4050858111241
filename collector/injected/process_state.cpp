#include "collector/injected/process_state.h"

#include <cerrno>
#include <new>

#include <pthread.h>
#include <sys/mman.h>

namespace swinscope {
namespace {

constexpr int kWipeOnFork = 18;  // MADV_WIPEONFORK, younger than some C libraries

std::atomic<ProcessState*> page = nullptr;

// Before Linux 4.14, where a child made without handlers is taken for its parent.
void wipe_in_child() {
  void* memory = page.load();
  if (memory != nullptr) new (memory) ProcessState();
}

static_assert(sizeof(ProcessState) <= kPageBytes);

ProcessState* make_page() {
  const int before = errno;
  void* memory = mmap(nullptr, kPageBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  const bool is_wiped = memory != MAP_FAILED && madvise(memory, kPageBytes, kWipeOnFork) == 0;
  errno = before;
  if (memory == MAP_FAILED) return nullptr;
  ProcessState* none = nullptr;
  auto* const made = new (memory) ProcessState();
  if (page.compare_exchange_strong(none, made)) {
    if (!is_wiped) pthread_atfork(nullptr, nullptr, &wipe_in_child);
    return made;
  }
  munmap(memory, kPageBytes);
  return none;
}

}  // namespace

ProcessState* process_state() noexcept {
  ProcessState* known = page.load(std::memory_order_acquire);
  return known != nullptr ? known : make_page();
}

}  // namespace swinscope
