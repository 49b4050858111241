#include "store/nsys_export.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <iterator>
#include <set>
#include <string_view>

#include <fmt/format.h>

#include "store/table_reader.h"

namespace swinscope {
namespace {

// The table of facts about the export has had two names.
constexpr std::array<const char*, 2> kExportTables = {"META_DATA_EXPORT", "EXPORT_META_DATA"};

// A vmId of a TARGET_INFO table: serialized like the ids of processes, or a plain number.
std::uint64_t node_of_vm(std::uint64_t vm) { return vm >> 48U != 0 ? node_of(vm) : vm; }

std::optional<std::int32_t> whole_number(std::string_view text) {
  std::int32_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() && number >= 0 ? std::optional(number) : std::nullopt;
}

// A variable of the recorded environment: a fact of its own, or an entry of the list that nsys keeps.
std::string variable(const std::vector<NamedValue>& environment, std::string_view name) {
  for (const NamedValue& fact : environment) {
    if (fact.name == name || fact.name == fmt::format("env.{}", name)) return fact.value;
    if (fact.name != "DeviceEnvironment") continue;
    for (std::string_view rest = fact.value; !rest.empty();) {
      const std::string_view entry = rest.substr(0, rest.find(';'));
      rest.remove_prefix(std::min(rest.size(), entry.size() + 1));
      if (entry.starts_with(name) && entry.substr(name.size()).starts_with('='))
        return std::string(entry.substr(name.size() + 1));
    }
  }
  return {};
}

struct TargetGpu {
  std::uint64_t node = 0;
  std::int64_t id = 0;
  std::int64_t ordinal = -1;  // that CUDA gives it; -1: not said here
  GpuInfo info;
};

std::vector<TargetGpu> target_gpus(Database& db) {
  std::vector<TargetGpu> gpus;
  TableReader rows(db, "TARGET_INFO_GPU",
                   {"id", "name", "uuid", "totalMemory", "smCount", "computeMajor", "computeMinor", "vmId", "cuDevice",
                    "chipName", "busLocation", "l2CacheSize", "memoryBandwidth", "clockRate"},
                   2);
  while (rows.next()) {
    TargetGpu& gpu = gpus.emplace_back();
    gpu.id = rows.integer<std::int64_t>(0);
    gpu.info.name = rows.text(1);
    gpu.info.uuid = rows.text(2);
    gpu.info.memory_bytes = rows.integer<std::int64_t>(3);
    gpu.info.sm_count = rows.integer<std::int32_t>(4);
    gpu.info.compute_major = rows.integer<std::int32_t>(5);
    gpu.info.compute_minor = rows.integer<std::int32_t>(6);
    gpu.node = node_of_vm(rows.integer<std::uint64_t>(7));
    gpu.ordinal = rows.integer<std::int64_t>(8, -1);
    gpu.info.chip = rows.text(9);
    gpu.info.bus_location = rows.text(10);
    gpu.info.l2_bytes = rows.integer<std::int64_t>(11);
    gpu.info.memory_bytes_per_second = rows.integer<std::int64_t>(12);
    gpu.info.clock_hz = rows.integer<std::int64_t>(13);
  }
  // Of 2021: by the ordinal.
  TableReader old(db, "TARGET_INFO_CUDA_GPU",
                  {"deviceId", "name", "globalMemorySize", "numMultiprocessors", "computeCapabilityMajor",
                   "computeCapabilityMinor", "vmId"},
                  2);
  while (old.next()) {
    TargetGpu& gpu = gpus.emplace_back();
    gpu.id = gpu.ordinal = old.integer<std::int64_t>(0);
    gpu.info.name = old.text(1);
    gpu.info.memory_bytes = old.integer<std::int64_t>(2);
    gpu.info.sm_count = old.integer<std::int32_t>(3);
    gpu.info.compute_major = old.integer<std::int32_t>(4);
    gpu.info.compute_minor = old.integer<std::int32_t>(5);
    gpu.node = node_of_vm(old.integer<std::uint64_t>(6));
  }
  return gpus;
}

void add_gpu(std::vector<GpuInfo>& to, const TargetGpu& gpu, std::int64_t ordinal) {
  if (std::ranges::find(to, ordinal, &GpuInfo::device) != to.end()) return;
  to.push_back(gpu.info);
  to.back().device = static_cast<std::int32_t>(ordinal);
}

// Of the node, or of the one that the export is about when it does not tell nodes apart.
bool on_node(const TargetGpu& gpu, std::uint64_t process, bool several_nodes) {
  return !several_nodes || gpu.node == node_of(process);
}

using GpusOfProcesses = std::map<std::uint64_t, std::vector<GpuInfo>>;

void add_by_device_table(Database& db, const std::vector<TargetGpu>& gpus, bool several_nodes,
                         const std::vector<std::uint64_t>& processes, GpusOfProcesses& found) {
  TableReader devices(db, "TARGET_INFO_CUDA_DEVICE", {"cudaId", "pid", "gpuId", "uuid"}, 2);
  while (devices.next()) {
    const auto ordinal = devices.integer<std::int64_t>(0);
    const auto pid = devices.integer<std::uint64_t>(1);
    const std::string uuid = devices.text(3);
    for (const std::uint64_t process : processes) {
      if (pid_of(process) != pid) continue;
      const auto gpu = std::ranges::find_if(gpus, [&](const TargetGpu& candidate) {
        if (!on_node(candidate, process, several_nodes)) return false;
        return devices.is_null(2) ? !uuid.empty() && candidate.info.uuid == uuid
                                  : candidate.id == devices.integer<std::int64_t>(2);
      });
      if (gpu != gpus.end()) add_gpu(found[process], *gpu, ordinal);
    }
  }
}

// Where nothing says which GPU has which ordinal, they are known when all are of one kind, but for which is which.
void number_alike(std::vector<TargetGpu>& gpus) {
  const bool alike = std::ranges::all_of(gpus, [&](const TargetGpu& gpu) {
    return gpu.ordinal < 0 && gpu.info.name == gpus.front().info.name &&
           gpu.info.memory_bytes == gpus.front().info.memory_bytes;
  });
  if (!alike) return;
  for (std::size_t i = 0; i < gpus.size(); ++i) {
    gpus[i].ordinal = static_cast<std::int64_t>(i);
    if (gpus.size() == 1) continue;
    gpus[i].info.uuid.clear();
    gpus[i].info.bus_location.clear();
  }
}

std::string lower_case(std::string_view text) {
  std::string lower(text);
  std::ranges::transform(lower, lower.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return lower;
}

// Whether a diagnostic says that events are missing which are read: those of sampled call stacks and of the scheduler
// are not.
bool says_loss(std::string_view text) {
  constexpr std::array<std::string_view, 16> kLoss = {"missing",     "lost",          "dropped",          "not all ",
                                                      "incomplete",  "discarded",     "overflow",         "truncated",
                                                      "fail",        "not collected", "not be collected", "unable to",
                                                      "unsupported", "not support",   "not started",      "no cuda"};
  constexpr std::array<std::string_view, 9> kElsewhere = {"sampl",      "backtrace",  "context switch",
                                                          "perf event", "perf_event", "callchain",
                                                          "opengl",     "vulkan",     "os runtime"};
  const std::string lower = lower_case(text);
  const auto holds = [&](std::string_view part) { return lower.find(part) != std::string::npos; };
  return std::ranges::any_of(kLoss, holds) && std::ranges::none_of(kElsewhere, holds);
}

// Which severities are warnings and errors: the file may say, else as nsys has always numbered them.
std::set<std::int64_t> alarming_severities(Database& db) {
  std::set<std::int64_t> alarming;
  TableReader rows(db, "ENUM_DIAGNOSTIC_SEVERITY_LEVEL", {"id", "name"}, 2);
  while (rows.next()) {
    const std::string name = lower_case(rows.text(1));
    if (name == "warning" || name == "error" || name == "fatal" || name == "critical")
      alarming.insert(rows.integer<std::int64_t>(0));
  }
  return alarming.empty() ? std::set<std::int64_t>{2, 3} : alarming;
}

// Tables that describe others, or the file.
bool is_description(std::string_view table) {
  constexpr std::array<std::string_view, 9> kPrefixes = {"TARGET_INFO_",     "ENUM_",         "META_DATA",
                                                         "EXPORT_META_DATA", "NVTX_PAYLOAD_", "ANALYSIS_",
                                                         "ProcessStreams",   "sqlite_",       "UnwindMethodType"};
  return std::ranges::any_of(kPrefixes, [&](std::string_view prefix) { return table.starts_with(prefix); });
}

// What of an export is read; other tables with rows are named, so that nobody thinks they were read.
constexpr std::array<const char*, 17> kReadTables = {"StringIds",
                                                     "CUPTI_ACTIVITY_KIND_KERNEL",
                                                     "CUPTI_ACTIVITY_KIND_MEMCPY",
                                                     "CUPTI_ACTIVITY_KIND_MEMSET",
                                                     "CUPTI_ACTIVITY_KIND_GRAPH_TRACE",
                                                     "CUPTI_ACTIVITY_KIND_RUNTIME",
                                                     "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION",
                                                     "CUPTI_ACTIVITY_KIND_CUDA_EVENT",
                                                     "CUPTI_ACTIVITY_KIND_OVERHEAD",
                                                     "PROFILER_OVERHEAD",
                                                     "CUDA_GRAPH_NODE_EVENTS",
                                                     "CUDA_GPU_MEMORY_USAGE_EVENTS",
                                                     "NVTX_EVENTS",
                                                     "MPI_RANKS",
                                                     "DIAGNOSTIC_EVENT",
                                                     "PROCESSES",
                                                     "ThreadNames"};

}  // namespace

std::string export_fact(Database& db, std::string_view name) {
  for (const char* table : kExportTables) {
    TableReader rows(db, table, {"name", "value"}, 2);
    while (rows.next()) {
      if (rows.text(0) == name) return rows.text(1);
    }
  }
  return {};
}

bool is_nsys_export(Database& db) {
  if (!export_fact(db, "EXPORT_SCHEMA_VERSION").empty()) return true;
  const std::vector<std::string> names = db.tables();
  return std::ranges::any_of(names, [](const std::string& name) {
    return name.starts_with("TARGET_INFO_") || name.starts_with("ENUM_NSYS_") || name.starts_with("META_DATA_");
  });
}

std::map<std::uint64_t, std::int32_t> mpi_ranks(Database& db) {
  std::map<std::uint64_t, std::int32_t> ranks;
  TableReader rows(db, "MPI_RANKS", {"globalTid", "rank"}, 2);
  while (rows.next()) {
    if (const auto rank = rows.integer<std::int32_t>(1, -1); rank >= 0)
      ranks.emplace(global_pid_of(rows.integer<std::uint64_t>(0)), rank);
  }
  return ranks;
}

std::optional<LauncherRank> launcher_rank(const std::vector<NamedValue>& environment) {
  struct Launcher {
    const char* rank;
    const char* world_size;
  };
  constexpr std::array<Launcher, 5> kLaunchers = {{{"RANK", "WORLD_SIZE"},
                                                   {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
                                                   {"SLURM_PROCID", "SLURM_NTASKS"},
                                                   {"PMI_RANK", "PMI_SIZE"},
                                                   {"PMIX_RANK", "PMIX_SIZE"}}};
  for (const Launcher& launcher : kLaunchers) {
    const auto rank = whole_number(variable(environment, launcher.rank));
    if (!rank) continue;
    return LauncherRank{*rank, whole_number(variable(environment, launcher.world_size)).value_or(0), launcher.rank};
  }
  return std::nullopt;
}

std::map<std::uint64_t, std::string> host_names(Database& db) {
  std::map<std::uint64_t, std::string> names;
  TableReader rows(db, "TARGET_INFO_SYSTEM_ENV", {"name", "value", "globalVid"}, 2);
  while (rows.next()) {
    if (rows.text(0) == "Hostname") names.emplace(node_of_vm(rows.integer<std::uint64_t>(2)), rows.text(1));
  }
  return names;
}

GpusOfProcesses gpus_of(Database& db, const std::vector<std::uint64_t>& processes) {
  const std::vector<TargetGpu> gpus = target_gpus(db);
  const bool several_nodes =
      std::ranges::any_of(gpus, [&](const TargetGpu& gpu) { return gpu.node != gpus.front().node; });
  GpusOfProcesses found;
  add_by_device_table(db, gpus, several_nodes, processes, found);
  for (const std::uint64_t process : processes) {
    if (found.contains(process)) continue;
    std::vector<TargetGpu> of_node;
    std::ranges::copy_if(gpus, std::back_inserter(of_node),
                         [&](const TargetGpu& gpu) { return on_node(gpu, process, several_nodes); });
    if (of_node.empty()) continue;
    number_alike(of_node);
    for (const TargetGpu& gpu : of_node) {
      if (gpu.ordinal >= 0) add_gpu(found[process], gpu, gpu.ordinal);
    }
  }
  for (auto& [process, known] : found)
    std::ranges::sort(known, {}, &GpuInfo::device);
  return found;
}

std::vector<NamedValue> diagnostics(Database& db) {
  std::vector<NamedValue> facts;
  const std::set<std::int64_t> alarming = alarming_severities(db);
  TableReader rows(db, "DIAGNOSTIC_EVENT", {"severity", "text"}, 2);
  while (rows.next()) {
    if (!alarming.contains(rows.integer<std::int64_t>(0))) continue;
    std::string text = rows.text(1);
    while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back())) != 0)
      text.pop_back();
    std::ranges::replace(text, '\n', ' ');
    const NamedValue fact{says_loss(text) ? std::string(kSourceDoubt) : std::string(kSourceWarning), text};
    if (!text.empty() && std::ranges::find(facts, fact) == facts.end()) facts.push_back(fact);
  }
  return facts;
}

std::string sql_name(std::string_view name) {
  std::string text = "\"";
  for (const char c : name)
    text += c == '"' ? std::string("\"\"") : std::string(1, c);
  return text + '"';
}

std::vector<std::pair<std::string, std::int64_t>> other_tables(Database& db, const std::vector<std::string>& known) {
  std::vector<std::pair<std::string, std::int64_t>> others;
  for (const std::string& name : db.tables()) {
    if (is_description(name) || std::ranges::find(known, name) != known.end()) continue;
    try {
      Statement count = db.prepare(fmt::format("SELECT count(*) FROM {}", sql_name(name)));
      if (count.step() && count.integer(0) > 0) others.emplace_back(name, count.integer(0));
    } catch (const DamagedFile&) {
      db.note_damage(name, 0);
    }
  }
  return others;
}

std::vector<std::pair<std::string, std::int64_t>> unread_tables(Database& db) {
  return other_tables(db, {kReadTables.begin(), kReadTables.end()});
}

}  // namespace swinscope
