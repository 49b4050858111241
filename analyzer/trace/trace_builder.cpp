#include "analyzer/trace/trace_builder.h"

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <numeric>
#include <tuple>
#include <unordered_map>

#include <fmt/format.h>

#include "analyzer/base/parallel.h"
#include "analyzer/trace/kernel_names.h"
#include "analyzer/trace/memory_changes.h"
#include "analyzer/trace/raw_events.h"
#include "analyzer/trace/sort_by_lane.h"
#include "store/utf8.h"

namespace swinscope {
namespace {

struct ConfigHash {
  std::size_t operator()(const LaunchConfig& c) const {
    std::size_t hash = 0;
    for (const std::int32_t v : {c.grid.x, c.grid.y, c.grid.z, c.block.x, c.block.y, c.block.z, c.cluster.x,
                                 c.registers_per_thread, c.static_shared_bytes, c.dynamic_shared_bytes}) {
      hash = hash * 1'000'003U + static_cast<std::uint32_t>(v);
    }
    return hash;
  }
};

// How many different ones a program has is small.
template <typename Ends>
std::uint32_t index_of(std::vector<Ends>& all, const Ends& ends) {
  const auto found = std::ranges::find(all, ends);
  if (found != all.end()) return static_cast<std::uint32_t>(found - all.begin());
  all.push_back(ends);
  return static_cast<std::uint32_t>(all.size() - 1);
}

// Other programs attach such values to ranges of their own, which are no operators: whoever asks knows the domain.
bool has_sequence(const NvtxRecord& r) { return r.value_type == NvtxValueType::kInt64 && r.int64_value >= 0; }
template <typename Record, typename Key>
void sort_by(std::vector<Record>& records, Key key) {
  std::ranges::stable_sort(records, {}, key);
}

}  // namespace

std::string_view Rank::cuda_activity() const {
  const auto fact = std::ranges::find(run.collector, kCudaActivity, &NamedValue::name);
  return fact == run.collector.end() ? std::string_view() : fact->value;
}

bool Rank::missed_cuda() const { return !cuda_activity().empty() && !cuda_activity().starts_with("recorded"); }

bool Rank::is_within_windows(std::int64_t start_ns, std::int64_t end_ns) const {
  if (run.windows.empty()) return true;
  const std::int64_t middle = start_ns + (end_ns - start_ns) / 2;
  const auto after = std::upper_bound(run.windows.begin(), run.windows.end(), middle,
                                      [](std::int64_t t, const WindowInfo& window) { return t < window.start_ns; });
  return after != run.windows.begin() && middle < std::prev(after)->end_ns;
}

std::string Rank::domain_name(std::uint32_t domain, const StringPool& strings) const {
  const auto found = std::find_if(domains.begin(), domains.end(), [&](const auto& d) { return d.first == domain; });
  if (found != domains.end()) return std::string(strings.text(found->second));
  return domain == 0 ? std::string() : fmt::format("domain {}", domain);
}

bool CopyEnds::is_between_gpus() const {
  return kind == CopyKind::kPeerToPeer || (src_device >= 0 && dst_device >= 0 && src_device != dst_device);
}

bool CopyEnds::is_with_host() const {
  switch (kind) {
    case CopyKind::kHostToDevice:
    case CopyKind::kDeviceToHost:
    case CopyKind::kHostToArray:
    case CopyKind::kArrayToHost:
    case CopyKind::kUnifiedHostToDevice:
    case CopyKind::kUnifiedDeviceToHost:
      return true;
    default:
      return false;
  }
}

const CopyEnds* Rank::ends_of(EventIndex gpu_event) const {
  return gpu.kind[gpu_event] == GpuKind::kMemcpy ? &copy_ends[gpu.config[gpu_event]] : nullptr;
}

StringId Rank::mangled_name(StringId full_name) const {
  const auto found = std::lower_bound(mangled.begin(), mangled.end(), std::pair(full_name, StringId{0}));
  return found == mangled.end() || found->first != full_name ? full_name : found->second;
}

std::int64_t Trace::gpu_event_count() const {
  return std::accumulate(ranks.begin(), ranks.end(), std::int64_t{0},
                         [](std::int64_t sum, const Rank& rank) { return sum + rank.gpu.size(); });
}

// The records of one process and their transformation into columns.
class TraceBuilder::Process : public RecordSink {
 public:
  explicit Process(const std::atomic<bool>* cancel) : cancel_(cancel) {}

