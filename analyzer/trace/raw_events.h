// The events of a process as they come from a reader, in columns: what a TraceBuilder keeps until lanes are put in
// order. A record of an event is twice as large as what the trace view has of it.
#pragma once

#include <cstdint>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "analyzer/trace/growing_column.h"
#include "analyzer/trace/trace.h"

namespace swinscope {

// Numbers keys as they come: lanes, processes.
template <typename Key>
class KeyNumbers {
 public:
  std::uint32_t operator()(const Key& key) {
    if (!keys_.empty() && keys_[last_] == key) return last_;
    const auto [entry, is_new] = numbers_.try_emplace(key, static_cast<std::uint32_t>(keys_.size()));
    if (is_new) keys_.push_back(key);
    return last_ = entry->second;
  }
  const Key& key(std::uint32_t number) const { return keys_[number]; }
  std::uint32_t size() const { return static_cast<std::uint32_t>(keys_.size()); }
  // All numbers, by key.
  std::vector<std::uint32_t> sorted() const {
    std::vector<std::uint32_t> numbers;
    numbers.reserve(numbers_.size());
    for (const auto& [unused, number] : numbers_)
      numbers.push_back(number);
    return numbers;
  }
  // The numbers here of the keys of another one.
  std::vector<std::uint32_t> numbers_of(const KeyNumbers& other) {
    std::vector<std::uint32_t> numbers;
    numbers.reserve(other.size());
    for (const Key& key : other.keys_)
      numbers.push_back((*this)(key));
    return numbers;
  }

 private:
  std::vector<Key> keys_;
  std::map<Key, std::uint32_t> numbers_;
  std::uint32_t last_ = 0;
};

struct RawGpuEvents {
  KeyNumbers<std::tuple<std::int32_t, std::uint32_t, std::uint32_t>> lanes;  // device, context, stream
  KeyNumbers<std::uint64_t> processes;                                       // 0 where the source did not say
  GrowingColumn<std::int64_t> start_ns;
  GrowingColumn<std::int64_t> end_ns;
  GrowingColumn<std::int64_t> bytes;
  GrowingColumn<std::uint64_t> graph_node;
  GrowingColumn<StringId> name;
  GrowingColumn<StringId> short_name;
  GrowingColumn<std::uint32_t> lane;
  GrowingColumn<std::uint32_t> process;
  GrowingColumn<std::uint32_t> config;
  GrowingColumn<std::uint32_t> correlation;
  GrowingColumn<GpuKind> kind;

  void add(const GpuRecord& at, GpuKind of_kind, StringId named, StringId short_named, std::uint32_t configured,
           std::int64_t moved) {
    start_ns.push_back(at.start_ns);
    end_ns.push_back(at.end_ns);
    bytes.push_back(moved);
    graph_node.push_back(at.graph_node);
    name.push_back(named);
    short_name.push_back(short_named);
    lane.push_back(lanes({at.device, at.context, at.stream}));
    process.push_back(processes(at.global_pid));
    config.push_back(configured);
    correlation.push_back(at.correlation);
    kind.push_back(of_kind);
  }
  // Numbers of lanes and processes become those here; names and configurations stay as they are.
  void take_over(RawGpuEvents& other) {
    renumber(other.lane, lanes.numbers_of(other.lanes));
    renumber(other.process, processes.numbers_of(other.processes));
    const auto take = [&](auto... column) { ((this->*column).take_over(other.*column), ...); };
    take(&RawGpuEvents::start_ns, &RawGpuEvents::end_ns, &RawGpuEvents::bytes, &RawGpuEvents::graph_node,
         &RawGpuEvents::name, &RawGpuEvents::short_name, &RawGpuEvents::lane, &RawGpuEvents::process,
         &RawGpuEvents::config, &RawGpuEvents::correlation, &RawGpuEvents::kind);
  }

  static void renumber(GrowingColumn<std::uint32_t>& column, const std::vector<std::uint32_t>& to) {
    column.for_each([&](std::uint32_t& number) { number = to[number]; });
  }
};

struct RawApiCalls {
  KeyNumbers<std::uint64_t> lanes;  // global thread ids
  GrowingColumn<std::int64_t> start_ns;
  GrowingColumn<std::int64_t> end_ns;
  GrowingColumn<StringId> name;
  GrowingColumn<std::uint32_t> lane;
  GrowingColumn<std::uint32_t> correlation;

  void add(const ApiRecord& r) {
    start_ns.push_back(r.start_ns);
    end_ns.push_back(r.end_ns);
    name.push_back(r.name);
    lane.push_back(lanes(r.global_tid));
    correlation.push_back(r.correlation);
  }
  void take_over(RawApiCalls& other) {
    RawGpuEvents::renumber(other.lane, lanes.numbers_of(other.lanes));
    const auto take = [&](auto... column) { ((this->*column).take_over(other.*column), ...); };
    take(&RawApiCalls::start_ns, &RawApiCalls::end_ns, &RawApiCalls::name, &RawApiCalls::lane,
         &RawApiCalls::correlation);
  }
};

// Of ranges the records: they are few beside the others, and differ in what they have.
struct RawRanges {
  KeyNumbers<std::pair<std::uint64_t, std::uint32_t>> lanes;  // global thread id, domain
  GrowingColumn<NvtxRecord> record;
  GrowingColumn<std::uint32_t> lane;

  void add(const NvtxRecord& r) {
    record.push_back(r);
    lane.push_back(lanes({r.global_tid, r.domain}));
  }
  void take_over(RawRanges& other) {
    RawGpuEvents::renumber(other.lane, lanes.numbers_of(other.lanes));
    record.take_over(other.record);
    lane.take_over(other.lane);
  }
};

}  // namespace swinscope
