#include "workloads/checkpoint_state.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <iterator>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "workloads/error.h"
#include "workloads/whole_number.h"

namespace swinscope {
namespace {

namespace fs = std::filesystem;

constexpr const char* kSchema = "swin.checkpoint/1";
// Of any training: a step of a millisecond makes as many in a month.
constexpr std::int64_t kMostSteps = 1'000'000'000;

void check_numbers(const SafetensorsFile& file, const CheckpointState& state) {
  const auto require = [&](const char* name, std::int64_t value) {
    if (value >= 0 && value <= kMostSteps) return;
    refuse_checkpoint(file.path(), fmt::format("its {} is {}: not within 0 and {}", name, value, kMostSteps));
  };
  require("steps_done", state.steps_done);
  require("optimizer_steps", state.optimizer_steps);
  require("good_steps", state.good_steps);
  constexpr double kLeastScale = 1e-37;  // of a float
  constexpr double kMostScale = 3e38;
  if (!(state.loss_scale >= kLeastScale && state.loss_scale <= kMostScale))
    refuse_checkpoint(file.path(), fmt::format("its loss_scale is {}: no scale of a float", state.loss_scale));
}

// The scale, what this step had so far, and the history, as numbers; a step with an infinity says nothing.
nlohmann::ordered_json described(const DelayedScale& scale) {
  const auto largest = std::bit_cast<float>(scale.largest);
  nlohmann::ordered_json row = {scale.scale, std::isfinite(largest) ? largest : 0.0F};
  for (const float seen : scale.history)
    row.push_back(seen);
  return row;
}

DelayedScale scale_in(const SafetensorsFile& file, const nlohmann::json& row) {
  const auto values = row.get<std::vector<float>>();
  const auto is_magnitude = [](float value) { return value >= 0.0F && std::isfinite(value); };
  DelayedScale scale;
  if (values.size() != 2 + std::size(scale.history) || !std::ranges::all_of(values, is_magnitude) || values[0] == 0.0F)
    refuse_checkpoint(file.path(), "its byte_scales are no scales");
  scale.scale = values[0];
  scale.largest = std::bit_cast<std::uint32_t>(values[1]);
  std::copy(values.begin() + 2, values.end(), std::begin(scale.history));
  return scale;
}

CheckpointState parsed(const SafetensorsFile& file, const std::string& text) {
  const auto json = nlohmann::json::parse(text, nullptr, false);
  if (!json.is_object()) refuse_checkpoint(file.path(), fmt::format("its '{}' is no JSON object", kCheckpointKey));
  if (json.at("schema") != kSchema) {
    refuse_checkpoint(file.path(),
                      fmt::format("its schema is {}, this program knows {}", json.at("schema").dump(), kSchema));
  }
  CheckpointState state;
  state.steps_done = whole_number<std::int64_t>(json.at("steps_done"));
  state.optimizer_steps = whole_number<std::int64_t>(json.at("optimizer_steps"));
  state.settings = json.at("settings").get<std::map<std::string, std::string>>();
  state.loss_scale = json.value("loss_scale", 1.0);
  state.good_steps = json.contains("good_steps") ? whole_number<std::int64_t>(json.at("good_steps")) : 0;
  state.algorithms = json.value("algorithms", "");
  for (const nlohmann::json& row : json.value("byte_scales", nlohmann::json::array()))
    state.byte_scales.push_back(scale_in(file, row));
  return state;
}

}  // namespace

std::string checkpoint_text(const CheckpointState& state) {
  nlohmann::ordered_json json = {{"schema", kSchema},
                                 {"steps_done", state.steps_done},
                                 {"optimizer_steps", state.optimizer_steps},
                                 {"settings", state.settings}};
  if (!state.algorithms.empty()) {
    json["loss_scale"] = state.loss_scale;
    json["good_steps"] = state.good_steps;
    json["algorithms"] = state.algorithms;
    for (const DelayedScale& scale : state.byte_scales)
      json["byte_scales"].push_back(described(scale));
  }
  return json.dump();
}

CheckpointState checkpoint_state(const SafetensorsFile& file) {
  const auto text = file.metadata().find(kCheckpointKey);
  if (text == file.metadata().end())
    refuse_checkpoint(file.path(), fmt::format("its metadata have no '{}'", kCheckpointKey));
  try {
    CheckpointState state = parsed(file, text->second);
    check_numbers(file, state);
    return state;
  } catch (const nlohmann::json::exception& error) {
    refuse_checkpoint(file.path(), error.what());
  }
}

void refuse_checkpoint(const fs::path& file, const std::string& why) {
  throw WorkloadError(WorkloadErrorKind::kInput, fmt::format("{}: not a checkpoint of ours", file.string()), why,
                      "leave out --resume to start anew, or name another folder");
}

}  // namespace swinscope
