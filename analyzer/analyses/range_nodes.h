// The paths of ranges as a tree of names, and what was added up for each: the inside of ranges.cpp.
#pragma once

#include <cstdint>
#include <limits>
#include <unordered_map>
#include <vector>

#include "analyzer/analyses/ranges.h"
#include "analyzer/trace/launched_work.h"

namespace swinscope {

struct RangeSums {
  std::int64_t calls = 0;
  std::int64_t host_ns = 0;
  std::int64_t host_min_ns = std::numeric_limits<std::int64_t>::max();
  std::int64_t host_max_ns = 0;
  std::int64_t self_ns = 0;
  std::int64_t gpu_events = 0;
  std::int64_t gpu_sum_ns = 0;
  std::int64_t gpu_span_ns = 0;

  void add_call(std::int64_t call_ns, std::int64_t call_self_ns);
  void add(const GpuWork& work);
  // What another rank or path adds to a row; `is_within`: it lies within the row's own ranges, so that only its calls
  // and its self time are new.
  void merge(const RangeSums& other, bool is_within);
  bool empty() const { return calls == 0 && gpu_events == 0; }
};

struct RangeNode {
  std::uint32_t parent = 0;
  std::uint32_t name = 0;
  std::uint32_t domain = 0;
  RangeStyle style = RangeStyle::kPushPop;
  bool operator==(const RangeNode&) const = default;
};

// Node 0 is the root, which is no range.
class RangeNodes {
 public:
  static constexpr std::uint32_t kRoot = 0;

  RangeNodes() : nodes_(1) {}

  // The node of such a range, made at the first call.
  std::uint32_t child(const RangeNode& node);
  const RangeNode& operator[](std::uint32_t id) const { return nodes_[id]; }
  std::uint32_t size() const { return static_cast<std::uint32_t>(nodes_.size()); }
  // Each node behind its parent and before the parent's next child; without the root.
  std::vector<std::uint32_t> in_order() const;

 private:
  struct Hash {
    std::size_t operator()(const RangeNode& node) const;
  };
  std::vector<RangeNode> nodes_;
  std::unordered_map<RangeNode, std::uint32_t, Hash> ids_;
};

}  // namespace swinscope
