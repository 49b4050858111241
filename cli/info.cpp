// swinscope info RUN: what is in it.
#include <array>
#include <ctime>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include "analyzer/analyses/recording.h"
#include "analyzer/trace/trace_facts.h"
#include "cli/command.h"

namespace swinscope::cli {
namespace {

struct InfoOptions {
  CommonOptions common;
  std::string run;
};

Cell text_or_unknown(const std::string& text) { return text.empty() ? Cell() : Cell(text); }

// When the first event happened.
Cell utc_time(std::int64_t epoch_ns, std::int64_t begin_ns) {
  const std::time_t seconds = epoch_ns / 1'000'000'000 + begin_ns / 1'000'000'000;
  std::tm calendar{};
  if (epoch_ns == 0 || gmtime_r(&seconds, &calendar) == nullptr) return {};
  std::array<char, 32> text{};
  std::strftime(text.data(), text.size(), "%Y-%m-%d %H:%M:%S UTC", &calendar);
  return std::string(text.data());
}

int run_info(const InfoOptions& options) {
  const Trace trace = open_run(options.run, options.common);
  const RunInfo first = trace.ranks.empty() ? RunInfo{} : trace.ranks.front().run;
  const std::int64_t begin_ns = trace.ranks.empty() ? 0 : span_of(trace.ranks.front()).begin_ns;
  Document document;
  document.schema = "info";
  document.run = trace.path;
  document.warnings = trace.warnings;
  document.facts = {{"path", "path", trace.path},
                    {"kind", "kind", trace.description},
                    {"recorded", "recorded", utc_time(first.utc_epoch_ns, begin_ns)},
                    {"command", "command", text_or_unknown(first.command)},
                    {"world_size", "world size",
                     world_size(trace) == 0 ? Cell() : Cell(std::int64_t{world_size(trace)}), Unit::kCount},
                    {"ranks_present", "ranks present", rank_count(trace), Unit::kCount},
                    {"files", "files", static_cast<std::int64_t>(trace.files), Unit::kCount},
                    {"gpu_events", "GPU events", trace.gpu_event_count(), Unit::kCount}};
  document.tables.push_back(recorded_ranks_table(trace));
  if (Table health = health_table(trace); !health.rows.empty()) document.tables.push_back(std::move(health));
  if (Table drops = drop_table(trace); !drops.rows.empty()) document.tables.push_back(std::move(drops));
  if (options.common.verbose || options.common.format != "table") {
    if (Table collector = collector_table(trace); !collector.rows.empty())
      document.tables.push_back(std::move(collector));
    document.tables.push_back(environment_table(trace));
  }
  emit(document, options.common);
  return status_of(trace);
}

}  // namespace

void add_info(CLI::App& app, int& status) {
  auto options = std::make_shared<InfoOptions>();
  CLI::App* command = app.add_subcommand("info", "What is in a run: ranks, GPUs, duration, counts, drops");
  command->add_option("RUN", options->run, "Trace to describe")->required();
  options->common.add_class_rules(*command);
  options->common.add_to(*command);
  command->callback([options, &status] { status = run_info(*options); });
}

}  // namespace swinscope::cli
