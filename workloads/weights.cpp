#include "workloads/weights.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "workloads/checkpoint.h"
#include "workloads/error.h"

namespace swinscope {
namespace {

constexpr std::array<std::string_view, 3> kComputedBuffers = {"relative_position_index", "relative_coords_table",
                                                              "attn_mask"};

using EntryMap = std::map<std::string, const TensorEntry*>;

bool is_computed(std::string_view name) {
  return std::ranges::any_of(kComputedBuffers, [name](std::string_view buffer) { return name.ends_with(buffer); });
}

// The present name of a tensor in a checkpoint with the original names.
std::string modern_name(const std::string& name) {
  constexpr std::string_view kLayers = "layers.";
  if (name.starts_with("head.")) return "head.fc." + name.substr(std::string_view("head.").size());
  const std::size_t downsample = name.find(".downsample.");
  if (!name.starts_with(kLayers) || downsample == std::string::npos) return name;
  int stage = 0;
  const char* end = name.data() + downsample;
  const auto [rest, error] = std::from_chars(name.data() + kLayers.size(), end, stage);
  if (error != std::errc() || rest != end || stage < 0 || stage > kMaxStages) return name;
  return fmt::format("layers.{}{}", stage + 1, name.substr(downsample));
}

// Our name -> entry, for everything in the file that is a parameter by its name.
EntryMap entries_by_name(const SafetensorsFile& file) {
  const bool original = file.find("head.fc.weight") == nullptr && file.find("head.weight") != nullptr;
  const bool is_checkpoint = file.metadata().contains(kCheckpointKey);
  EntryMap entries;
  for (const auto& [name, entry] : file.tensors()) {
    if (is_checkpoint && name.starts_with(kOptimizerPrefix)) continue;
    if (!is_computed(name)) entries.emplace(original ? modern_name(name) : name, &entry);
  }
  return entries;
}

void append_list(std::string& text, const char* title, const std::vector<std::string>& items) {
  if (items.empty()) return;
  if (!text.empty()) text += "; ";
  text += fmt::format("{} {}: {}", items.size(), title, fmt::join(items, ", "));
}

constexpr std::array<std::string_view, 2> kClassifier = {"head.fc.weight", "head.fc.bias"};

bool is_classifier(std::string_view name) { return std::ranges::find(kClassifier, name) != kClassifier.end(); }

// Whether the file's classifier is as the model's but for the number of classes, or is not there at all: what another
// task's weights look like. Anything else is damage.
bool is_for_other_classes(const EntryMap& entries, const ParameterLayout& layout) {
  const auto weight = entries.find("head.fc.weight");
  const auto bias = entries.find("head.fc.bias");
  if (weight == entries.end() && bias == entries.end()) return true;
  if (weight == entries.end() || bias == entries.end()) return false;
  const std::vector<std::int64_t>& found = weight->second->shape;
  const std::vector<std::int64_t>& wanted = layout.find("head.fc.weight").shape;
  return found.size() == 2 && found[0] != wanted[0] && found[1] == wanted[1] &&
         bias->second->shape == std::vector<std::int64_t>{found[0]};
}

// What a segmentation model has on top of the stages, and what a classifier has there.
bool is_on_top(std::string_view name) {
  return name.starts_with("h.") || name.starts_with("norm") || name.starts_with("head.");
}

// Reads what matches, but for what is left out; throws for everything that does not.
template <typename T>
void read_all(const SafetensorsFile& file, EntryMap entries, const std::function<bool(std::string_view)>& left_out,
              ParameterStore<T>& store) {
  std::vector<std::string> missing;
  std::vector<std::string> misshapen;
  std::vector<std::string> unexpected;
  std::vector<std::pair<std::span<T>, const TensorEntry*>> matched;
  std::vector<std::pair<std::span<T>, const TensorEntry*>> factors;
  std::erase_if(entries, [&left_out](const auto& entry) { return left_out(entry.first); });
  const auto match = [&](const ParameterInfo& tensor, std::span<T> values) {
    if (left_out(tensor.name)) return;
    const auto found = entries.find(tensor.name);
    if (found == entries.end()) {
      missing.push_back(tensor.name);
      return;
    }
    const TensorEntry& entry = *found->second;
    entries.erase(found);
    if (entry.shape != tensor.shape || entry.type == TensorType::kOther) {
      misshapen.push_back(fmt::format("{} ({} {} instead of {})", tensor.name, entry.type_name,
                                      format_shape(entry.shape), format_shape(tensor.shape)));
      return;
    }
    matched.emplace_back(values, &entry);
    if (entry.type != TensorType::kE4m3 && entry.type != TensorType::kI8) return;
    const auto scales = entries.find(tensor.name + std::string(kScaleSuffix));
    if (scales == entries.end() || scales->second->shape != std::vector{tensor.shape.front()} ||
        scales->second->type != TensorType::kF32) {
      missing.push_back(tensor.name + std::string(kScaleSuffix));
      return;
    }
    factors.emplace_back(values, scales->second);
    entries.erase(scales);
  };
  for (const ParameterInfo& tensor : store.layout().tensors())
    match(tensor, store.values(tensor));
  for (const ParameterInfo& buffer : store.layout().buffers())
    match(buffer, store.buffer(buffer));
  for (const auto& [name, entry] : entries)
    unexpected.push_back(entry->name);
  std::string problems;
  append_list(problems, "missing", missing);
  append_list(problems, "misshapen", misshapen);
  append_list(problems, "unexpected", unexpected);
  if (!problems.empty()) {
    throw WorkloadError(WorkloadErrorKind::kInput,
                        fmt::format("{}: not the weights of this model", file.path().string()), problems,
                        "choose the model that the file was saved from: `swin list`");
  }
  for (const auto& [values, entry] : matched)
    file.read(*entry, values);
  for (const auto& [values, entry] : factors) {
    std::vector<T> scales(static_cast<std::size_t>(entry->count));
    file.read<T>(*entry, scales);
    const std::size_t inputs = values.size() / scales.size();
    for (std::size_t i = 0; i < values.size(); ++i)
      values[i] *= scales[i / inputs];
  }
}

}  // namespace

template <typename T>
void load_weights(const SafetensorsFile& file, ParameterStore<T>& store) {
  read_all<T>(
      file, entries_by_name(file), [](std::string_view /*name*/) { return false; }, store);
}

template <typename T>
bool load_weights_to_tune(const SafetensorsFile& file, ParameterStore<T>& store) {
  EntryMap entries = entries_by_name(file);
  if (!store.layout().buffers().empty()) {  // a segmentation model
    const bool whole = std::ranges::any_of(entries, [](const auto& entry) { return entry.first.starts_with("h."); });
    read_all<T>(
        file, std::move(entries), [whole](std::string_view name) { return !whole && is_on_top(name); }, store);
    return whole;
  }
  const bool other = is_for_other_classes(entries, store.layout());
  read_all<T>(
      file, std::move(entries), [other](std::string_view name) { return other && is_classifier(name); }, store);
  return !other;
}

int classes_in(const SafetensorsFile& file, int otherwise) {
  for (const char* name : {"head.fc.weight", "head.weight", "h.cls.weight"}) {
    const TensorEntry* const entry = file.find(name);
    if (entry != nullptr && entry->shape.size() == 2 && entry->shape[0] > 0 && entry->shape[0] < 1'000'000) {
      return static_cast<int>(entry->shape[0]);
    }
  }
  return otherwise;
}

int head_channels_in(const SafetensorsFile& file, int otherwise) {
  const TensorEntry* const entry = file.find("h.fuse.0.weight");
  if (entry == nullptr || entry->shape.size() != 4 || entry->shape[0] < 1 || entry->shape[0] > kMostHeadChannels) {
    return otherwise;
  }
  return static_cast<int>(entry->shape[0]);
}

template void load_weights<float>(const SafetensorsFile&, ParameterStore<float>&);
template void load_weights<double>(const SafetensorsFile&, ParameterStore<double>&);
template bool load_weights_to_tune<float>(const SafetensorsFile&, ParameterStore<float>&);
template bool load_weights_to_tune<double>(const SafetensorsFile&, ParameterStore<double>&);

}  // namespace swinscope
