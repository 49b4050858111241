#include "analyzer/trace/trace_builder.h"

#include <algorithm>
#include <array>
#include <functional>
#include <tuple>
#include <unordered_map>

#include <fmt/format.h>

#include "analyzer/base/parallel.h"
#include "analyzer/trace/event_columns.h"
#include "analyzer/trace/kernel_names.h"
#include "analyzer/trace/launch_calls.h"
#include "analyzer/trace/launch_join.h"
#include "analyzer/trace/memory_changes.h"
#include "analyzer/trace/raw_events.h"
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

template <typename Record, typename Key>
void sort_by(std::vector<Record>& records, Key key) {
  std::ranges::stable_sort(records, {}, key);
}

}  // namespace

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
  void add(ApiRecord r) {
    r.name = plain_call(r.name);
    api_.add(r);
  }
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
  void set_run(const RunInfo& run) override {
    rank_.run = run;
    std::ranges::stable_sort(rank_.run.gpus, {},
                             &GpuInfo::device);  // as files are read, in whatever order others list them
  }

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
    far_events_ += other.far_events_;
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
    close_open_ranges(plausible_times(gpu_, api_, ranges_));
    next.close_open_ranges(plausible_times(next.gpu_, next.api_, next.ranges_));
    absorb(next, shift);
  }

  void leave_out() { left_out_ = true; }

  void prepare() {
    if (prepared_ || left_out_) return;
    prepared_ = true;
    const Interval times = plausible_times(gpu_, api_, ranges_);
    close_open_ranges(times);
    const std::size_t events = gpu_.start_ns.size() + ranges_.record.size() + api_.start_ns.size();
    // What needs nothing of the others, on two threads. Each frees its records when it has made columns of them.
    std::vector<std::uint32_t> process_of_gpu_event;
    EventIndex repeated_calls = 0;
    const std::array<std::function<void()>, 3> parts = {
        [&] { process_of_gpu_event = take_gpu_events(gpu_, rank_, pool_, times, Watch(cancel_)); },
        [&] { take_ranges(ranges_, rank_, times, Watch(cancel_)); },
        [&] { repeated_calls = take_calls(api_, rank_, times, Watch(cancel_)); }};
    parallel_for(parts.size(), 2, [&](std::size_t i) { parts.at(i)(); });
    join_launches(rank_, gpu_.processes, process_of_gpu_event, Watch(cancel_));
    gpu_ = {};
    far_events_ +=
        static_cast<std::int64_t>(events) - repeated_calls - rank_.gpu.size() - rank_.ranges.size() - rank_.api.size();
    leave_out_far(times, rank_.marks, rank_.syncs, rank_.cuda_events, rank_.overheads, rank_.thread_cpu);
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
    prepare();
    if (far_events_ > 0)
      rank_.run.drops.push_back({"event", far_events_, "its time is 52 days or more from those of the others"});
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

  StringId plain_call(StringId name) {
    if (name >= plain_calls_.size()) plain_calls_.resize(std::size_t{name} + 1, kNoString);
    StringId& plain = plain_calls_[name];
    if (plain == kNoString && name != kNoString) {
      const std::string_view text = pool_.text(name);
      const std::string_view without = plain_call_name(text);
      plain = without.size() == text.size() ? name : intern(std::string(without));
    }
    return plain;
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

  template <typename... Records>
  void leave_out_far(Interval times, std::vector<Records>&... records) {
    const auto is_far = [&](const auto& r) {
      const auto is_out = [&](std::int64_t ns) { return ns < times.begin_ns || ns > times.end_ns; };
      if constexpr (requires { r.start_ns; }) {
        return is_out(r.start_ns) || (r.end_ns != kOpenEnd && is_out(r.end_ns));
      } else if constexpr (requires { r.time_ns; }) {
        return r.time_ns != kUnknownTime && is_out(r.time_ns);
      } else {
        return is_out(r.timestamp_ns);
      }
    };
    ((far_events_ += static_cast<std::int64_t>(std::erase_if(records, is_far))), ...);
  }

  void close_open_ranges(Interval times) {
    std::int64_t last = kOpenEnd;
    const auto see = [&](std::int64_t ns) {
      if (ns <= times.end_ns) last = std::max(last, ns);
    };
    ranges_.record.for_each([&](const NvtxRecord& r) { see(r.start_ns), see(r.end_ns); });
    api_.end_ns.for_each(see);
    gpu_.end_ns.for_each(see);
    ranges_.record.for_each([&](NvtxRecord& r) {
      if (r.end_ns != kOpenEnd) return;
      r.end_ns = last;
      ++rank_.open_ranges;
    });
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
  std::unordered_map<LaunchConfig, std::uint32_t, ConfigHash> config_ids_;
  std::unordered_map<StringId, StringId> readable_;
  std::vector<StringId> plain_calls_;  // by the id of the name; kNoString: not asked for yet
  std::unordered_map<StringId, StringId> short_names_;
  std::unordered_map<StringId, StringId> mangled_;
  std::int64_t cut_texts_ = 0;
  std::int64_t far_events_ = 0;
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
