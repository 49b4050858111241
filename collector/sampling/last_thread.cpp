#include "collector/sampling/last_thread.h"

#include <atomic>
#include <cstdint>
#include <string>

#include <fmt/format.h>
#include <unistd.h>

#include "collector/base/clock.h"
#include "collector/base/proc_files.h"
#include "collector/sampling/thread_cpu.h"

namespace swinscope {
namespace {

constexpr std::int64_t kLookNs = 100'000'000;

std::atomic<int> ours = 0;
std::atomic<std::int64_t> last_look_ns = 0;

// "pid (name) Z": the name may hold anything.
bool main_thread_has_ended() {
  const std::string stat = read_small_file(fmt::format("/proc/self/task/{}/stat", getpid()));
  const std::size_t end = stat.rfind(')');
  return end != std::string::npos && end + 2 < stat.size() && stat[end + 2] == 'Z';
}

}  // namespace

OurThread::OurThread() { ours.fetch_add(1); }
OurThread::~OurThread() { ours.fetch_sub(1); }

bool is_only_ours_left() {
  const std::int64_t now_ns = monotonic_ns();
  std::int64_t before_ns = last_look_ns.load();
  if (now_ns - before_ns < kLookNs || !last_look_ns.compare_exchange_strong(before_ns, now_ns)) return false;
  if (!main_thread_has_ended()) return false;
  return threads_of_process().size() <= static_cast<std::size_t>(ours.load()) + 1;
}

}  // namespace swinscope
