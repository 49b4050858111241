// The launcher's own trace file: the processes below it, over time.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "collector/sampling/gpu_sampler.h"
#include "collector/sampling/process_tree.h"
#include "store/writer.h"

namespace swinscope {

// A file that cannot be written is reported once and does not disturb the run.
class ProcessLog {
 public:
  // Times become relative to `start_ns` (CLOCK_MONOTONIC). `run` describes the launcher.
  ProcessLog(const std::filesystem::path& folder, RunInfo run, std::int64_t start_ns,
             std::function<void(const std::string&)> report);

  // Name of the file in the folder, empty when there is none.
  const std::string& file_name() const { return file_name_; }

  // The CPU time and memory of the living processes; the rows of new ones.
  void add_sample(std::int64_t now_ns, const ProcessTree& tree, const std::vector<std::size_t>& changed);
  // Of the machine, found out while the run goes on.
  void add_facts(const std::vector<NamedValue>& facts);
  // Which GPUs the samples of add_gpus are about; once.
  void describe_gpus(const std::vector<GpuIdentity>& gpus);
  void add_gpus(const std::vector<GpuSample>& samples);
  // Samples that were lost before they came here.
  void lose_gpus(std::int64_t count) { lost_gpu_samples_ = count; }
  void flush();
  // Nothing ran: removes the file.
  void discard();
  // All processes as they are known in the end; closes the file.
  void finish(const ProcessTree& tree);

 private:
  struct Written {
    std::int64_t at_ns = 0;
    std::int64_t cpu_ns = -1;
    std::int64_t rss_bytes = 0;
  };

  template <typename Action>
  void attempt(Action action);
  ProcessRecord record_of(const ProcessTree& tree, std::size_t index);
  std::uint64_t global_pid(const ProcessTree& tree, std::size_t index) const;

  RunInfo run_;
  std::int64_t start_ns_;
  std::function<void(const std::string&)> report_;
  std::filesystem::path folder_;
  std::string file_name_;
  std::unique_ptr<TraceWriter> writer_;
  bool needs_roll_back_ = false;
  bool has_reported_ = false;
  std::int64_t lost_ = 0;
  std::int64_t lost_gpu_samples_ = 0;
  std::int64_t unflushed_ = 0;
  std::int64_t last_sample_ns_ = 0;
  std::unordered_map<std::size_t, Written> written_;
};

}  // namespace swinscope
