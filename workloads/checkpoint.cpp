#include "workloads/checkpoint.h"

#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "workloads/error.h"
#include "workloads/safetensors_writer.h"
#include "workloads/weights.h"

namespace swinscope {
namespace {

namespace fs = std::filesystem;

constexpr const char* kFileName = "checkpoint.safetensors";

std::string first_name(const ParameterInfo& tensor) {
  return fmt::format("{}first_moment.{}", kOptimizerPrefix, tensor.name);
}
std::string second_name(const ParameterInfo& tensor) {
  return fmt::format("{}second_moment.{}", kOptimizerPrefix, tensor.name);
}

template <typename T>
std::span<T> part(std::span<T> flat, const ParameterInfo& tensor) {
  return flat.subspan(static_cast<std::size_t>(tensor.offset), static_cast<std::size_t>(tensor.count));
}

TensorSource source(std::string name, const ParameterInfo& tensor, std::span<const float> values) {
  return {std::move(name), tensor.shape, values, {}};
}
TensorSource source(std::string name, const ParameterInfo& tensor, std::span<const double> values) {
  return {std::move(name), tensor.shape, {}, values};
}

}  // namespace

fs::path checkpoint_file(const fs::path& folder) { return folder / kFileName; }

template <typename T>
void write_checkpoint(const fs::path& folder, const CheckpointState& state, ParameterStore<T>& store,
                      const typename Optimizer<T>::Moments& moments) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) {
    throw WorkloadError(WorkloadErrorKind::kFailure, fmt::format("{}: cannot be made", folder.string()),
                        error.message());
  }
  std::vector<TensorSource> tensors;
  for (const ParameterInfo& tensor : store.layout().tensors()) {
    tensors.push_back(source(tensor.name, tensor, store.values(tensor)));
    tensors.push_back(source(first_name(tensor), tensor, part(moments.first, tensor)));
    tensors.push_back(source(second_name(tensor), tensor, part(moments.second, tensor)));
  }
  for (const ParameterInfo& buffer : store.layout().buffers())
    tensors.push_back(source(buffer.name, buffer, std::span<const T>(store.buffer(buffer))));
  write_safetensors(checkpoint_file(folder), tensors, {{kCheckpointKey, checkpoint_text(state)}});
}

Checkpoint::Checkpoint(SafetensorsFile file) : file_(std::move(file)), state_(checkpoint_state(file_)) {}

std::optional<Checkpoint> Checkpoint::find(const fs::path& folder) {
  std::error_code error;
  if (!fs::exists(checkpoint_file(folder), error)) return std::nullopt;
  return Checkpoint(SafetensorsFile(checkpoint_file(folder)));
}

void Checkpoint::require_settings(const std::map<std::string, std::string>& settings) const {
  std::vector<std::string> differences;
  for (const auto& [name, value] : settings) {
    const auto before = state_.settings.find(name);
    if (before == state_.settings.end()) {
      differences.push_back(fmt::format("{} {} (there was none)", name, value));
    } else if (before->second != value) {
      differences.push_back(fmt::format("{} {} instead of {}", name, value, before->second));
    }
  }
  for (const auto& [name, value] : state_.settings) {
    if (!settings.contains(name)) differences.push_back(fmt::format("no {} (it was {})", name, value));
  }
  if (differences.empty()) return;
  throw WorkloadError(WorkloadErrorKind::kUsage,
                      fmt::format("{}: the training was begun with other settings", file_.path().string()),
                      fmt::format("{}", fmt::join(differences, "; ")),
                      "give the same options, or start a training of its own from its weights: --weights FILE");
}

template <typename T>
void Checkpoint::read(ParameterStore<T>& store, const typename Optimizer<T>::Moments& moments) const {
  load_weights(file_, store);
  for (const ParameterInfo& tensor : store.layout().tensors()) {
    for (const auto& [name, values] : {std::pair(first_name(tensor), part(moments.first, tensor)),
                                       std::pair(second_name(tensor), part(moments.second, tensor))}) {
      const TensorEntry* const entry = file_.find(name);
      if (entry == nullptr || entry->shape != tensor.shape)
        refuse_checkpoint(file_.path(), name + " is missing or misshapen");
      file_.read<T>(*entry, values);
    }
  }
}

template void write_checkpoint<float>(const fs::path&, const CheckpointState&, ParameterStore<float>&,
                                      const Optimizer<float>::Moments&);
template void write_checkpoint<double>(const fs::path&, const CheckpointState&, ParameterStore<double>&,
                                       const Optimizer<double>::Moments&);
template void Checkpoint::read<float>(ParameterStore<float>&, const Optimizer<float>::Moments&) const;
template void Checkpoint::read<double>(ParameterStore<double>&, const Optimizer<double>::Moments&) const;

}  // namespace swinscope
