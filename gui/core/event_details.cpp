#include "gui/core/event_details.h"

#include <algorithm>

#include <fmt/format.h>

#include "analyzer/base/text.h"
#include "analyzer/trace/kernel_names.h"
#include "gui/core/lane_rows.h"
#include "gui/core/pick.h"
#include "gui/core/time_axis.h"

namespace swinscope::gui {
namespace {

class Details {
 public:
  Details(const OpenedRun& run, TimelineEventId id)
      : run_(run), timeline_(*run.timeline), id_(id), lane_(timeline_.lanes[id.lane]), event_(timeline_.event(id)) {
    table_.columns = {{"what", "what"}, {"value", "value"}, {"link", "link", Unit::kText, true}};
  }

  Table make() {
    const std::string name(timeline_.name(id_));
    if (is_gpu(lane_.key.kind)) {
      add("call of", readable_kernel_name(name), kCallsLink);
    }
    add("name", name);
    add("lane", full_label(timeline_, id_.lane).toStdString());
    add("start", exact_time(event_.start_ns, timeline_.span().begin_ns).toStdString());
    add("duration", format_duration(event_.duration_ns));
    add_step();
    add_links();
    if (run_.trace != nullptr && lane_.key.process < run_.trace->ranks.size()) {
      const Rank& rank = run_.trace->ranks[lane_.key.process];
      if (is_gpu(lane_.key.kind) && event_.ref < rank.gpu.size()) add_gpu(rank);
      if (lane_.key.kind == LaneKind::kRanges && event_.ref < rank.ranges.size()) add_payload(rank);
    }
    if (lane_.key.kind == LaneKind::kRanges) add_parents();
    return std::move(table_);
  }

 private:
  void add(const std::string& what, std::string value, std::string link = {}) {
    table_.rows.push_back({what, std::move(value), std::move(link)});
  }

  void add_step() {
    const std::vector<Interval>& steps = timeline_.processes[lane_.key.process].steps;
    for (std::size_t i = 0; i < steps.size(); ++i) {
      if (event_.start_ns >= steps[i].begin_ns && event_.start_ns < steps[i].end_ns)
        add("starts in step", fmt::format("{} of {}", i + 1, steps.size()));
    }
  }

  void add_links() {
    const std::vector<LaunchLink> links = links_of(timeline_, id_);
    if (links.empty()) {
      if (is_gpu(lane_.key.kind)) add("launched by", "not recorded");
      return;
    }
    const LaunchLink& link = links.front();
    if (is_gpu(lane_.key.kind)) {
      add("launched by", fmt::format("{} on {}", timeline_.name(link.call), timeline_.lanes[link.call.lane].label),
          event_link(link.call));
    } else {
      add("launches",
          fmt::format("{}{}", timeline_.name(link.work),
                      links.size() > 1 ? fmt::format(" and {} more", links.size() - 1) : ""),
          event_link(link.work));
    }
    add("launch delay", format_duration(link.launch_delay_ns));
    add("queue time", format_duration(link.queue_ns));
  }

  void add_gpu(const Rank& rank) {
    const GpuEvents& gpu = rank.gpu;
    add("device", fmt::format("GPU {}, stream {}", lane_.key.device, lane_.key.stream));
    if (gpu.bytes[event_.ref] > 0) {
      add("bytes", format_bytes(gpu.bytes[event_.ref]));
      if (event_.duration_ns > 0) {
        add("rate",
            format_number(static_cast<double>(gpu.bytes[event_.ref]) / static_cast<double>(event_.duration_ns)) +
                " GB/s");
      }
    }
    if (gpu.kind[event_.ref] != GpuKind::kKernel || gpu.config[event_.ref] >= rank.configs.size()) return;
    const LaunchConfig& config = rank.configs[gpu.config[event_.ref]];
    const auto dimensions = [](const Dim3& d) { return fmt::format("{} x {} x {}", d.x, d.y, d.z); };
    add("operation", std::string(operation_name(gpu.operation[event_.ref])));
    add("grid", dimensions(config.grid));
    add("block", dimensions(config.block));
    add("registers", fmt::format("{} a thread", config.registers_per_thread));
    add("shared memory", format_bytes(config.static_shared_bytes + std::int64_t{config.dynamic_shared_bytes}));
  }

  void add_payload(const Rank& rank) {
    const StringId json = rank.ranges.json[event_.ref];
    if (json != kNoString) add("payload", std::string(run_.trace->text(json)));
  }

  // The enclosing ranges, the innermost first.
  void add_parents() {
    for (auto parent = parent_range(timeline_, id_); parent; parent = parent_range(timeline_, *parent))
      add("within", std::string(timeline_.name(*parent)), event_link(*parent));
  }

  const OpenedRun& run_;
  const Timeline& timeline_;
  TimelineEventId id_;
  const TimelineLane& lane_;
  LaneEvent event_;
  Table table_{"event", "Event", {}, {}};
};

}  // namespace

Table event_details(const OpenedRun& run, TimelineEventId event) { return Details(run, event).make(); }

std::string event_link(TimelineEventId event) { return fmt::format("event:{}:{}", event.lane, event.position); }

std::string layer_link(const std::string& path, const std::string& phase) {
  return fmt::format("layer:{}:{}", phase, path);
}

std::optional<TimelineEventId> linked_event(const QString& link) {
  const QStringList parts = link.split(QLatin1Char(':'));
  if (parts.size() != 3 || parts[0] != QLatin1String("event")) return std::nullopt;
  return TimelineEventId{parts[1].toUInt(), parts[2].toUInt()};
}

// Paths of PyTorch's operators hold colons themselves.
std::optional<std::pair<QString, QString>> linked_layer(const QString& link) {
  if (!link.startsWith(QLatin1String("layer:"))) return std::nullopt;
  return std::pair(link.section(QLatin1Char(':'), 2), link.section(QLatin1Char(':'), 1, 1));
}

}  // namespace swinscope::gui
