#include "analyzer/report/what_was_run.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <ctime>
#include <filesystem>
#include <iterator>
#include <map>
#include <set>
#include <sstream>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "analyzer/analyses/recording.h"
#include "analyzer/base/text.h"
#include "analyzer/trace/trace_facts.h"

namespace swinscope {
namespace {

constexpr const char* kNotKnown = "not known";
constexpr const char* kWhereCommandsAre = "commands that name it are run in its folder";

// What the command gives with `--name value` or `--name=value`; empty: it does not.
std::string option_of(const std::string& command, const std::string& name) {
  std::istringstream words(command);
  std::string word;
  while (words >> word) {
    if (word == name && words >> word) return word;
    if (word.starts_with(name + "=")) return word.substr(name.size() + 1);
  }
  return {};
}

std::string model_of(const std::string& command) {
  for (const char* name : {"--model", "--arch", "--model-name", "--model_name"}) {
    if (std::string model = option_of(command, name); !model.empty()) return model;
  }
  return {};
}

std::string file_of(const std::string& path) {
  const std::filesystem::path file(path);
  return file.filename().empty() ? file.parent_path().filename().string() : file.filename().string();
}

// "swin_large.db" -> "swin_large"; a folder is called as it is.
std::string name_of(const std::string& path) {
  std::string text = file_of(path);
  for (const char* end : {".gz", ".json", ".kineto", ".db", ".sqlite"}) {
    if (text.size() > std::string_view(end).size() && text.ends_with(end))
      text.resize(text.size() - std::string_view(end).size());
  }
  return text;
}

// "2 x NVIDIA H200, 1 x NVIDIA H100"; without the number where it is one of one.
std::string counted_names(const std::vector<std::string>& names) {
  std::map<std::string, int> counts;
  for (const std::string& name : names)
    ++counts[name];
  std::string text;
  for (const auto& [name, count] : counts)
    text += fmt::format("{}{}", text.empty() ? "" : ", ", count == 1 ? name : fmt::format("{} x {}", count, name));
  return text;
}

// The GPUs with activity; each once, whoever used it.
std::vector<std::string> used_gpus(const Trace& trace) {
  std::set<std::pair<std::string, std::int32_t>> used;
  std::vector<std::string> names;
  for (const Rank& rank : trace.ranks) {
    for (const GpuLane& lane : rank.gpu_lanes) {
      if (!used.emplace(rank.run.host, lane.device).second) continue;
      const auto gpu = std::ranges::find(rank.run.gpus, lane.device, &GpuInfo::device);
      names.push_back(gpu == rank.run.gpus.end() || gpu->name.empty() ? "GPU of unknown name" : gpu->name);
    }
  }
  return names;
}

bool is_gpu_name(std::string_view key) { return key.starts_with("gpu.") && key.ends_with(".name"); }

std::vector<std::string> gpus_of_machine(const Trace& trace) {
  std::vector<std::string> names;
  if (trace.ranks.empty()) return names;
  for (const NamedValue& fact : trace.ranks.front().run.environment) {
    if (is_gpu_name(fact.name)) names.push_back(fact.value);
  }
  return names;
}

// Each name once.
std::string kinds_of(const std::vector<std::string>& names) {
  return fmt::format("{}", fmt::join(std::set<std::string>(names.begin(), names.end()), ", "));
}

std::string gpu_text(const Trace& trace) {
  if (const auto used = used_gpus(trace); !used.empty()) return counted_names(used);
  const std::string there = counted_names(gpus_of_machine(trace));
  return there.empty() ? kNotKnown : there + " in the machine; which of them were used was not recorded";
}

std::string host_text(const Trace& trace) {
  std::set<std::string> hosts;
  for (const Rank& rank : trace.ranks) {
    if (!rank.run.host.empty()) hosts.insert(rank.run.host);
  }
  return hosts.empty() ? kNotKnown : fmt::format("{}", fmt::join(hosts, ", "));
}

std::string ranks_text(const Trace& trace) {
  const std::int64_t present = rank_count(trace);
  const std::int32_t size = world_size(trace);
  if (size == 0) return fmt::format("{} recorded; how many the job had is not known", format_counted(present, "ranks"));
  const std::string missing = missing_ranks(trace).sentence();
  if (!missing.empty()) return fmt::format("{}; {}", format_counted(size, "ranks"), missing);
  return size == 1 ? "1 rank, the whole job" : fmt::format("{}, all recorded", format_counted(size, "ranks"));
}

std::string command_of(const Trace& trace) { return trace.ranks.empty() ? "" : trace.ranks.front().run.command; }

std::string or_unknown(std::string text) { return text.empty() ? kNotKnown : std::move(text); }

std::string date_text(const Trace& trace) {
  const Cell date = recorded_at(trace);
  const auto* text = std::get_if<std::string>(&date);
  return text == nullptr ? kNotKnown : *text;
}

// Points as the axis of their charts has them: "1, 2 and 4 GPUs".
std::string points_text(const Experiment& experiment, std::string_view counted) {
  std::vector<std::string> names;
  for (const ExperimentPoint& point : experiment.points) {
    std::string name;
    for (const auto& [factor, value] : point.factors) {
      const bool is_count = experiment.mode != "sweep" && factor == "gpus";
      name += fmt::format("{}{}", name.empty() ? "" : " ", is_count ? value : fmt::format("{}={}", factor, value));
    }
    names.push_back(std::move(name));
  }
  if (experiment.mode != "sweep" && names.size() == 1) return format_counted(experiment.points.front().gpus(), counted);
  std::string text = names.empty() ? "no point" : names.front();
  for (std::size_t i = 1; i < names.size(); ++i)
    text += (i + 1 == names.size() ? " and " : ", ") + names[i];
  return experiment.mode == "sweep" ? text : fmt::format("{} {}", text, counted);
}

std::string mode_text(const Experiment& experiment) {
  if (experiment.mode == "weak") return "weak scaling: each GPU has the same batch at every point";
  if (experiment.mode == "strong") return "strong scaling: the batch of all GPUs together is the same at every point";
  return experiment.mode;
}

constexpr std::array<std::pair<std::string_view, std::string_view>, 19> kTitles = {
    {{"host.name", "host name"},
     {"os.release", "operating system"},
     {"os.kernel", "kernel of the operating system"},
     {"cpu.model", "CPU"},
     {"cpu.sockets", "CPU sockets"},
     {"cpu.cores", "CPU cores"},
     {"cpu.threads", "CPU threads"},
     {"cpu.cores_affinity", "CPU cores by affinity"},
     {"cpu.cores_cgroup", "CPU cores by cgroup"},
     {"cpu.cores_allowed", "CPU cores allowed"},
     {"memory.total_bytes", "memory"},
     {"memory.cgroup_bytes", "memory by cgroup"},
     {"cuda.driver", "GPU driver"},
     {"git.commit", "commit"},
     {"git.branch", "branch"},
     {"cuda_driver_version", "CUDA of the driver"},
     {"cuda_runtime_version", "CUDA runtime"},
     {"cupti_version", "CUPTI"},
     {"schemaVersion", "schema of the trace"}}};

std::optional<std::int64_t> whole_number(const std::string& text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() ? std::optional(value) : std::nullopt;
}

// CUDA's own way to write 13.0: 13000.
std::string cuda_version(std::int64_t number) { return fmt::format("{}.{}", number / 1000, number % 1000 / 10); }

}  // namespace

Cell recorded_at(const Trace& trace) {
  if (trace.ranks.empty()) return {};
  const Rank& rank = trace.ranks.front();
  const std::int64_t epoch_ns = rank.run.utc_epoch_ns;
  const std::time_t seconds = epoch_ns / 1'000'000'000 + span_of(rank).begin_ns / 1'000'000'000;
  std::tm calendar{};
  if (epoch_ns == 0 || gmtime_r(&seconds, &calendar) == nullptr) return {};
  std::array<char, 32> text{};
  std::strftime(text.data(), text.size(), "%Y-%m-%d %H:%M:%S UTC", &calendar);
  return std::string(text.data());
}

std::string environment_title(std::string_view key) {
  const auto known = std::ranges::find(kTitles, key, &std::pair<std::string_view, std::string_view>::first);
  if (known != kTitles.end()) return std::string(known->second);
  if (key.starts_with("env.")) return fmt::format("variable {}", key.substr(4));
  if (key.starts_with("gpu.")) {  // gpu.0.pcie, gpu.0-1.link
    const std::size_t dot = key.find('.', 4);
    if (dot != std::string_view::npos) return fmt::format("GPU {} {}", key.substr(4, dot - 4), key.substr(dot + 1));
  }
  if (key.starts_with("distributed.")) return fmt::format("distributed {}", key.substr(12));
  return std::string(key);
}

std::vector<Fact> readable_environment(const std::vector<Fact>& facts) {
  const bool has_gpus = std::ranges::any_of(facts, [](const Fact& fact) { return fact.key == "gpu"; });
  std::vector<Fact> readable;
  std::vector<std::string> gpus;
  for (const Fact& fact : facts) {
    if (is_gpu_name(fact.key) ? !has_gpus : fact.key == "gpu") {
      gpus.push_back(format_cell(fact.value, fact.unit));
      continue;
    }
    if (is_gpu_name(fact.key)) continue;
    readable.push_back({fact.key, fact.title == fact.key ? environment_title(fact.key) : fact.title, fact.value});
    const auto number = whole_number(format_cell(fact.value, fact.unit));
    if (!number) continue;
    if (fact.key.ends_with("_bytes")) readable.back().value = format_bytes(*number);
    if (fact.key == "cuda_driver_version" || fact.key == "cuda_runtime_version")
      readable.back().value = cuda_version(*number);
  }
  if (!gpus.empty()) readable.push_back({"gpus", "GPUs of the machine", counted_names(gpus)});
  return readable;
}

WhatWasRun what_was_run(const Trace& trace, const std::string& path, const std::string& scope_title) {
  const std::string command = command_of(trace);
  const std::string model = model_of(command);
  const std::vector<std::string> gpus = used_gpus(trace);
  const std::string kind = trace.description.empty() ? "" : fmt::format(" ({})", trace.description);
  WhatWasRun run;
  run.subject = model.empty() ? name_of(path) : model;
  if (!gpus.empty()) run.subject += " on " + counted_names(gpus);
  run.facts = {{"model", "model", or_unknown(model)},
               {"gpus", "GPUs", gpu_text(trace)},
               {"host", "host", host_text(trace)},
               {"command", "command", or_unknown(command)},
               {"world", "ranks", ranks_text(trace)},
               {"scope", "figures are of", scope_title},
               {"recorded", "recorded", date_text(trace)},
               {"source", "recording", fmt::format("{}{}; {}", file_of(path), kind, kWhereCommandsAre)}};
  return run;
}

WhatWasRun what_was_run(const Experiment& experiment, const Trace& trace, std::string_view counted) {
  const std::string command = fmt::format("{}", fmt::join(experiment.command, " "));
  const std::string model = model_of(command);
  const std::string gpu = kinds_of(used_gpus(trace).empty() ? gpus_of_machine(trace) : used_gpus(trace));
  const std::string name = name_of(experiment.folder.string());
  WhatWasRun run;
  run.subject = fmt::format("{} with {}{}", model.empty() ? name : model, points_text(experiment, counted),
                            gpu.empty() ? "" : fmt::format(" ({})", gpu));
  run.facts = {{"model", "model", or_unknown(model)},
               {"gpus", "GPUs", gpu_text(trace)},
               {"host", "host", host_text(trace)},
               {"command", "command", or_unknown(command)},
               {"points", "points", fmt::format("{}; {}", points_text(experiment, counted), mode_text(experiment))},
               {"recorded", "recorded", date_text(trace)},
               {"source", "experiment", fmt::format("{}; {}", name, kWhereCommandsAre)}};
  return run;
}

}  // namespace swinscope
