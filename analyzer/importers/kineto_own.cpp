#include "analyzer/importers/kineto_own.h"

#include <algorithm>
#include <array>
#include <tuple>
#include <utility>

#include <nlohmann/json.hpp>

namespace swinscope {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;

constexpr std::string_view kSchema = "swinscope.kineto/1";
// A made-up file cannot ask for more.
constexpr std::size_t kMostLaunchers = 10'000;
// Times beyond this cannot be real, and a stored trace with them would not be read back.
constexpr std::int64_t kMaxTimeNs = std::int64_t{1} << 61;

bool is_time(std::int64_t ns) { return ns >= -kMaxTimeNs && ns <= kMaxTimeNs; }

std::string text_of(const json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

template <typename Number>
Number number_of(const json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end()) return Number{};
  if (found->is_boolean()) return static_cast<Number>(found->get<bool>());
  return found->is_number_integer() ? found->get<Number>() : Number{};
}

// A field of a struct, by its name in JSON.
template <typename Struct, typename Value>
struct Field {
  const char* key;
  Value Struct::*member;
};
template <typename Struct, typename Value>
Field(const char*, Value Struct::*) -> Field<Struct, Value>;

constexpr std::tuple kGpu = {Field{"device", &GpuInfo::device},
                             Field{"name", &GpuInfo::name},
                             Field{"uuid", &GpuInfo::uuid},
                             Field{"memory_bytes", &GpuInfo::memory_bytes},
                             Field{"sm_count", &GpuInfo::sm_count},
                             Field{"compute_major", &GpuInfo::compute_major},
                             Field{"compute_minor", &GpuInfo::compute_minor}};
constexpr std::tuple kContext = {Field{"context", &ContextInfo::context}, Field{"device", &ContextInfo::device},
                                 Field{"null_stream", &ContextInfo::null_stream}};
constexpr std::tuple kStream = {Field{"stream", &StreamInfo::stream}, Field{"context", &StreamInfo::context},
                                Field{"priority", &StreamInfo::priority}, Field{"flag", &StreamInfo::flag}};
constexpr std::tuple kProcess = {Field{"global_pid", &ProcessInfo::global_pid}, Field{"name", &ProcessInfo::name}};
constexpr std::tuple kThread = {Field{"global_tid", &ThreadInfo::global_tid}, Field{"name", &ThreadInfo::name}};
constexpr std::tuple kWindow = {Field{"start_ns", &WindowInfo::start_ns}, Field{"end_ns", &WindowInfo::end_ns}};
constexpr std::tuple kNamedValue = {Field{"name", &NamedValue::name}, Field{"value", &NamedValue::value}};
constexpr std::tuple kDrop = {Field{"what", &DropInfo::what}, Field{"count", &DropInfo::count},
                              Field{"reason", &DropInfo::reason}};
constexpr std::tuple kRun = {Field{"source", &RunInfo::source},
                             Field{"source_file", &RunInfo::source_file},
                             Field{"world_size", &RunInfo::world_size},
                             Field{"global_pid", &RunInfo::global_pid},
                             Field{"host", &RunInfo::host},
                             Field{"command", &RunInfo::command},
                             Field{"complete", &RunInfo::complete},
                             Field{"graph_level_only", &RunInfo::graph_level_only},
                             Field{"utc_epoch_ns", &RunInfo::utc_epoch_ns}};

template <typename Struct, typename Fields>
void write_fields(ordered_json& object, const Struct& from, const Fields& fields) {
  std::apply([&](const auto&... field) { ((object[field.key] = from.*field.member), ...); }, fields);
}

template <typename Struct, typename Fields>
void read_fields(const json& object, Struct& into, const Fields& fields) {
  const auto read = [&](const auto& field) {
    auto& member = into.*field.member;
    using Value = std::remove_reference_t<decltype(member)>;
    if constexpr (std::is_same_v<Value, std::string>) {
      member = text_of(object, field.key);
    } else {
      member = number_of<Value>(object, field.key);
    }
  };
  std::apply([&](const auto&... field) { (read(field), ...); }, fields);
}

// Calls `list(key, member, fields)` for each list of a run.
template <typename Run, typename List>
void for_each_list(Run& run, List list) {
  list("gpus", run.gpus, kGpu);
  list("contexts", run.contexts, kContext);
  list("streams", run.streams, kStream);
  list("processes", run.processes, kProcess);
  list("threads", run.threads, kThread);
  list("windows", run.windows, kWindow);
  list("environment", run.environment, kNamedValue);
  list("collector", run.collector, kNamedValue);
  list("drops", run.drops, kDrop);
}

// A row as JSON and back: the numbers and texts of a record in a fixed order.
class Row {
 public:
  explicit Row(const json& row) : row_(row) {}
  template <typename Number>
  Number number() {
    if (at_ < row_.size() && row_[at_].is_number_integer()) return row_[at_++].get<Number>();
    ok_ = false;
    return Number{};
  }
  std::int64_t time() {
    const auto ns = number<std::int64_t>();
    ok_ = ok_ && is_time(ns);
    last_ns_ = ns;
    return ns;
  }
  // Of what began at the time before it.
  std::int64_t end() {
    const std::int64_t ns = time_or(kOpenEnd);
    ok_ = ok_ && (ns == kOpenEnd || ns >= last_ns_);
    return ns;
  }
  std::int64_t time_or(std::int64_t none) {
    const auto ns = number<std::int64_t>();
    ok_ = ok_ && (ns == none || is_time(ns));
    return ns;
  }
  std::string text() {
    if (at_ < row_.size() && row_[at_].is_string()) return row_[at_++].get<std::string>();
    ok_ = false;
    return {};
  }
  bool is_complete() const { return ok_ && at_ == row_.size(); }

