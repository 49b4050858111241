// experiment.json and point.json.
#include <algorithm>
#include <charconv>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "analyzer/base/json_number.h"
#include "analyzer/experiment/experiment.h"
#include "analyzer/importers/named_path.h"
#include "store/error.h"
#include "store/private_file.h"
#include "store/small_file.h"

namespace swinscope {
namespace fs = std::filesystem;
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kProfile = "profile";
constexpr const char* kAgain = "run `swinscope scale` or `swinscope join` again";

[[noreturn]] void refuse(const fs::path& path, const std::string& cause) {
  throw Error(ErrorKind::kInput, fmt::format("{}: cannot be read", path.string()), cause, kAgain);
}

Json read_json(const fs::path& path, std::string_view schema) {
  refuse_link_out(path);
  Json json = Json::parse(read_small_file(path, kAgain), nullptr, false);
  if (!json.is_object() || !json.contains("schema") || json["schema"] != schema)
    refuse(path, fmt::format("it is no JSON of schema {}", schema));
  return json;
}

void write_json(const fs::path& path, const Json& json) { replace_private_file(path, json.dump(2) + "\n"); }

// What a number may be: everything that is computed of it stays within 64 bits.
std::int64_t checked(const fs::path& path, const Json& json, const char* key, std::int64_t otherwise,
                     std::int64_t most) {
  const std::int64_t value = whole_number(json, key, otherwise);
  if (value < 0 || value > most) refuse(path, fmt::format("{} is {}: not within 0 and {}", key, value, most));
  return value;
}

std::string checked_rule(const fs::path& path, const std::string& text) {
  try {
    parse_step_rule(text);
  } catch (const Error& error) {
    refuse(path, error.what());
  }
  return text;
}

GpuPrice checked_price(const fs::path& path, const Json& json) {
  GpuPrice price{json.value("price_of", ""), json.value("price_per_gpu_hour", 0.0)};
  constexpr double kMost = 1e9;
  if (!(price.per_hour >= 0 && price.per_hour <= kMost))
    refuse(path, fmt::format("price_per_gpu_hour is {}: not within 0 and {}", price.per_hour, kMost));
  return price;
}

constexpr std::int64_t kMostImages = 1'000'000'000'000;
constexpr std::int64_t kMostImagesPerStep = 1'000'000'000;
constexpr std::int64_t kMostSteps = 1'000'000'000;
constexpr std::size_t kMostPoints = 10'000;

Experiment parse_experiment(const fs::path& folder, const fs::path& path, const Json& json) {
  Experiment experiment;
  experiment.folder = folder;
  experiment.mode = json.value("mode", experiment.mode);
  if (experiment.mode != "weak" && experiment.mode != "strong" && experiment.mode != "sweep")
    refuse(path, fmt::format("mode is \"{}\": not weak, strong or sweep", experiment.mode));
  experiment.swept = json.value("swept", experiment.swept);
  experiment.images = checked(path, json, "images", experiment.images, kMostImages);
  experiment.images_per_step = checked(path, json, "images_per_step", 0, kMostImagesPerStep);
  experiment.images_per_gpu = checked(path, json, "images_per_gpu", 0, kMostImagesPerStep);
  experiment.warmup_steps = static_cast<int>(checked(path, json, "warmup_steps", experiment.warmup_steps, kMostSteps));
  experiment.price = checked_price(path, json);
  experiment.step_asked = json.value("step_asked", "");
  experiment.step = checked_rule(path, json.value("step", ""));
  experiment.command = json.value("command", experiment.command);
  experiment.planned = whole_number(json, "planned", std::size_t{0});
  experiment.notes = json.value("notes", experiment.notes);
  experiment.made_with = json.value("made_with", experiment.made_with);
  experiment.links = json.value("links", OwnLinks{});
  const auto points = json.value("points", std::vector<std::string>{});
  if (points.size() > kMostPoints)
    refuse(path, fmt::format("it has {} points: more than {}", points.size(), kMostPoints));
  for (const std::string& name : points) {
    std::error_code ignored;
    const fs::path place = named_path(path, name, experiment.links);
    ExperimentPoint point = fs::exists(place / "point.json", ignored) ? read_point(place) : ExperimentPoint{};
    if (point.runs() == 0 && point.given_step_ns.empty())
      experiment.gone.push_back(name);
    else
      experiment.points.push_back(std::move(point));
  }
  if (experiment.points.empty() && !experiment.gone.empty())
    refuse(path, fmt::format("none of the runs of its points ({}) is there", fmt::join(experiment.gone, ", ")));
  return experiment;
}

// A number of GPUs is a positive one.
void check_gpus(const fs::path& path, const std::map<std::string, std::string>& factors) {
  const auto gpus = factors.find("gpus");
  if (gpus == factors.end()) return;
  const std::string& text = gpus->second;
  int count = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
  if (error != std::errc() || end != text.data() + text.size() || count < 1)
    refuse(path, fmt::format("gpus is \"{}\": no number of GPUs", text));
}

void leave_out_what_is_gone(ExperimentPoint& point) {
  const auto is_there = [&](const std::string& run) {
    std::error_code ignored;
    return fs::exists(named_path(point.folder / "point.json", run, point.links), ignored);
  };
  const auto gone = std::stable_partition(point.timing.begin(), point.timing.end(), is_there);
  point.gone.assign(gone, point.timing.end());
  point.timing.erase(gone, point.timing.end());
  if (!point.tracing.empty() && !is_there(point.tracing)) point.gone.push_back(std::exchange(point.tracing, {}));
}

}  // namespace