  // Text that no program names a thing by would be copied and searched for ever; of it the beginning stays.
  StringId intern(std::string_view text) override {
    if (text.size() <= kMostTextBytes) return pool_.intern(text);
    ++cut_texts_;
    return pool_.intern(cut_text(text, kMostTextBytes));
  }

  // The view has no columns for the other kinds.
  void take(AnyRecord record) override {
    std::visit(
        [this](const auto* r) {
          if constexpr (requires { this->add(*r); }) this->add(*r);
        },
        record);
  }
  void add(const KernelRecord& r) {
    const StringId given = r.demangled_name == kNoString ? r.short_name : r.demangled_name;
    const StringId symbol = r.mangled_name == kNoString ? given : r.mangled_name;
    const StringId name = readable(given);
    if (symbol != name) mangled_.try_emplace(name, symbol);
    gpu_.add(
        r, GpuKind::kKernel, name, r.short_name == kNoString ? short_name(name) : r.short_name,
        config({r.grid, r.block, r.cluster, r.registers_per_thread, r.static_shared_bytes, r.dynamic_shared_bytes}), 0);
  }
  void add(const MemcpyRecord& r) {
    const StringId name = intern(copy_name(r.kind, r.src_kind, r.dst_kind));
    const CopyEnds ends{r.kind, r.src_kind, r.dst_kind, r.src_device, r.dst_device};
    gpu_.add(r, GpuKind::kMemcpy, name, name, index_of(rank_.copy_ends, ends), r.bytes);
  }
  void add(const MemsetRecord& r) {
    const StringId name = intern(set_name(r.kind));
    gpu_.add(r, GpuKind::kMemset, name, name, 0, r.bytes);
  }
  void add(const GraphTraceRecord& r) {
    const StringId name = intern(fmt::format("CUDA graph {}", r.graph));
    gpu_.add(r, GpuKind::kGraph, name, name, 0, 0);
  }
  void add(const GraphNodeRecord& r) { rank_.graph_nodes.push_back(r); }
  void add(const SyncRecord& r) { rank_.syncs.push_back(r); }
  void add(const CudaEventRecord& r) { rank_.cuda_events.push_back(r); }
  void add(const MemoryRecord& r) { memory_.add(r); }
  void add(const MetricRecord& r) { metrics_.add(r); }
  void add(const MetricNameRecord& r) { metrics_.add(r); }
  void add(const ApiRecord& r) { api_.add(r); }
  void add(const OverheadRecord& r) { rank_.overheads.push_back(r); }
  void add(const NvtxRecord& r) {
    if (r.type == NvtxType::kDomain) {
      rank_.domains.emplace_back(r.domain, r.text);
    } else if (r.type == NvtxType::kMark) {
      rank_.marks.push_back(r);
    } else if (r.type == NvtxType::kPushPop || r.type == NvtxType::kStartEnd) {
      ranges_.add(r);
    }
  }
  void add(const CollectiveRecord& r) { rank_.collectives.push_back(r); }
  void add(const ThreadCpuRecord& r) { rank_.thread_cpu.push_back(r); }
  void add(const ProcessRecord& r) { launcher_.processes.push_back(r); }
  void add(const ProcessCpuRecord& r) { launcher_.process_cpu.push_back(r); }
  void set_run(const RunInfo& run) override { rank_.run = run; }

