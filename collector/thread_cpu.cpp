#include "collector/thread_cpu.h"

#include <algorithm>
#include <limits>
#include <memory>

#include <dirent.h>
#include <fmt/format.h>

#include "collector/clock.h"
#include "collector/proc_files.h"
#include "store/utf8.h"

namespace swinscope {
namespace {

// Threads are often named a while after they begin: look again every so many samples.
constexpr std::int64_t kSamplesPerNameLook = 10;
// Programs that make and end threads all the time: names of the first ones are kept.
constexpr std::size_t kMaxEndedThreads = 4096;

std::string name_of(std::uint32_t tid) {
  return replace_invalid_utf8(read_line_of(fmt::format("/proc/self/task/{}/comm", tid)));
}

}  // namespace

std::int64_t thread_cpu_ns(std::uint32_t tid) {
  // Linux makes the clock of any thread of the process from its id; the low bits say "one thread, scheduler's
  // accounting".
  constexpr std::uint32_t kThreadSchedClock = 6;
  const clockid_t clock =
      tid == 0 ? CLOCK_PROCESS_CPUTIME_ID : static_cast<clockid_t>((~tid << 3U) | kThreadSchedClock);
  timespec time{};
  if (clock_gettime(clock, &time) != 0) return -1;
  return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

std::vector<std::uint32_t> threads_of_process() {
  std::vector<std::uint32_t> tids;
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(opendir("/proc/self/task"), &closedir);
  if (folder == nullptr) return tids;
  while (const dirent* entry =
             readdir(folder.get())) {  // NOLINT(concurrency-mt-unsafe): the stream is this function's own
    if (const auto tid = parse_integer(entry->d_name)) tids.push_back(static_cast<std::uint32_t>(*tid));
  }
  return tids;
}

std::int64_t ThreadCpuSource::next_sample_ns() const {
  return period_ns_ == 0 ? std::numeric_limits<std::int64_t>::max() : last_sample_ns_ + period_ns_;
}

bool ThreadCpuSource::poll(TraceWriter& to) {
  const std::int64_t now_ns = monotonic_ns();
  if (now_ns >= next_sample_ns()) sample(to, now_ns);
  return true;
}

void ThreadCpuSource::finish(TraceWriter& to) { sample(to, monotonic_ns()); }

void ThreadCpuSource::sample(TraceWriter& to, std::int64_t now_ns) {
  const bool look_at_names = samples_++ % kSamplesPerNameLook == 0;
  for (auto& [tid, thread] : threads_)
    thread.seen = false;
  std::vector<std::uint32_t> tids = threads_of_process();
  tids.push_back(0);
  for (const std::uint32_t tid : tids) {
    Thread& thread = threads_[tid];
    thread.seen = true;
    if (tid != 0 && (look_at_names || thread.name.empty())) {
      std::string name = name_of(tid);
      if (!name.empty()) thread.name = std::move(name);
    }
    add(to, tid, thread, now_ns);
  }
  last_sample_ns_ = now_ns;
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
  const std::int64_t cpu_ns = thread_cpu_ns(tid);
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
  drops_.add("thread CPU sample", static_cast<std::int64_t>(threads_of_process().size()), reason);
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
