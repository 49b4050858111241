// CPU time of the threads of a process, this one or another, sampled.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "collector/base/source.h"

namespace swinscope {

// CPU time of a thread since it began, or of the whole process for tid 0; -1 when there is no such thread. `pid` 0: of
// this process. Of another one the kernel tells what a thread had used at the scheduler's last tick.
std::int64_t thread_cpu_ns(std::uint32_t tid, std::uint32_t pid = 0);
std::vector<std::uint32_t> threads_of_process(std::uint32_t pid = 0);

class ThreadCpuSource : public Source {
 public:
  // `period_ns` 0: no samples but the last. `pid`: as this process sees it; 0: this process.
  ThreadCpuSource(std::uint64_t global_pid, std::int64_t start_ns, std::int64_t period_ns, std::uint32_t pid = 0)
      : global_pid_(global_pid), start_ns_(start_ns), period_ns_(period_ns), pid_(pid) {}

  bool poll(TraceWriter& to) override;
  void before_flush(TraceWriter&) override {}
  void flushed() override { unflushed_ = 0; }
  void lost(const std::string& reason) override;
  void discard(const std::string& reason) override;
  void finish(TraceWriter& to) override;
  void describe(RunInfo& run) override;

  // The process has ended: what it had used in all. Before finish().
  void ended(std::int64_t now_ns, std::int64_t cpu_ns) { last_ = {now_ns, cpu_ns}; }

  // When the next sample is due (CLOCK_MONOTONIC), INT64_MAX for never.
  std::int64_t next_sample_ns() const;

 private:
  struct Thread {
    std::int64_t cpu_ns = -1;
    std::int64_t written_at_ns = 0;  // time of the last row
    bool seen = false;
    std::string name;
  };

  void sample(TraceWriter& to, std::int64_t now_ns);
  void add(TraceWriter& to, std::uint32_t tid, Thread& thread, std::int64_t now_ns);

  std::uint64_t global_pid_;
  std::int64_t start_ns_;
  std::int64_t period_ns_;
  std::uint32_t pid_;
  std::int64_t cost_ns_ = 0;  // of the last sample
  struct {
    std::int64_t time_ns = 0;
    std::int64_t cpu_ns = 0;
  } last_;
  std::int64_t last_sample_ns_ = 0;
  std::unordered_map<std::uint32_t, Thread> threads_;
  std::vector<ThreadInfo> ended_;
  std::int64_t samples_ = 0;
  std::int64_t unflushed_ = 0;
  DropCounts drops_;
};

}  // namespace swinscope