  // Events of the same process that another builder has taken; shifted.
  void absorb(Process& other, const RecordShift& shift) {
    std::vector<StringId> to(other.pool_.size());
    for (StringId id = 0; id < to.size(); ++id)
      to[id] = intern(other.pool_.text(id));
    absorb_gpu(other, to, shift);
    const auto move_time = [&](std::int64_t& ns) { ns += shift.offset_ns; };
    other.api_.start_ns.for_each(move_time);
    other.api_.end_ns.for_each(move_time);
    other.api_.correlation.for_each([&](std::uint32_t& id) { shift.apply_to(id); });
    other.api_.name.for_each([&](StringId& id) { id = to[id]; });
    api_.take_over(other.api_);
    const auto text = [&](NvtxRecord& r) { r.text = to[r.text], r.json = to[r.json]; };
    other.ranges_.record.for_each([&](NvtxRecord& r) { shift.apply(r), text(r); });
    ranges_.take_over(other.ranges_);
    rank_.open_ranges += other.rank_.open_ranges;
    cut_texts_ += other.cut_texts_;
    const auto take_records = [&](auto& into, auto& from, auto rename) {
      for (auto& r : from)
        shift.apply(r), rename(r);
      into.insert(into.end(), from.begin(), from.end());
      from = {};
    };
    const auto nothing = [](auto&) {};
    take_records(rank_.marks, other.rank_.marks, text);
    take_records(rank_.overheads, other.rank_.overheads, [&](OverheadRecord& r) { r.name = to[r.name]; });
    take_records(rank_.graph_nodes, other.rank_.graph_nodes, nothing);
    take_records(rank_.syncs, other.rank_.syncs, nothing);
    take_records(rank_.cuda_events, other.rank_.cuda_events, nothing);
    take_records(rank_.thread_cpu, other.rank_.thread_cpu, nothing);
    memory_.append(other.memory_, shift.offset_ns);
    metrics_.append(other.metrics_, shift.offset_ns);
    take_records(rank_.collectives, other.rank_.collectives, [&](CollectiveRecord& r) {
      for (StringId* id : {&r.name, &r.dtype, &r.group_name, &r.ranks})
        *id = to[*id];
    });
    for (const auto& [domain, domain_name] : other.rank_.domains) {
      const std::pair named(domain, to[domain_name]);
      if (std::ranges::find(rank_.domains, named) == rank_.domains.end()) rank_.domains.push_back(named);
    }
    for (const auto& [full, mangled] : other.mangled_)
      mangled_.try_emplace(to[full], to[mangled]);
  }

  // A later window of this process; shifted.
  void append(Process& next, const RecordShift& shift) {
    close_open_ranges();
    next.close_open_ranges();
    absorb(next, shift);
  }

  void leave_out() { left_out_ = true; }

  void prepare() {
    if (prepared_ || left_out_) return;
    prepared_ = true;
    close_open_ranges();
    // What needs nothing of the others, on two threads. Each frees its records when it has made columns of them.
    const std::array<std::function<void()>, 3> parts = {[&] { build_gpu(); }, [&] { build_ranges(); },
                                                        [&] { build_api(); }};
    parallel_for(parts.size(), 2, [&](std::size_t i) { parts.at(i)(); });
    join_launches();
    const auto by_start = [](const auto& r) { return r.start_ns; };
    sort_by(rank_.marks, by_start);
    sort_by(rank_.graph_nodes, [](const GraphNodeRecord& r) { return r.node; });
    sort_by(rank_.syncs, by_start);
    sort_by(rank_.cuda_events, [](const CudaEventRecord& r) { return r.time_ns; });
    rank_.memory = memory_.take();
    rank_.metrics = metrics_.take();
    sort_by(rank_.overheads, by_start);
    sort_by(rank_.collectives, [](const CollectiveRecord& r) { return std::tuple(r.correlation, r.graph_node); });
    sort_by(rank_.thread_cpu, [](const ThreadCpuRecord& r) { return std::tuple(r.global_tid, r.timestamp_ns); });
    sort_by(launcher_.processes, by_start);
    sort_by(launcher_.process_cpu, [](const ProcessCpuRecord& r) { return std::tuple(r.global_pid, r.timestamp_ns); });
    std::sort(rank_.domains.begin(), rank_.domains.end());
  }

  void move_into(Trace& trace) {
    if (left_out_) return;
    if (cut_texts_ > 0)
      rank_.run.drops.push_back(
          {"end of a name", cut_texts_, fmt::format("the name is longer than {} MiB", kMostTextBytes >> 20U)});
    if (rank_.run.rank == kNoRank) {
      trace.launchers.push_back(take_launcher(trace.strings));
    } else {
      trace.ranks.push_back(take(trace.strings));
    }
  }

