#include "analyzer/importers/run_place.h"

#include <charconv>
#include <string>

#include <nlohmann/json.hpp>

#include "analyzer/importers/named_path.h"
#include "store/error.h"
#include "store/small_file.h"

namespace swinscope {
namespace fs = std::filesystem;
namespace {

nlohmann::json read_if_there(const fs::path& path) {
  try {
    refuse_link_out(path);
    return nlohmann::json::parse(read_small_file(path, {}), nullptr, false);
  } catch (const Error&) {
    return {};
  }
}

std::string text_in(const nlohmann::json& json, const char* key) {
  if (!json.is_object()) return {};
  const auto value = json.find(key);
  return value != json.end() && value->is_string() ? value->get<std::string>() : std::string();
}

// What is no text as a mark is none.
OwnLinks links_in(const nlohmann::json& json) {
  OwnLinks links;
  const auto found = json.find("links");
  if (found == json.end() || !found->is_object()) return links;
  for (const auto& [name, mark] : found->items())
    if (mark.is_string()) links[name] = mark.get<std::string>();
  return links;
}

// The folder of the point that a run, or a file of one, is of, or itself; empty where it is of none.
fs::path point_of(const fs::path& run) {
  std::error_code ignored;
  const fs::path folder = fs::absolute(run, ignored).lexically_normal();
  fs::path at = folder.filename().empty() ? folder.parent_path() : folder;
  if (fs::path point = largest_point(at); !point.empty()) return point;
  for (int up = 0; up < 3 && !at.empty(); ++up) {  // a file in a run's folder is two below
    if (fs::exists(at / "point.json", ignored)) return at;
    at = at.parent_path();
  }
  return {};
}

int gpus_of(const nlohmann::json& point) {
  const auto factors = point.find("factors");
  const std::string text = factors == point.end() ? std::string() : text_in(*factors, "gpus");
  int gpus = 1;
  std::from_chars(text.data(), text.data() + text.size(), gpus);
  return gpus;
}

}  // namespace

std::optional<std::int64_t> warmup_of_experiment(const fs::path& run) {
  const fs::path point = point_of(run);
  if (point.empty()) return std::nullopt;
  const nlohmann::json experiment = read_if_there(point.parent_path() / "experiment.json");
  if (!experiment.is_object()) return std::nullopt;
  const auto warmup = experiment.find("warmup_steps");
  if (warmup == experiment.end() || !warmup->is_number_integer()) return std::nullopt;
  return warmup->get<std::int64_t>();
}

StepRule step_rule_of_experiment(const fs::path& run) {
  const fs::path point = point_of(run);
  if (point.empty()) return {};
  std::string text = text_in(read_if_there(point / "point.json"), "step");
  if (text.empty()) text = text_in(read_if_there(point.parent_path() / "experiment.json"), "step");
  try {
    return parse_step_rule(text);
  } catch (const Error&) {
    return {};
  }
}

fs::path run_of_point(const fs::path& folder) {
  const fs::path file = folder / "point.json";
  const nlohmann::json point = read_if_there(file);
  if (!point.is_object()) return {};
  if (const std::string tracing = text_in(point, "tracing"); !tracing.empty())
    return named_path(file, tracing, links_in(point));
  const auto timing = point.find("timing");
  const bool timed = timing != point.end() && timing->is_array() && !timing->empty() && timing->front().is_string();
  return timed ? named_path(file, timing->front().get<std::string>(), links_in(point)) : fs::path();
}

fs::path largest_point(const fs::path& experiment) {
  const fs::path file = experiment / "experiment.json";
  const nlohmann::json json = read_if_there(file);
  if (!json.is_object() || !json.contains("points") || !json["points"].is_array()) return {};
  fs::path largest;
  int most = 0;
  for (const auto& name : json["points"]) {
    if (!name.is_string()) continue;
    const fs::path point = named_path(file, name.get<std::string>(), links_in(json));
    const nlohmann::json read = read_if_there(point / "point.json");
    if (!read.is_object() || run_of_point(point).empty() || gpus_of(read) <= most) continue;
    most = gpus_of(read);
    largest = point;
  }
  return largest;
}

fs::path run_folder_of(const fs::path& path) {
  std::error_code ignored;
  if (fs::is_regular_file(path, ignored)) return path.parent_path();
  if (const fs::path point = largest_point(path); !point.empty()) return run_of_point(point);
  const fs::path run = run_of_point(path);
  return run.empty() ? path : run;
}

fs::path traced_run_beside(const fs::path& run) {
  const fs::path point = point_of(run);
  if (point.empty()) return {};
  const nlohmann::json json = read_if_there(point / "point.json");
  const std::string tracing = text_in(json, "tracing");
  try {
    return tracing.empty() ? fs::path() : named_path(point / "point.json", tracing, links_in(json));
  } catch (const Error&) {
    return {};  // what stands beside a run is no reason to refuse it
  }
}

}  // namespace swinscope
