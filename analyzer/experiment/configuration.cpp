#include "analyzer/experiment/configuration.h"

#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>

namespace swinscope {
namespace {

// How the GPUs reach each other, which only the launcher has looked at.
void add_connections(const Trace& trace, std::vector<Fact>& facts) {
  if (trace.launchers.empty()) return;
  for (const NamedValue& fact : trace.launchers.front().run.environment) {
    const bool is_link =
        fact.name.ends_with(".nvlinks") || fact.name.ends_with(".pcie") || fact.name.ends_with(".link");
    if (fact.name.starts_with("gpu.") && is_link) facts.push_back({fact.name, fact.name, fact.value});
  }
}

// One value for each key: "2 x NVIDIA H200" of two GPUs.
std::map<std::string, std::string> values_of(const std::vector<Fact>& facts) {
  std::map<std::string, std::vector<std::pair<std::string, int>>> counted;
  for (const Fact& fact : facts) {
    auto& values = counted[fact.key];
    const std::string text = format_cell(fact.value, fact.unit);
    const auto same = std::ranges::find(values, text, [](const auto& value) { return value.first; });
    if (same == values.end()) {
      values.emplace_back(text, 1);
    } else {
      ++same->second;
    }
  }
  std::map<std::string, std::string> texts;
  for (const auto& [key, values] : counted) {
    for (const auto& [text, count] : values) {
      std::string& all = texts[key];
      all += (all.empty() ? "" : ", ") + (count > 1 ? fmt::format("{} x {}", count, text) : text);
    }
  }
  return texts;
}

}  // namespace

std::vector<Fact> environment_facts(const Trace& trace) {
  std::vector<Fact> facts;
  if (trace.ranks.empty()) return facts;
  const RunInfo& run = trace.ranks.front().run;
  facts.push_back({"host", "host", run.host.empty() ? Cell("not recorded") : Cell(run.host)});
  for (const GpuInfo& gpu : run.gpus)
    facts.push_back({"gpu", fmt::format("GPU {}", gpu.device), gpu.name});
  for (const NamedValue& fact : run.environment)
    facts.push_back({fact.name, fact.name, fact.value});
  add_connections(trace, facts);
  return facts;
}

bool tells_apart(const Fact& fact) {
  static const std::vector<std::string> prefixes = {"command", "gpu",   "cpu.",   "os.release", "driver",
                                                    "cuda.",   "cudnn", "nccl",   "env.NCCL_",  "python",
                                                    "torch",   "host",  "memory", "git.commit"};
  // A machine has others, and nobody chose them.
  for (const char* own : {".uuid", ".bus", ".numa_node"}) {
    if (fact.key.ends_with(own)) return false;
  }
  return std::ranges::any_of(prefixes, [&](const std::string& prefix) { return fact.key.starts_with(prefix); });
}

Table differences_table(std::span<const Configuration> configurations) {
  Table table{"differences", "Differences of configuration", {{"what", "what"}}, {}};
  std::vector<std::string> keys;
  std::vector<std::map<std::string, std::string>> values;
  std::map<std::string, std::string> titles;
  for (const Configuration& one : configurations) {
    table.columns.push_back({one.name, one.name});
    values.push_back(values_of(one.facts));
    for (const Fact& fact : one.facts) {
      if (titles.emplace(fact.key, fact.key == "gpu" ? "GPUs" : fact.title).second) keys.push_back(fact.key);
    }
  }
  for (const std::string& key : keys) {
    std::vector<Cell> row = {titles[key]};
    bool differs = false;
    for (std::map<std::string, std::string>& own : values) {
      const auto found = own.find(key);
      row.push_back(found == own.end() ? Cell() : Cell(found->second));
      differs = differs || row.back() != row[1];
    }
    if (differs) table.rows.push_back(std::move(row));
  }
  return table;
}

}  // namespace swinscope