 private:
  Launcher take_launcher(StringPool& strings) {
    prepare();
    for (ProcessRecord& r : launcher_.processes) {
      for (StringId* id : {&r.name, &r.command})
        *id = strings.intern(pool_.text(*id));
    }
    launcher_.run = rank_.run;
    launcher_.metrics = std::move(rank_.metrics);
    return std::move(launcher_);
  }

  Rank take(StringPool& strings) {
    prepare();
    std::vector<StringId> to(pool_.size());
    for (StringId id = 0; id < pool_.size(); ++id)
      to[id] = strings.intern(pool_.text(id));
    for (std::vector<StringId>* column :
         {&rank_.gpu.name, &rank_.gpu.short_name, &rank_.api.name, &rank_.ranges.name, &rank_.ranges.json}) {
      for (StringId& id : *column)
        id = to[id];
    }
    for (NvtxRecord& r : rank_.marks)
      r.text = to[r.text], r.json = to[r.json];
    for (OverheadRecord& r : rank_.overheads)
      r.name = to[r.name];
    for (CollectiveRecord& r : rank_.collectives) {
      for (StringId* id : {&r.name, &r.dtype, &r.group_name, &r.ranks})
        *id = to[*id];
    }
    for (auto& [domain, name] : rank_.domains)
      name = to[name];
    for (const auto& [full, mangled] : mangled_)
      rank_.mangled.emplace_back(to[full], to[mangled]);
    std::sort(rank_.mangled.begin(), rank_.mangled.end());
    return std::move(rank_);
  }

  // Some sources have only the linker symbol.
  StringId readable(StringId name) {
    if (!is_mangled(pool_.text(name))) return name;
    const auto [entry, is_new] = readable_.try_emplace(name, name);
    if (is_new) entry->second = intern(demangled_kernel_name(pool_.text(name)));
    return entry->second;
  }

  void absorb_gpu(Process& other, const std::vector<StringId>& to, const RecordShift& shift) {
    std::vector<std::uint32_t> configs;
    for (const LaunchConfig& of_other : other.rank_.configs)
      configs.push_back(config(of_other));
    std::vector<std::uint32_t> ends;
    for (const CopyEnds& of_other : other.rank_.copy_ends)
      ends.push_back(index_of(rank_.copy_ends, of_other));
    RawGpuEvents& gpu = other.gpu_;
    gpu.kind.for_each_place([&](EventIndex place) {
      std::uint32_t& config = gpu.config[place];
      if (gpu.kind[place] == GpuKind::kKernel) config = configs[config];
      if (gpu.kind[place] == GpuKind::kMemcpy) config = ends[config];
      gpu.start_ns[place] += shift.offset_ns;
      gpu.end_ns[place] += shift.offset_ns;
      shift.apply_to(gpu.correlation[place]);
      gpu.name[place] = to[gpu.name[place]];
      gpu.short_name[place] = to[gpu.short_name[place]];
    });
    gpu_.take_over(gpu);
  }

  StringId short_name(StringId full) {
    const auto [entry, is_new] = short_names_.try_emplace(full, kNoString);
    if (is_new) entry->second = intern(short_kernel_name(pool_.text(full)));
    return entry->second;
  }

  std::uint32_t config(const LaunchConfig& config) {
    const auto [entry, is_new] = config_ids_.try_emplace(config, static_cast<std::uint32_t>(rank_.configs.size()));
    if (is_new) rank_.configs.push_back(config);
    return entry->second;
  }

  void close_open_ranges() {
    std::int64_t last = kOpenEnd;
    const auto see = [&](std::int64_t ns) { last = std::max(last, ns); };
    ranges_.record.for_each([&](const NvtxRecord& r) { see(r.start_ns), see(r.end_ns); });
    api_.end_ns.for_each(see);
    gpu_.end_ns.for_each(see);
    ranges_.record.for_each([&](NvtxRecord& r) {
      if (r.end_ns != kOpenEnd) return;
      r.end_ns = last;
      ++rank_.open_ranges;
    });
  }

