// A trace view as readable lines with every column, strings resolved, so that two views can be compared.
#pragma once

#include <string>
#include <type_traits>
#include <vector>

#include "analyzer/trace/trace.h"
#include "tests/unit/store/describe.h"

namespace swinscope::test {

template <typename Enum>
auto number(Enum value) {
  return static_cast<std::underlying_type_t<Enum>>(value);
}

inline std::string describe(const Dim3& d) { return fmt::format("{}x{}x{}", d.x, d.y, d.z); }

// As a process of its own, so that the record descriptions serve here too.
inline KeptProcess& kept_texts(const Trace& trace, KeptProcess& process) {
  for (StringId id = 0; id < trace.strings.size(); ++id)
    process.strings.intern(trace.text(id));
  return process;
}

inline void describe_gpu_events(const Trace& trace, const Rank& rank, std::vector<std::string>& lines) {
  for (const GpuLane& lane : rank.gpu_lanes) {
    lines.push_back(fmt::format("gpu lane device {} context {} stream {} events {}..{}", lane.device, lane.context,
                                lane.stream, lane.events.begin, lane.events.end));
  }
  const GpuEvents& gpu = rank.gpu;
  for (EventIndex i = 0; i < gpu.size(); ++i) {
    const LaunchConfig config = gpu.kind[i] == GpuKind::kKernel ? rank.configs[gpu.config[i]] : LaunchConfig{};
    lines.push_back(fmt::format(
        "gpu {}..{} '{}' short '{}' bytes {} launch {} lane {} correlation {} node {} kind {} class {} operation {} "
        "grid {} block {} cluster {} registers {} shared {} {}",
        gpu.start_ns[i], gpu.end_ns[i], trace.text(gpu.name[i]), trace.text(gpu.short_name[i]), gpu.bytes[i],
        gpu.launch[i], gpu.lane[i], gpu.correlation[i], gpu.graph_node[i], number(gpu.kind[i]),
        number(gpu.gpu_class[i]), number(gpu.operation[i]), describe(config.grid), describe(config.block),
        describe(config.cluster), config.registers_per_thread, config.static_shared_bytes,
        config.dynamic_shared_bytes));
  }
}

inline void describe_host_events(const Trace& trace, const Rank& rank, std::vector<std::string>& lines) {
  for (const ThreadLane& lane : rank.api_lanes) {
    lines.push_back(fmt::format("call lane {:#x} events {}..{}", lane.global_tid, lane.events.begin, lane.events.end));
  }
  const ApiCalls& api = rank.api;
  for (EventIndex i = 0; i < api.size(); ++i) {
    lines.push_back(fmt::format("call {}..{} '{}' lane {} correlation {}", api.start_ns[i], api.end_ns[i],
                                trace.text(api.name[i]), api.lane[i], api.correlation[i]));
  }
  for (const RangeLane& lane : rank.range_lanes) {
    lines.push_back(fmt::format("range lane {:#x} domain {} '{}' events {}..{}", lane.global_tid, lane.domain,
                                rank.domain_name(lane.domain, trace.strings), lane.events.begin, lane.events.end));
  }
  const Ranges& ranges = rank.ranges;
  for (EventIndex i = 0; i < ranges.size(); ++i) {
    lines.push_back(fmt::format("range {}..{} '{}' lane {} depth {} json '{}'", ranges.start_ns[i], ranges.end_ns[i],
                                trace.text(ranges.name[i]), ranges.lane[i], ranges.depth[i],
                                trace.text(ranges.json[i])));
  }
}

inline std::vector<std::string> describe(const Trace& trace) {
  KeptProcess texts;
  kept_texts(trace, texts);
  std::vector<std::string> lines;
  for (const Rank& rank : trace.ranks) {
    for (std::string& line : describe(rank.run))
      lines.push_back(std::move(line));
    describe_gpu_events(trace, rank, lines);
    describe_host_events(trace, rank, lines);
    const auto append = [&](const char* kind, const auto& records) {
      for (const auto& r : records)
        lines.push_back(fmt::format("{} {}", kind, describe(texts, r)));
    };
    append("mark", rank.marks);
    append("sync", rank.syncs);
    append("cuda event", rank.cuda_events);
    append("overhead", rank.overheads);
    append("collective", rank.collectives);
    append("thread cpu", rank.thread_cpu);
    for (const auto& [full, mangled] : rank.mangled) {
      lines.push_back(fmt::format("symbol '{}' of '{}'", trace.text(mangled), trace.text(full)));
    }
  }
  return lines;
}

// Empty when equal; a whole trace is too long to print.
inline std::string first_difference(const std::vector<std::string>& a, const std::vector<std::string>& b) {
  for (std::size_t i = 0; i < std::max(a.size(), b.size()); ++i) {
    const std::string left = i < a.size() ? a[i] : "the end";
    const std::string right = i < b.size() ? b[i] : "the end";
    if (left != right) return fmt::format("line {}:\n  {}\n  {}", i, left, right);
  }
  return {};
}

}  // namespace swinscope::test
