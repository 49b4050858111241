#include "analyzer/experiment/platforms.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "store/error.h"

namespace swinscope {
namespace {

using Json = nlohmann::ordered_json;

const Json& platforms_json() {
  static const Json json = Json::parse(kPlatformsJson);
  return json;
}

std::optional<double> number(const Json& json, const char* key) {
  const auto found = json.find(key);
  return found == json.end() ? std::nullopt : std::optional(found->get<double>());
}

Cell cell_of(const Json& value) {
  if (value.is_number_integer()) return value.get<std::int64_t>();
  if (value.is_number()) return value.get<double>();
  return value.get<std::string>();
}

// An array of objects; what an object does not have stays empty.
Table table_of(const char* key, const char* title, std::vector<Column> columns) {
  Table table{key, title, std::move(columns), {}};
  for (const Json& object : platforms_json().at(key)) {
    std::vector<Cell>& row = table.rows.emplace_back();
    for (const Column& column : table.columns) {
      const auto found = object.find(column.key);
      row.push_back(found == object.end() ? Cell() : cell_of(*found));
    }
  }
  return table;
}

Table published_table() {
  Table table{"published",
              "Published results",
              {{"key", "key"},
               {"platform", "platform"},
               {"workload", "workload"},
               {"gpus", "GPUs", Unit::kCount},
               {"speedup", "speedup", Unit::kNumber},
               {"efficiency", "efficiency", Unit::kNumber},
               {"source", "source"}},
              {}};
  for (const PublishedResult& result : published_results()) {
    for (const PublishedPoint& point : result.points) {
      table.rows.push_back({result.key, result.platform, result.workload, std::int64_t{point.gpus},
                            point.speedup ? Cell(*point.speedup) : Cell(),
                            point.speedup ? Cell(*point.speedup / point.gpus) : Cell(), result.source});
    }
  }
  return table;
}

std::vector<PublishedResult> parse_published() {
  std::vector<PublishedResult> results;
  for (const Json& json : platforms_json().at("published")) {
    PublishedResult result{json.at("key"),      json.at("name"),   json.at("platform"),
                           json.at("workload"), json.at("source"), {}};
    for (const Json& point : json.at("points")) {
      result.points.push_back({point.at("gpus"), number(point, "train_time_hours"), number(point, "speedup"),
                               number(point, "gpu_share"), number(point, "cpu_share")});
    }
    results.push_back(std::move(result));
  }
  return results;
}

}  // namespace

const std::vector<PublishedResult>& published_results() {
  static const std::vector<PublishedResult> results = parse_published();
  return results;
}

std::vector<PublishedResult> find_published(std::string_view key) {
  std::vector<PublishedResult> found;
  std::string known;
  const std::string family = fmt::format("{}-", key);
  for (const PublishedResult& result : published_results()) {
    known += (known.empty() ? "" : ", ") + result.key;
    if (result.key == key || result.key.starts_with(family)) found.push_back(result);
  }
  if (!found.empty()) return found;
  throw Error(ErrorKind::kUsage, fmt::format("there is no published result '{}'", key),
              fmt::format("there are: {}", known), "`swinscope platforms` shows them");
}

Document platforms_document() {
  Document document;
  document.schema = "platforms";
  document.tables = {table_of("gpus", "GPUs",
                              {{"name", "GPU"},
                               {"architecture", "architecture"},
                               {"cuda_cores", "CUDA cores", Unit::kCount},
                               {"tensor_cores", "tensor cores", Unit::kCount},
                               {"memory_gb", "memory GB", Unit::kCount},
                               {"memory_gb_s", "GB/s", Unit::kCount},
                               {"memory_clock_gbit_s", "memory clock Gbit/s", Unit::kNumber},
                               {"bus_bits", "bus bits", Unit::kCount},
                               {"interconnect", "interconnect"},
                               {"interconnect_gb_s", "its GB/s", Unit::kCount},
                               {"source", "source"}}),
                     table_of("platforms", "Platforms",
                              {{"name", "platform"},
                               {"nodes", "nodes", Unit::kCount},
                               {"gpu", "GPU"},
                               {"gpus_per_node", "GPUs a node", Unit::kCount},
                               {"memory", "GPU memory"},
                               {"memory_bandwidth", "its bandwidth"},
                               {"interconnect", "interconnect"},
                               {"interconnect_bandwidth", "its bandwidth"},
                               {"cpu", "CPU"},
                               {"node_memory_gb", "node memory GB", Unit::kCount},
                               {"source", "source"}}),
                     published_table(), table_of("sources", "Sources", {{"key", "key"}, {"title", "title"}})};
  document.notes = {"Bandwidths and clocks as their sources give them; efficiency is speedup / GPUs.",
                    "`swinscope compare EXPERIMENT --beside KEY` shows published results beside measured ones."};
  return document;
}

}  // namespace swinscope