  void build_api() {
    const Watch watch(cancel_);
    // Of two calls that start together the longer is the outer one.
    const auto outer_first = [&](EventIndex i) { return std::pair(api_.start_ns[i], -api_.end_ns[i]); };
    const auto [order, lanes] = order_by_lane(api_.lane, api_.lanes.sorted(), outer_first, watch);
    for (const std::uint32_t lane : api_.lanes.sorted())
      rank_.api_lanes.push_back({api_.lanes.key(lane), lanes[lane]});
    rank_.api.start_ns = api_.start_ns.take_in_order(order);
    rank_.api.end_ns = api_.end_ns.take_in_order(order);
    rank_.api.name = api_.name.take_in_order(order);
    rank_.api.correlation = api_.correlation.take_in_order(order);
    api_ = {};
    fill_lane_column(rank_.api_lanes, rank_.api.lane, order.size());
  }

  template <typename... Column>
  static void reserve(std::size_t events, Column&... columns) {
    (columns.reserve(events), ...);
  }

  template <typename Lane>
  static void fill_lane_column(const std::vector<Lane>& lanes, std::vector<std::uint32_t>& column, std::size_t size) {
    column.resize(size);
    for (std::uint32_t lane = 0; lane < lanes.size(); ++lane) {
      std::fill(column.begin() + lanes[lane].events.begin, column.begin() + lanes[lane].events.end, lane);
    }
  }

  // Processes by their numbers in `gpu_.processes`: half the size of their ids.
  struct ProcessAndCorrelation {
    std::uint32_t process;
    std::uint32_t correlation;
    auto operator<=>(const ProcessAndCorrelation&) const = default;  // NOLINT(modernize-use-nullptr)
  };

  using CallByCorrelation = std::pair<ProcessAndCorrelation, EventIndex>;

  // Correlation ids are unique within a process only. A driver call inside a runtime call carries the same id: the
  // outer, earlier one is the launch that the program made.
  std::vector<CallByCorrelation> calls_by_correlation() {
    const Watch watch(cancel_);
    const ApiCalls& api = rank_.api;
    const auto before = [&](const CallByCorrelation& a, const CallByCorrelation& b) {
      watch.tick();
      if (a.first != b.first) return a.first < b.first;
      return std::pair(api.start_ns[a.second], a.second) < std::pair(api.start_ns[b.second], b.second);
    };
    std::vector<CallByCorrelation> calls;
    calls.reserve(api.start_ns.size());
    std::vector<std::ptrdiff_t> runs = {0};  // where the sorted runs begin and the last one ends
    for (const ThreadLane& lane : rank_.api_lanes) {
      const std::uint32_t process = gpu_.processes(global_pid_of(lane.global_tid));
      for (EventIndex i = lane.events.begin; i < lane.events.end; ++i) {
        if (api.correlation[i] != 0) calls.push_back({{process, api.correlation[i]}, i});
      }
      // A thread counts up.
      if (!std::is_sorted(calls.begin() + runs.back(), calls.end(), before)) {
        std::sort(calls.begin() + runs.back(), calls.end(), before);
      }
      runs.push_back(std::ssize(calls));
    }
    for (; runs.size() > 2; runs = merge_pairs(calls, runs, before)) {
    }
    return calls;
  }

  template <typename Before>
  static std::vector<std::ptrdiff_t> merge_pairs(std::vector<CallByCorrelation>& calls,
                                                 const std::vector<std::ptrdiff_t>& runs, Before before) {
    std::vector<std::ptrdiff_t> merged = {0};
    for (std::size_t i = 2; i < runs.size(); i += 2) {
      std::inplace_merge(calls.begin() + runs[i - 2], calls.begin() + runs[i - 1], calls.begin() + runs[i], before);
      merged.push_back(runs[i]);
    }
    if (merged.back() != runs.back()) merged.push_back(runs.back());
    return merged;
  }

