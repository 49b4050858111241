#include "store/run_tables.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "store/insert.h"
#include "store/nsys_export.h"
#include "store/schema.h"

namespace swinscope {
namespace {

constexpr std::array<const char*, 16> kTables = {"SWINSCOPE_RUN",
                                                 "TARGET_INFO_SESSION_START_TIME",
                                                 "PROCESSES",
                                                 "TARGET_INFO_GPU",
                                                 "TARGET_INFO_CUDA_DEVICE",
                                                 "TARGET_INFO_CUDA_CONTEXT_INFO",
                                                 "META_DATA_EXPORT",
                                                 "TARGET_INFO_CUDA_STREAM",
                                                 "META_DATA_CAPTURE",
                                                 "TARGET_INFO_SYSTEM_ENV",
                                                 "DIAGNOSTIC_EVENT",
                                                 "SWINSCOPE_ENVIRONMENT",
                                                 "SWINSCOPE_DROPS",
                                                 "SWINSCOPE_COLLECTOR",
                                                 "SWINSCOPE_WINDOW",
                                                 "ThreadNames"};

// 0 and the empty text are not known.
Binder& known(Binder& row, std::int64_t value) { return row.optional(value); }
Binder& known(Binder& row, std::string_view text) { return text.empty() ? row.null() : row.text(text); }

void write_gpus(Database& db, const RunInfo& run) {
  Insert gpus(db, "TARGET_INFO_GPU", 19);
  Insert devices(db, "TARGET_INFO_CUDA_DEVICE", 5);
  for (const GpuInfo& gpu : run.gpus) {
    Binder row = gpus.row();
    row.value(0).value(gpu.device).text(gpu.name);
    known(row, gpu.bus_location).value(1);
    known(known(known(row, gpu.l2_bytes).value(gpu.memory_bytes), gpu.memory_bytes_per_second), gpu.clock_hz);
    row.value(gpu.sm_count)
        .null()
        .text(gpu.uuid)
        .null()
        .null()
        .value(gpu.compute_major)
        .value(gpu.compute_minor)
        .null();
    known(row, gpu.chip).value(gpu.device).run();
    devices.row()
        .value(gpu.device)
        .value(gpu.device)
        .value(pid_of(run.global_pid))
        .text(gpu.uuid)
        .value(gpu.sm_count)
        .run();
  }
}

void write_contexts(Database& db, const RunInfo& run) {
  const std::uint32_t pid = pid_of(run.global_pid);
  Insert contexts(db, "TARGET_INFO_CUDA_CONTEXT_INFO", 8);
  for (const ContextInfo& c : run.contexts)
    contexts.row()
        .value(c.null_stream)
        .value(0)
        .value(0)
        .value(pid)
        .value(c.device)
        .value(c.context)
        .null()
        .null()
        .run();
  Insert streams(db, "TARGET_INFO_CUDA_STREAM", 7);
  for (const StreamInfo& s : run.streams)
    streams.row().value(s.stream).value(0).value(0).value(pid).value(s.context).value(s.priority).value(s.flag).run();
}

void write_facts(Database& db, const char* table, const std::vector<NamedValue>& facts) {
  Insert rows(db, table, 2);
  for (const NamedValue& fact : facts)
    rows.row().text(fact.name).text(fact.value).run();
}

// The words of a command line as swinscope writes it: blanks apart, quotes of the shell around what has some inside.
std::vector<std::string> words_of(std::string_view command) {
  std::vector<std::string> words;
  std::string word;
  bool begun = false;
  char quote = 0;
  for (std::size_t i = 0; i < command.size(); ++i) {
    const char c = command[i];
    if (quote == 0 && (c == ' ' || c == '\t')) {
      if (begun) words.push_back(std::exchange(word, {}));
      begun = false;
      continue;
    }
    begun = true;
    if (quote != 0 ? c == quote : c == '\'' || c == '"') {
      quote = quote != 0 ? '\0' : c;
    } else if (c == '\\' && quote != '\'' && i + 1 < command.size()) {
      word += command[++i];
    } else {
      word += c;
    }
  }
  if (begun) words.push_back(word);
  return words;
}

std::vector<NamedValue> capture_facts(const RunInfo& run) {
  std::vector<NamedValue> facts = {{"CUDA_GRAPH_TRACE_OPTIONS:MODE", run.graph_level_only ? "Graph" : "Node"}};
  const std::vector<std::string> words = words_of(run.command);
  for (std::size_t i = 0; i < words.size(); ++i)
    facts.push_back({i == 0 ? "PROCESS_0:COMMAND" : fmt::format("PROCESS_0:ARGUMENT_{}", i - 1), words[i]});
  return facts;
}

std::vector<NamedValue> export_facts() {
  std::vector<NamedValue> facts = {{"EXPORT_PRODUCT_NAME", "swinscope"},
                                   {"EXPORT_PRODUCT_VERSION", kProductVersion},
                                   {"EXPORT_SCHEMA_VERSION", kNsysSchemaVersion}};
  std::string_view rest = kNsysSchemaVersion;
  for (const char* part : {"MAJOR", "MINOR", "MICRO"}) {
    facts.push_back({fmt::format("EXPORT_SCHEMA_VERSION_{}", part), std::string(rest.substr(0, rest.find('.')))});
    rest.remove_prefix(std::min(rest.size(), rest.find('.') + 1));
  }
  return facts;
}

// What Nsight Systems calls a fact about the machine, its number there, and what swinscope calls it.
struct SystemFact {
  const char* name;
  int number;
  const char* ours;
};
constexpr std::array<SystemFact, 6> kSystemFacts = {{{"CpuCores", 1, "cpu.threads"},
                                                     {"CpuDescription", 13, "cpu.model"},
                                                     {"NvDriverVersion", 205, "cuda.driver"},
                                                     {"OsDescription", 605, "os.release"},
                                                     {"Hostname", 619, ""},
                                                     {"KernelVersion", 882, "os.kernel"}}};

void write_system(Database& db, const RunInfo& run) {
  Insert rows(db, "TARGET_INFO_SYSTEM_ENV", 5);
  const std::uint64_t machine = node_of(run.global_pid) << 48U;
  for (const SystemFact& fact : kSystemFacts) {
    // An imported export has the facts by the names of Nsight Systems.
    const auto known = std::ranges::find_if(
        run.environment, [&](const NamedValue& own) { return own.name == fact.ours || own.name == fact.name; });
    const std::string value = known != run.environment.end() ? known->value : *fact.ours == '\0' ? run.host : "";
    if (!value.empty())
      rows.row().value(machine).text("swinscope").text(fact.name).value(fact.number).text(value).run();
  }
}

// What a reader of the file should be told, where the tables for it are those of Nsight Systems.
std::vector<std::string> warnings_of(const RunInfo& run) {
  std::vector<std::string> warnings;
  for (const DropInfo& drop : run.drops)
    warnings.push_back(fmt::format("{} {} lost: {}", drop.count, drop.what, drop.reason));
  for (const NamedValue& fact : run.collector) {
    if (fact.name == kSourceWarning || fact.name == kSourceDoubt) warnings.push_back(fact.value);
    if (fact.name == kCudaActivity && fact.value.starts_with(kNotRecorded))
      warnings.push_back(fmt::format("CUDA activity was {}", fact.value));
  }
  return warnings;
}

void write_diagnostics(Database& db, const RunInfo& run) {
  constexpr int kTargetTimestamp = 1;
  constexpr int kInjection = 1;
  constexpr int kWarning = 2;
  Insert rows(db, "DIAGNOSTIC_EVENT", 6);
  for (const std::string& warning : warnings_of(run))
    rows.row()
        .value(0)
        .value(kTargetTimestamp)
        .value(kInjection)
        .value(kWarning)
        .text(warning)
        .value(run.global_pid)
        .run();
}

void write_metadata(Database& db, const RunInfo& run) {
  write_facts(db, "META_DATA_EXPORT", export_facts());
  write_facts(db, "META_DATA_CAPTURE", capture_facts(run));
  write_facts(db, "SWINSCOPE_ENVIRONMENT", run.environment);
  write_facts(db, "SWINSCOPE_COLLECTOR", run.collector);
  Insert windows(db, "SWINSCOPE_WINDOW", 2);
  for (const WindowInfo& window : run.windows)
    windows.row().value(window.start_ns).value(window.end_ns).run();
  Insert drops(db, "SWINSCOPE_DROPS", 3);
  for (const DropInfo& drop : run.drops)
    drops.row().text(drop.what).value(drop.count).text(drop.reason).run();
}

void write_identity(Database& db, const RunInfo& run, bool complete) {
  Insert identity(db, "SWINSCOPE_RUN", 9);
  identity.row()
      .value(kSchemaVersion)
      .text(run.source)
      .text(run.source_file)
      .value(run.rank)
      .value(run.world_size)
      .value(run.global_pid)
      .text(run.host)
      .text(run.command)
      .value(complete ? 1 : 0)
      .run();
  Insert start(db, "TARGET_INFO_SESSION_START_TIME", 3);
  start.row().value(run.utc_epoch_ns).null().null().run();
  Insert processes(db, "PROCESSES", 3);
  for (const ProcessInfo& process : run.processes) {
    processes.row().value(process.global_pid).value(pid_of(process.global_pid)).text(process.name).run();
  }
}

}  // namespace

void write_run(Database& db, const RunInfo& run, bool complete) {
  for (const char* table : kTables)
    db.exec(fmt::format("DELETE FROM {}", table));
  write_identity(db, run, complete);
  write_gpus(db, run);
  write_contexts(db, run);
  write_metadata(db, run);
  write_system(db, run);
  write_diagnostics(db, run);
}

}  // namespace swinscope
