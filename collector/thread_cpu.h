// CPU time of the threads of this process, sampled.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "collector/source.h"

namespace swinscope {

// CPU time of a thread of this process since it began, or of the whole process for tid 0; -1 when there is no such
// thread.
std::int64_t thread_cpu_ns(std::uint32_t tid);
// The threads of this process.
std::vector<std::uint32_t> threads_of_process();

class ThreadCpuSource : public Source {
 public:
  // `period_ns` 0: no samples but the last.
  ThreadCpuSource(std::uint64_t global_pid, std::int64_t start_ns, std::int64_t period_ns)
      : global_pid_(global_pid), start_ns_(start_ns), period_ns_(period_ns) {}

  bool poll(TraceWriter& to) override;
  void before_flush(TraceWriter&) override {}
  void flushed() override { unflushed_ = 0; }
  void lost(const std::string& reason) override;
  void discard(const std::string& reason) override;
  void finish(TraceWriter& to) override;
  void describe(RunInfo& run) override;

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
  std::int64_t last_sample_ns_ = 0;
  std::unordered_map<std::uint32_t, Thread> threads_;
  std::vector<ThreadInfo> ended_;
  std::int64_t samples_ = 0;
  std::int64_t unflushed_ = 0;
  DropCounts drops_;
};

}  // namespace swinscope