  void build_gpu() {
    const Watch watch(cancel_);
    // With the kind, so that which table was read first does not matter.
    const auto key = [&](EventIndex i) {
      return std::tuple(gpu_.start_ns[i], gpu_.end_ns[i], gpu_.correlation[i], gpu_.kind[i]);
    };
    const auto [order, lanes] = order_by_lane(gpu_.lane, gpu_.lanes.sorted(), key, watch);
    for (const std::uint32_t lane : gpu_.lanes.sorted()) {
      const auto& [device, context, stream] = gpu_.lanes.key(lane);
      rank_.gpu_lanes.push_back({device, context, stream, lanes[lane]});
    }
    GpuEvents& gpu = rank_.gpu;
    gpu.start_ns = gpu_.start_ns.take_in_order(order);
    gpu.end_ns = gpu_.end_ns.take_in_order(order);
    gpu.name = gpu_.name.take_in_order(order);
    gpu.short_name = gpu_.short_name.take_in_order(order);
    gpu.bytes = gpu_.bytes.take_in_order(order);
    gpu.config = gpu_.config.take_in_order(order);
    gpu.correlation = gpu_.correlation.take_in_order(order);
    gpu.graph_node = gpu_.graph_node.take_in_order(order);
    gpu.kind = gpu_.kind.take_in_order(order);
    gpu_process_ = gpu_.process.take_in_order(order);
    fill_lane_column(rank_.gpu_lanes, gpu.lane, order.size());
    reserve(order.size(), gpu.gpu_class, gpu.operation);
    for (EventIndex i = 0; i < gpu.size(); ++i) {
      watch.tick();
      const OperationKind operation = this->operation(gpu.kind[i], gpu.name[i]);
      gpu.operation.push_back(operation);
      const CopyEnds* ends = rank_.ends_of(i);
      gpu.gpu_class.push_back(ends != nullptr && ends->is_between_gpus() ? GpuClass::kCommunication
                                                                         : class_of(operation));
    }
  }

  // Which call launched each GPU event.
  void join_launches() {
    const Watch watch(cancel_);
    const std::vector<CallByCorrelation> calls = calls_by_correlation();
    auto last = calls.begin();
    const auto launch_of = [&](const ProcessAndCorrelation& key) {
      if (key.correlation == 0) return kNoEvent;
      const auto less = [](const auto& call, const auto& wanted) { return call.first < wanted; };
      // A stream mostly runs what was launched next: look closely behind the last one before looking everywhere.
      constexpr std::ptrdiff_t kNear = 64;
      const auto near_end = last + std::min(kNear, calls.end() - last);
      const bool near =
          last != calls.end() && !(key < last->first) && (near_end == calls.end() || key < near_end->first);
      const auto found =
          near ? std::lower_bound(last, near_end, key, less) : std::lower_bound(calls.begin(), calls.end(), key, less);
      last = found;
      return found == calls.end() || found->first != key ? kNoEvent : found->second;
    };
    // A source that did not say which process: the rank's.
    std::vector<std::uint32_t> process_of;
    for (std::uint32_t number = 0; number < gpu_.processes.size(); ++number) {
      const std::uint64_t pid = gpu_.processes.key(number);
      process_of.push_back(gpu_.processes(global_pid_of(pid == 0 ? rank_.run.global_pid : pid)));
    }
    GpuEvents& gpu = rank_.gpu;
    gpu.launch.reserve(gpu_process_.size());
    for (EventIndex i = 0; i < gpu_process_.size(); ++i) {
      watch.tick();
      gpu.launch.push_back(launch_of({process_of[gpu_process_[i]], gpu.correlation[i]}));
    }
    gpu_process_ = {};
    gpu_ = {};
  }

  // Asked once per name.
  OperationKind operation(GpuKind kind, StringId name) {
    if (kind != GpuKind::kKernel) return operation_kind(kind, {});
    const auto [entry, is_new] = operations_.try_emplace(name, OperationKind::kUnknown);
    if (is_new) entry->second = operation_kind(kind, pool_.text(name));
    return entry->second;
  }

