// Where the time of any program goes by the ranges that it annotated: NVTX ranges, and what PyTorch's profiler records
// of the host.
//
//   path        the names of the ranges around a range on its thread, and its own (thread_ranges.h); threads that have
//               the same path share a row, and ranks do unless they are wanted apart
//   calls       ranges of which some part lies in the scope
//   host time   of these parts; self: without the ranges directly within
//   GPU sum     summed durations of the kernels, copies and sets of the scope whose launching call began in the range,
//               on the range's thread; those of ranges within count for the outer one too
//   GPU span    from the first start to the last end of these, call by call, summed: what Nsight Systems projects
// A CUDA graph's kernels belong to the ranges around its launch. NVTX does not run at a replay, so below them stands
// the path under which their nodes were captured, where that was recorded: rows of style `graph`, whose calls are
// replays of the captured ranges, and which have no host time.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/facts/scope.h"
#include "analyzer/table/table.h"
#include "analyzer/trace/trace.h"

namespace swinscope {

enum class RangeStyle : std::uint8_t { kPushPop, kStartEnd, kGraph };
// "push/pop", "start/end", "graph".
std::string_view style_name(RangeStyle style);

struct RangeRow {
  std::string path;    // names, outer ones first, with '/' between them
  std::string name;    // the last of them
  std::string domain;  // "" for NVTX's default domain
  RangeStyle style = RangeStyle::kPushPop;
  std::int32_t depth = 1;  // names in the path
  std::int32_t rank = -1;  // -1: all ranks
  std::int64_t calls = 0;
  std::int64_t host_ns = 0;
  std::int64_t host_min_ns = 0;  // of a call
  std::int64_t host_max_ns = 0;
  std::int64_t self_ns = 0;
  std::int64_t gpu_events = 0;
  std::int64_t gpu_sum_ns = 0;
  std::int64_t gpu_span_ns = 0;
  std::int64_t steps = 0;  // of the ranks that the row is of, summed; 0 where the scope is the whole trace

  std::int64_t per_step(std::int64_t amount) const { return steps == 0 ? 0 : amount / steps; }
};

enum class RangeGrouping : std::uint8_t {
  kPath,
  kName,  // a range within one of the same name is a call; its time is that of the outer one
};

inline constexpr std::int64_t kManyNumbers = 1000;

struct RangeOptions {
  RangeGrouping grouping = RangeGrouping::kPath;
  bool by_rank = false;
  int depth = 0;           // names of a path, 0: any
  std::string domain;      // regular expression for the domains that count; empty: see below
  bool operators = false;  // with the operators of a PyTorch profiler's trace, which are many
  bool python = false;     // with its Python functions
  // Otherwise ranges that mark the steps are `step *`, not `step 7`; and so are all names of which more than
  // kManyNumbers differ in nothing but the number at their end.
  bool numbers_apart = false;
};

struct RangeTable {
  std::vector<RangeRow> rows;           // by path: each below the one around it, in the order of their first calls;
                                        // by name: by GPU sum, then host time
  std::int64_t gpu_ns = 0;              // summed durations of the GPU events of the scope
  std::int64_t in_ranges_ns = 0;        // of them those that belong to a range
  std::int64_t unknown_launch_ns = 0;   // and those whose launching call was not recorded
  std::int64_t open_ranges = 0;         // ranges that the end of the recording ended
  std::int64_t left_out_operators = 0;  // ranges of kinds that were not asked for
  std::int64_t left_out_python = 0;
  std::int64_t joined_names = 0;     // names that share rows because there are too many of them
  std::vector<std::string> domains;  // all that have ranges on threads, whether they count or not
};

// Of the scope. Throws Error(kUsage) where `domain` is no regular expression.
RangeTable range_table(const Trace& trace, const RunScope& scope, const RangeOptions& options = {});

// No figures of GPUs where the trace has no GPU activity; none of the host for what a CUDA graph replayed.
Table range_rows_table(const Trace& trace, const RunScope& scope, const std::vector<RangeRow>& rows);

}  // namespace swinscope
