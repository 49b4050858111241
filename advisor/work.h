// The GPU work of the measured steps as candidates look at it: in the order of each stream, with what each piece does,
// by kernel, and to which operation of the program it belongs.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "advisor/change.h"
#include "advisor/rates.h"
#include "analyzer/analyses/run_facts.h"

namespace swinscope {

struct WorkItem {
  OpRef ref;
  EventIndex event = kNoEvent;
  OperationKind kind = OperationKind::kUnknown;
  std::int64_t duration_ns = 0;
  std::string_view kernel;  // as brief_kernel_name() has it; copies and sets as they are called
  std::string_view full_name;
  const Operation* operation = nullptr;    // none: not known
  const OperationPayload* what = nullptr;  // that the item does; with `operation`, none: not known
  std::string_view precision;              // fp32, tf32, fp16, …; empty: not known
  // Threads of the launch: for kernels that give each element a thread, their number of elements. 0: no kernel.
  std::int64_t threads = 0;
  bool keeps_precision = false;  // as the user wants
  bool is_part = false;          // of the product before it: it adds what blocks have computed of the same values
  bool is_split = false;         // the host waited for something, or another stream, between the one before it and this
};

// The product that an operation computes, of its shapes and FLOPs (all products of it as one in batches); nothing where
// these are not known.
std::optional<ProductShape> product_of(const OperationPayload& what);

// One stream of one rank.
struct WorkStream {
  std::uint32_t rank = 0;  // in DependencyGraph::ranks
  std::vector<WorkItem> items;
};

class Work {
 public:
  // Both must outlive it.
  Work(const RunFacts& run, const DependencyGraph& graph);
  Work(const Work&) = delete;  // names lie within
  Work& operator=(const Work&) = delete;
  Work(Work&&) = delete;
  Work& operator=(Work&&) = delete;
  ~Work() = default;

  const std::vector<WorkStream>& streams() const { return streams_; }
  // Of all ranks, each of which has as many as the first; at least 1. What is counted over it is of a step of a rank.
  double rank_steps() const {
    return static_cast<double>(std::max<std::int64_t>(1, steps_)) * static_cast<double>(graph.ranks.size());
  }
  // Bytes per second that a kernel reaches which only moves data: as measured (rates.h), else the GPU's peak as the
  // trace says it, less a tenth, else the best of the trace's copies within the GPU; 0: not known. And where from.
  double copy_rate() const { return copy_rate_; }
  const std::string& copy_rate_source() const { return copy_rate_source_; }
  // Of a kernel that only moves so many bytes, each once: as measured for their size, else at that rate, which is
  // known.
  double bytes_ns(double bytes) const;
  // Of this GPU; they must outlive it. nullptr: not known.
  const Rates* rates() const { return rates_; }
  void set_rates(const Rates& rates);
  void set_copy_rate(double bytes_per_second, std::string source);

  // Layers that are computed in other bits by no change. A name's parts occur in a layer's path in their order, so that
  // "stage3.attn.proj" means those of all blocks. Returns the names that no layer has.
  std::vector<std::string> keep_precision(const std::vector<std::string>& names);

  const RunFacts& run;
  const DependencyGraph& graph;

 private:
  // What follows from a kernel's name.
  struct Named {
    std::string brief;
    bool rounds_to_tf32 = false;
    bool sums_parts = false;
  };
  const Named& named(const Rank& rank, EventIndex event);
  void find_copy_rate();

  std::vector<WorkStream> streams_;
  std::int64_t steps_ = 0;
  const Rates* rates_ = nullptr;
  double copy_rate_ = 0;
  std::string copy_rate_source_;
  std::unordered_map<StringId, Named> by_name_;  // by full name
};

}  // namespace swinscope