 private:
  const json& row_;
  std::size_t at_ = 0;
  bool ok_ = true;
  std::int64_t last_ns_ = 0;
};

}  // namespace

ordered_json own_facts(const RunInfo& run) {
  ordered_json facts;
  facts["schema"] = kSchema;
  write_fields(facts, run, kRun);
  const bool stated = std::ranges::find(run.collector, kRankStatedBy, &NamedValue::name) != run.collector.end() ||
                      (run.source == "swinscope" && run.world_size > 0);
  facts["rank_is_stated"] = stated ? 1 : 0;
  for_each_list(run, [&](const char* key, const auto& list, const auto& fields) {
    ordered_json& rows = facts[key] = ordered_json::array();
    for (const auto& entry : list) {
      ordered_json object = ordered_json::object();
      write_fields(object, entry, fields);
      rows.push_back(std::move(object));
    }
  });
  return facts;
}

bool read_own_facts(const json& facts, RunInfo& run) {
  if (!facts.is_object() || text_of(facts, "schema") != kSchema) return false;
  read_fields(facts, run, kRun);
  for_each_list(run, [&](const char* key, auto& list, const auto& fields) {
    list.clear();
    const auto rows = facts.find(key);
    if (rows == facts.end() || !rows->is_array()) return;
    for (const json& row : *rows) {
      if (!row.is_object()) continue;
      read_fields(row, list.emplace_back(), fields);
    }
  });
  std::erase_if(run.windows, [](const WindowInfo& window) {
    return !is_time(window.start_ns) || !is_time(window.end_ns) || window.end_ns < window.start_ns;
  });
  return true;
}

std::optional<OwnEvent> read_own_event(std::string_view text) {
  const json event = json::parse(text, nullptr, false);
  if (!event.is_object()) return std::nullopt;
  const auto arguments = event.find("args");
  if (arguments == event.end() || !arguments->is_object()) return std::nullopt;
  OwnEvent own;
  own.name = text_of(event, "name");
  own.exported = {number_of<std::int64_t>(*arguments, "offset_ns"), number_of<std::uint64_t>(*arguments, "global_pid"),
                  text_of(*arguments, "source")};
  own.number = number_of<std::uint32_t>(*arguments, "id");
  if (!is_time(own.exported.offset_ns)) return std::nullopt;
  own.text = text_of(*arguments, "name");
  own.short_name = text_of(*arguments, "short_name");
  own.symbol = text_of(*arguments, "symbol");
  return own;
}

std::vector<ordered_json> own_graph_nodes(const Rank& rank) {
  std::vector<ordered_json> rows;
  for (const GraphNodeRecord& r : rank.graph_nodes)
    rows.push_back({r.time_ns, r.global_tid, r.node, r.original});
  return rows;
}

std::vector<ordered_json> own_cuda_events(const Rank& rank) {
  std::vector<ordered_json> rows;
  for (const CudaEventRecord& r : rank.cuda_events)
    rows.push_back({r.time_ns, r.global_pid, r.event_sync, r.correlation, r.device, r.context, r.stream, r.event});
  return rows;
}

std::vector<ordered_json> own_collectives(const Trace& trace, const Rank& rank) {
  std::vector<ordered_json> rows;
  for (const CollectiveRecord& r : rank.collectives) {
    rows.push_back({r.global_pid, r.graph_node, r.correlation, trace.text(r.name), trace.text(r.dtype),
                    trace.text(r.group_name), trace.text(r.ranks), r.in_elements, r.out_elements, r.seq, r.group_size});
  }
  return rows;
}

