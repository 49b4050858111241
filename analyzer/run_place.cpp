#include "analyzer/run_place.h"

#include <fstream>
#include <string>

#include <nlohmann/json.hpp>

namespace swinscope {
namespace fs = std::filesystem;
namespace {

nlohmann::json read_if_there(const fs::path& path) {
  std::ifstream file(path);
  return file ? nlohmann::json::parse(file, nullptr, false) : nlohmann::json();
}

// The folder of the point that a run, or a file of one, is of; empty where it is of none.
fs::path point_of(const fs::path& run) {
  std::error_code ignored;
  const fs::path folder = fs::absolute(run, ignored).lexically_normal();
  const fs::path normal = folder.filename().empty() ? folder.parent_path() : folder;
  for (fs::path above = normal.parent_path(); above != above.parent_path(); above = above.parent_path()) {
    if (fs::exists(above / "point.json", ignored)) return above;
    if (above != normal.parent_path()) break;  // a file in a run's folder is two below
  }
  return {};
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

fs::path traced_run_beside(const fs::path& run) {
  const fs::path point = point_of(run);
  if (point.empty()) return {};
  const nlohmann::json json = read_if_there(point / "point.json");
  if (!json.is_object()) return {};
  const auto tracing = json.find("tracing");
  if (tracing == json.end() || !tracing->is_string() || tracing->get<std::string>().empty()) return {};
  return point / tracing->get<std::string>();
}

}  // namespace swinscope