int ExperimentPoint::gpus() const {
  int count = 1;
  if (const auto found = factors.find("gpus"); found != factors.end()) {
    std::from_chars(found->second.data(), found->second.data() + found->second.size(), count);
  }
  return std::max(1, count);
}

bool is_experiment(const fs::path& path) {
  std::error_code ignored;
  return fs::is_regular_file(path / "experiment.json", ignored);
}

ExperimentPoint read_point(const fs::path& folder) {
  const fs::path path = folder / "point.json";
  const Json json = read_json(path, "swinscope.point/1");
  ExperimentPoint point;
  point.folder = folder;
  try {
    point.factors = json.value("factors", std::map<std::string, std::string>{});
    check_gpus(path, point.factors);
    point.timing = json.value("timing", std::vector<std::string>{});
    point.tracing = json.value("tracing", "");
    point.traced = json.value("traced", "");
    point.links = json.value("links", OwnLinks{});
    if (json.contains("step_ns")) point.given_step_ns = whole_numbers<std::int64_t>(json.at("step_ns"));
    point.step = checked_rule(path, json.value("step", ""));
    point.step_how = json.value("step_found_by", "");
    if (json.contains("step_spread")) point.step_spread = json.at("step_spread").get<double>();
    point.planned_runs = whole_number(json, "planned_runs", std::size_t{0});
  } catch (const Json::exception& error) {
    refuse(path, error.what());
  }
  leave_out_what_is_gone(point);
  constexpr std::int64_t kLongestStepNs = 1'000'000'000'000'000;  // eleven days
  for (const std::int64_t step_ns : point.given_step_ns) {
    if (step_ns <= 0 || step_ns > kLongestStepNs) refuse(path, fmt::format("step_ns has {}: no step time", step_ns));
  }
  std::error_code ignored;
  if (fs::is_directory(named_path(path, kProfile, point.links), ignored)) point.profile = kProfile;
  return point;
}

void write_point(const ExperimentPoint& point) {
  Json json;
  json["schema"] = "swinscope.point/1";
  json["factors"] = point.factors;
  json["timing"] = point.timing;
  json["tracing"] = point.tracing;
  if (!point.traced.empty()) json["traced"] = point.traced;
  if (!point.links.empty()) json["links"] = point.links;
  if (!point.given_step_ns.empty()) json["step_ns"] = point.given_step_ns;
  if (!point.step.empty()) json["step"] = point.step;
  if (!point.step_how.empty()) json["step_found_by"] = point.step_how;
  if (point.step_spread) json["step_spread"] = *point.step_spread;
  if (point.planned_runs > 0) {
    json["planned_runs"] = point.planned_runs;
    json["complete"] = !point.incomplete();
  }
  write_json(point.folder / "point.json", json);
}

Experiment read_experiment(const fs::path& folder) {
  const fs::path path = folder / "experiment.json";
  const Json json = read_json(path, "swinscope.experiment/1");
  try {
    return parse_experiment(folder, path, json);
  } catch (const Json::exception& error) {
    refuse(path, error.what());
  }
}

void write_experiment(const Experiment& experiment) {
  Json json;
  json["schema"] = "swinscope.experiment/1";
  json["mode"] = experiment.mode;
  json["swept"] = experiment.swept;
  json["images"] = experiment.images;
  json["images_per_step"] = experiment.images_per_step;
  json["images_per_gpu"] = experiment.images_per_gpu;
  json["warmup_steps"] = experiment.warmup_steps;
  if (experiment.price.is_given()) {
    json["price_per_gpu_hour"] = experiment.price.per_hour;
    if (!experiment.price.gpu.empty()) json["price_of"] = experiment.price.gpu;
  }
  if (!experiment.step_asked.empty()) json["step_asked"] = experiment.step_asked;
  if (!experiment.step.empty()) json["step"] = experiment.step;
  json["command"] = experiment.command;
  if (experiment.planned > 0) json["planned"] = experiment.planned;
  if (!experiment.notes.empty()) json["notes"] = experiment.notes;
  if (!experiment.made_with.empty()) json["made_with"] = experiment.made_with;
  json["points"] = Json::array();
  for (const ExperimentPoint& point : experiment.points) {
    const fs::path folder = fs::absolute(experiment.folder).lexically_normal();
    json["points"].push_back(fs::absolute(point.folder).lexically_normal().lexically_relative(folder).string());
  }
  if (!experiment.links.empty()) json["links"] = experiment.links;
  write_json(experiment.folder / "experiment.json", json);
}

}  // namespace swinscope