std::vector<ordered_json> own_thread_cpu(const Rank& rank) {
  std::vector<ordered_json> rows;
  for (const ThreadCpuRecord& r : rank.thread_cpu)
    rows.push_back({r.timestamp_ns, r.global_tid, r.cpu_ns});
  return rows;
}

std::vector<ordered_json> own_processes(const Trace& trace, const Launcher& launcher) {
  std::vector<ordered_json> rows;
  for (const ProcessRecord& r : launcher.processes) {
    rows.push_back({r.global_pid, r.start_ns, r.end_ns, r.parent_global_pid, r.rank, trace.text(r.name),
                    trace.text(r.command), r.cpu_ns, r.unseen_cpu_ns, r.max_rss_bytes});
  }
  return rows;
}

std::vector<ordered_json> own_process_cpu(const Launcher& launcher) {
  std::vector<ordered_json> rows;
  for (const ProcessCpuRecord& r : launcher.process_cpu)
    rows.push_back({r.timestamp_ns, r.global_pid, r.cpu_ns, r.rss_bytes});
  return rows;
}

std::int64_t OwnRecords::take(std::string_view text) {
  const json event = json::parse(text, nullptr, false);
  const auto arguments = event.is_object() ? event.find("args") : event.end();
  if (!event.is_object() || arguments == event.end() || !arguments->is_object()) return 1;
  const auto rows = arguments->find("rows");
  const std::string kind = text_of(*arguments, "kind");
  std::int64_t unused = 0;
  if (kind == "launcher") {
    RunInfo run;
    RecordSink* sink = launcher(number_of<std::size_t>(*arguments, "launcher"));
    const auto facts = arguments->find("facts");
    if (sink == nullptr || facts == arguments->end() || !read_own_facts(*facts, run)) return 1;
    run.rank = kNoRank;
    sink->set_run(run);
  } else if (rows != arguments->end() && rows->is_array()) {
    const bool of_launcher = kind == "process" || kind == "process_cpu";
    RecordSink* sink = of_launcher ? launcher(number_of<std::size_t>(*arguments, "launcher")) : &rank_;
    if (sink == nullptr) return static_cast<std::int64_t>(rows->size());
    for (const json& row : *rows)
      unused += row.is_array() && take_row(kind, row, *sink) ? 0 : 1;
  } else {
    return 1;
  }
  return unused;
}

bool OwnRecords::take_row(std::string_view kind, const json& values, RecordSink& sink) {
  Row row(values);
  const auto add = [&](const auto& record) {
    if (row.is_complete()) sink.add(record);
    return row.is_complete();
  };
  const auto string = [&] { return sink.intern(row.text()); };
  // Braced lists are evaluated from left to right.
  if (kind == "graph_node") {
    return add(GraphNodeRecord{row.time(), row.number<std::uint64_t>(), row.number<std::uint64_t>(),
                               row.number<std::uint64_t>()});
  }
  if (kind == "cuda_event") {
    return add(CudaEventRecord{row.time_or(kUnknownTime), row.number<std::uint64_t>(), row.number<std::uint64_t>(),
                               row.number<std::uint32_t>(), row.number<std::int32_t>(), row.number<std::uint32_t>(),
                               row.number<std::uint32_t>(), row.number<std::uint32_t>()});
  }
  if (kind == "collective") {
    return add(CollectiveRecord{row.number<std::uint64_t>(), row.number<std::uint64_t>(), row.number<std::uint32_t>(),
                                string(), string(), string(), string(), row.number<std::int64_t>(),
                                row.number<std::int64_t>(), row.number<std::int64_t>(), row.number<std::int32_t>()});
  }
  if (kind == "thread_cpu") {
    return add(ThreadCpuRecord{row.time(), row.number<std::uint64_t>(), row.number<std::int64_t>()});
  }
  if (kind == "process") {
    return add(ProcessRecord{row.number<std::uint64_t>(), row.time(), row.end(), row.number<std::uint64_t>(),
                             row.number<std::int32_t>(), string(), string(), row.number<std::int64_t>(),
                             row.number<std::int64_t>(), row.number<std::int64_t>()});
  }
  if (kind == "process_cpu") {
    return add(ProcessCpuRecord{row.time(), row.number<std::uint64_t>(), row.number<std::int64_t>(),
                                row.number<std::int64_t>()});
  }
  return false;
}

RecordSink* OwnRecords::launcher(std::size_t index) {
  if (trace_ == nullptr || index > launchers_.size() || index >= kMostLaunchers) return nullptr;
  if (index == launchers_.size()) {
    RunInfo run;  // until its facts are found, which a damaged file may lack
    run.rank = kNoRank;
    launchers_.push_back(&trace_->add_process());
    launchers_.back()->set_run(run);
  }
  return launchers_[index];
}

}  // namespace swinscope
