// What samplers measured beside the events: clocks, power, the share of busy multiprocessors, CPU time, each as a value
// for every period. The timeline draws them below the lanes of their process.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/base/intervals.h"

namespace swinscope {

struct CounterSeries {
  std::uint32_t process = 0;           // index into Timeline::processes
  std::string name;                    // "GPU 0 · SM active"
  std::string unit;                    // "%", "MHz", "W", "GiB"; what stands in brackets in the recorded name
  std::vector<std::int64_t> edges_ns;  // value i is that of [edges_ns[i], edges_ns[i + 1]); ascending, each once
  std::vector<double> values;
  double top = 0;  // the largest value; of percentages 100, unless one is larger

  // The value of the period in which a time lies.
  std::optional<double> at(std::int64_t time_ns) const;
  // The largest value of the periods that a window (not empty) touches.
  std::optional<double> largest_in(Interval window) const;
  bool operator==(const CounterSeries&) const = default;
};

// As many values as a series has at most. Where more were sampled, neighbours share their mean.
inline constexpr std::size_t kMaxCounterValues = 100'000;

// The series of a SQLite trace: GPU_METRICS by GPU and metric (swinscope's and Nsight Systems'), then the CPU time of
// the process (SWINSCOPE_THREAD_CPU) as percentage of one core. A sample is the value of the period that ends with it,
// an allocator's of the one that begins with it;
// the first period is taken to be as long as the second, so one sample alone makes no series. All belong to process 0;
// times are those of the file. Throws Error, Error(kInterrupted) soon after `cancel` becomes true.
std::vector<CounterSeries> read_counters(const std::filesystem::path& file, const std::atomic<bool>* cancel = nullptr,
                                         std::size_t max_values = kMaxCounterValues);

}  // namespace swinscope