  void build_ranges() {
    const Watch watch(cancel_);
    const auto& records = ranges_.record;
    // Of two ranges that start together the longer is the outer one.
    const auto outer_first = [&](EventIndex i) { return std::pair(records[i].start_ns, -records[i].end_ns); };
    const auto [order, lanes] = order_by_lane(ranges_.lane, ranges_.lanes.sorted(), outer_first, watch);
    for (const std::uint32_t lane : ranges_.lanes.sorted()) {
      const auto& [global_tid, domain] = ranges_.lanes.key(lane);
      rank_.range_lanes.push_back({global_tid, domain, lanes[lane]});
    }
    Ranges& ranges = rank_.ranges;
    reserve(order.size(), ranges.start_ns, ranges.end_ns, ranges.name, ranges.json);
    for (const EventIndex i : order) {
      watch.tick();
      const NvtxRecord& r = records[i];
      ranges.start_ns.push_back(r.start_ns);
      ranges.end_ns.push_back(r.end_ns);
      ranges.name.push_back(r.text);
      ranges.json.push_back(r.json);
      if (r.type == NvtxType::kStartEnd) rank_.start_end_ranges.push_back(ranges.size() - 1);
    }
    if (std::ranges::any_of(order, [&](EventIndex i) { return has_sequence(records[i]); })) {
      ranges.sequence.reserve(order.size());
      for (const EventIndex i : order)
        ranges.sequence.push_back(has_sequence(records[i]) ? records[i].int64_value : -1);
    }
    fill_lane_column(rank_.range_lanes, ranges.lane, order.size());
    ranges_ = {};
    ranges.depth.resize(order.size());
    std::vector<std::int64_t> open;  // ends of the enclosing ranges
    for (const RangeLane& lane : rank_.range_lanes) {
      open.clear();
      for (EventIndex i = lane.events.begin; i < lane.events.end; ++i) {
        while (!open.empty() && open.back() <= ranges.start_ns[i])
          open.pop_back();
        ranges.depth[i] = static_cast<std::uint16_t>(std::min<std::size_t>(open.size(), 0xFFFF));
        open.push_back(ranges.end_ns[i]);
      }
    }
  }

  const std::atomic<bool>* cancel_;
  StringPool pool_;
  Rank rank_;
  Launcher launcher_;
  RawGpuEvents gpu_;
  RawApiCalls api_;
  RawRanges ranges_;
  MemoryChanges memory_;
  MetricSeriesBuilder metrics_;
  std::vector<std::uint32_t> gpu_process_;  // of each GPU event, until its launch is found
  std::unordered_map<LaunchConfig, std::uint32_t, ConfigHash> config_ids_;
  std::unordered_map<StringId, StringId> readable_;
  std::unordered_map<StringId, StringId> short_names_;
  std::unordered_map<StringId, OperationKind> operations_;  // of kernels
  std::unordered_map<StringId, StringId> mangled_;
  std::int64_t cut_texts_ = 0;
  bool prepared_ = false;
  bool left_out_ = false;
};

TraceBuilder::TraceBuilder(const std::atomic<bool>* cancel) : cancel_(cancel) {}
TraceBuilder::~TraceBuilder() = default;

RecordSink& TraceBuilder::add_process() { return *processes_.emplace_back(std::make_unique<Process>(cancel_)); }

void TraceBuilder::remove_last_process() { processes_.pop_back(); }

void TraceBuilder::absorb(TraceBuilder& part) {
  for (std::size_t i = 0; i < processes_.size(); ++i)
    processes_[i]->absorb(*part.processes_[i], {});
}

void TraceBuilder::append(std::size_t to, TraceBuilder& from, std::size_t process, const RecordShift& shift) {
  processes_[to]->append(*from.processes_[process], shift);
  from.leave_out(process);
}

void TraceBuilder::leave_out(std::size_t process) { processes_[process]->leave_out(); }

void TraceBuilder::set_run(std::size_t process, const RunInfo& run) { processes_[process]->set_run(run); }

void TraceBuilder::prepare() {
  for (const auto& process : processes_)
    process->prepare();
}

void TraceBuilder::move_into(Trace& trace) {
  for (const auto& process : processes_)
    process->move_into(trace);
  processes_.clear();
}

}  // namespace swinscope
