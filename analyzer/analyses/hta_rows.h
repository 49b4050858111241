// The rows that Holistic Trace Analysis works on, made from a trace view as analyzer/analyses/hta.h says: whole
// microseconds, one timeline a rank, typed by name, without the last profiler step.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "analyzer/trace/trace.h"

namespace swinscope::hta {

// In the order of their names.
enum class KernelType : std::uint8_t { kCommunication, kComputation, kMemory, kOther };

KernelType type_of(std::string_view kernel_name);

struct Kernel {
  std::string_view name;
  KernelType type = KernelType::kOther;
  std::vector<std::int64_t> durations_us;
};

struct Row {
  std::int64_t begin_us = 0;
  std::int64_t end_us = 0;              // before the begin for an event within one microsecond
  std::optional<std::int64_t> call_us;  // begin of the host call, when it is kept
  std::uint32_t stream = 0;
  bool is_sync = false;
  Kernel* kernel = nullptr;
};

class RankRows {
 public:
  // Keeps what belongs to host calls that begin before `limit_us`; everything with kNoLimit. Names are views into
  // `trace`.
  RankRows(const Trace& trace, const Rank& rank, std::int64_t limit_us);

  std::int32_t number() const { return number_; }
  // By begin; those that begin together in the order of the view, synchronizations last.
  const std::vector<Row>& rows() const { return rows_; }
  const std::vector<std::unique_ptr<Kernel>>& kernels() const { return kernels_; }

 private:
  // The host calls with one correlation id.
  struct Calls {
    std::int64_t last_us = INT64_MIN;
    int kept = 0;
  };

  void add_calls(const ApiCalls& api);
  void add_events(const Trace& trace, const Rank& rank);
  void add_syncs(const std::vector<SyncRecord>& syncs);
  Kernel* add_kernel(std::string_view name);
  void add(Row row, std::uint32_t correlation);

  std::int32_t number_;
  std::int64_t limit_us_;
  std::unordered_map<std::uint32_t, Calls> calls_;
  std::vector<std::unique_ptr<Kernel>> kernels_;  // rows point at them
  std::vector<Row> rows_;
};

inline constexpr std::int64_t kNoLimit = INT64_MAX;

// The ranks that have rows, in the order of the trace.
std::vector<RankRows> rows_by_rank(const Trace& trace);

// Maximal stretches covered by rows; one of -1 us where a single short event stands alone.
struct Group {
  std::int64_t begin_us = 0;
  std::int64_t end_us = 0;
};

std::vector<Group> merge(const RankRows& rank);
std::vector<Group> merge(const RankRows& rank, KernelType type);
// The sum of the groups' lengths, negative ones included.
std::int64_t total_length(const std::vector<Group>& groups);

}  // namespace swinscope::hta
