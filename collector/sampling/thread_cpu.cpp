#include "collector/sampling/thread_cpu.h"

#include <algorithm>
#include <limits>
#include <memory>

#include <dirent.h>
#include <fmt/format.h>

#include "collector/base/clock.h"
#include "collector/base/proc_files.h"
#include "collector/base/process_stat.h"
#include "store/utf8.h"

namespace swinscope {
namespace {

// Threads are often named a while after they begin: look again every so many samples.
constexpr std::int64_t kSamplesPerNameLook = 10;
// Programs that make and end threads all the time: names of the first ones are kept.
constexpr std::size_t kMaxEndedThreads = 4096;

std::string task_folder(std::uint32_t pid) {
  return pid == 0 ? std::string("/proc/self/task") : fmt::format("/proc/{}/task", pid);
}

std::string name_of(std::uint32_t pid, std::uint32_t tid) {
  return replace_invalid_utf8(read_line_of(fmt::format("{}/{}/comm", task_folder(pid), tid)));
}

std::int64_t read_clock(clockid_t clock) {
  timespec time{};
  if (clock_gettime(clock, &time) != 0) return -1;
  return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

// In nanoseconds since the thread began; where the kernel does not keep that, in ticks.
std::int64_t cpu_ns_of_task(std::uint32_t pid, std::uint32_t tid) {
  const std::string folder = fmt::format("{}/{}/", task_folder(pid), tid);
  const std::string times = read_small_file(folder + "schedstat");
  const std::vector<std::string_view> words = words_of(times);
  if (!words.empty()) return parse_integer(words.front()).value_or(-1);
  const auto stat = parse_process_stat(read_small_file(folder + "stat"));
  return stat ? stat->cpu_ns : -1;
}

}  // namespace

std::int64_t thread_cpu_ns(std::uint32_t tid, std::uint32_t pid) {
  if (tid == 0) {
    clockid_t clock = CLOCK_PROCESS_CPUTIME_ID;
    return clock_getcpuclockid(static_cast<pid_t>(pid), &clock) == 0 ? read_clock(clock) : -1;
  }
  if (pid != 0) return cpu_ns_of_task(pid, tid);
  // Linux makes the clock of any thread of the process from its id; the low bits say "one thread, scheduler's
  // accounting".
  constexpr std::uint32_t kThreadSchedClock = 6;
  return read_clock(static_cast<clockid_t>((~tid << 3U) | kThreadSchedClock));
}

std::vector<std::uint32_t> threads_of_process(std::uint32_t pid) {
  std::vector<std::uint32_t> tids;
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(opendir(task_folder(pid).c_str()), &closedir);
  if (folder == nullptr) return tids;
  while (const dirent* entry =
             readdir(folder.get())) {  // NOLINT(concurrency-mt-unsafe): the stream is this function's own
    if (const auto tid = parse_integer(entry->d_name)) tids.push_back(static_cast<std::uint32_t>(*tid));
  }
  return tids;
}

// Looking at another process, at a file for each thread, takes a fiftieth of one core at most.
std::int64_t ThreadCpuSource::next_sample_ns() const {
  constexpr std::int64_t kCostFactor = 50;
  if (period_ns_ == 0) return std::numeric_limits<std::int64_t>::max();
  return last_sample_ns_ + (pid_ == 0 ? period_ns_ : std::max(period_ns_, kCostFactor * cost_ns_));
}

bool ThreadCpuSource::poll(TraceWriter& to) {
  const std::int64_t now_ns = monotonic_ns();
  if (now_ns >= next_sample_ns()) sample(to, now_ns);
  return true;
}

void ThreadCpuSource::finish(TraceWriter& to) {
  sample(to, monotonic_ns());
  if (last_.time_ns == 0) return;
  to.add(ThreadCpuRecord{last_.time_ns - start_ns_, make_global_tid(pid_of(global_pid_), 0), last_.cpu_ns});
  ++unflushed_;
}

void ThreadCpuSource::sample(TraceWriter& to, std::int64_t now_ns) {
  const bool look_at_names = samples_++ % kSamplesPerNameLook == 0;
  for (auto& [tid, thread] : threads_)
    thread.seen = false;
  std::vector<std::uint32_t> tids = threads_of_process(pid_);
  tids.push_back(0);
  for (const std::uint32_t tid : tids) {
    Thread& thread = threads_[tid];
    thread.seen = true;
    if (tid != 0 && (look_at_names || thread.name.empty())) {
      std::string name = name_of(pid_, tid);
      if (!name.empty()) thread.name = std::move(name);
    }
    add(to, tid, thread, now_ns);
  }
  last_sample_ns_ = now_ns;
  cost_ns_ = monotonic_ns() - now_ns;
  for (auto entry = threads_.begin(); entry != threads_.end();) {
    if (entry->second.seen) {
      ++entry;
      continue;
    }
    if (ended_.size() < kMaxEndedThreads)
      ended_.push_back({make_global_tid(pid_of(global_pid_), entry->first), entry->second.name});
    entry = threads_.erase(entry);
  }
}

void ThreadCpuSource::add(TraceWriter& to, std::uint32_t tid, Thread& thread, std::int64_t now_ns) {
  const std::int64_t cpu_ns = thread_cpu_ns(tid, pid_);
  if (cpu_ns < 0 || cpu_ns == thread.cpu_ns) return;
  const std::uint64_t global_tid = make_global_tid(pid_of(global_pid_), tid);
  // It did not run for some samples: say until when.
  if (thread.cpu_ns >= 0 && thread.written_at_ns != last_sample_ns_) {
    to.add(ThreadCpuRecord{last_sample_ns_ - start_ns_, global_tid, thread.cpu_ns});
    ++unflushed_;
  }
  to.add(ThreadCpuRecord{now_ns - start_ns_, global_tid, cpu_ns});
  ++unflushed_;
  thread.cpu_ns = cpu_ns;
  thread.written_at_ns = now_ns;
}

void ThreadCpuSource::lost(const std::string& reason) {
  drops_.add("thread CPU sample", unflushed_, reason);
  unflushed_ = 0;
}

void ThreadCpuSource::discard(const std::string& reason) {
  const std::int64_t now_ns = monotonic_ns();
  if (now_ns < next_sample_ns()) return;
  last_sample_ns_ = now_ns;
  drops_.add("thread CPU sample", static_cast<std::int64_t>(threads_of_process(pid_).size()), reason);
}

void ThreadCpuSource::describe(RunInfo& run) {
  run.drops.insert(run.drops.end(), drops_.all().begin(), drops_.all().end());
  const auto add_name = [&](const ThreadInfo& info) {
    const auto has_name = [&](const ThreadInfo& other) { return other.global_tid == info.global_tid; };
    // What the program told NVTX says more than what it told the kernel.
    if (std::none_of(run.threads.begin(), run.threads.end(), has_name)) run.threads.push_back(info);
  };
  for (const auto& [tid, thread] : threads_) {
    if (tid != 0) add_name({make_global_tid(pid_of(global_pid_), tid), thread.name});
  }
  for (const ThreadInfo& thread : ended_)
    add_name(thread);
}

}  // namespace swinscope
