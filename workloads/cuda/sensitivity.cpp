#include "workloads/cuda/sensitivity.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "workloads/cuda/step_profile.h"

namespace swinscope {
namespace {

// Ranges of some groups.
template <typename Wanted>
InputRanges only(const InputRanges& ranges, const Wanted& wanted) {
  InputRanges some;
  for (const auto& [layer, range] : ranges)
    if (wanted(group_of(layer))) some[layer] = range;
  return some;
}

class Trials {
 public:
  Trials(const SwinConfig& config, std::int64_t batch, const DeviceModelOptions& options,
         const ParameterStore<float>& store, const std::vector<float>& images)
      : config_(config), batch_(batch), options_(options), store_(store), images_(images) {
    options_.features.graph = false;
    options_.tune_seconds = 0.0;
    options_.precision = Precision::kFp16;
    DeviceModel model(config_, batch_, options_, store_);
    reference_ = logits_of(model);
    before_ = profile_steps(model.steps(), model.stream(), kProfiledPasses);
    options_.precision = Precision::kFp8;
  }

  LogitChange with(const InputRanges& ranges) {
    options_.input_ranges = ranges;
    DeviceModel model(config_, batch_, options_, store_);
    return change(logits_of(model));
  }
  // With all of them, how long each group's operations take, and which groups there are.
  LogitChange measure(const InputRanges& ranges, std::vector<LayerGroup>& groups) {
    options_.input_ranges = ranges;
    DeviceModel model(config_, batch_, options_, store_);
    std::set<std::string> quantized;
    for (const DeviceStep& step : model.steps())
      if (step.payload.precision == Precision::kFp8) quantized.insert(group_of(step.name.path()));
    const std::vector<OperationTime> after = profile_steps(model.steps(), model.stream(), kProfiledPasses);
    for (const std::string& name : quantized) {
      const auto time = [&](const std::vector<OperationTime>& times) {
        const auto found = std::ranges::find(times, name, &OperationTime::name);
        return found == times.end() ? 0.0 : found->time_ns;
      };
      groups.push_back({name, {}, time(before_), time(after)});
    }
    return change(logits_of(model));
  }

 private:
  std::vector<float> logits_of(DeviceModel& model) const {
    model.set_images(images_);
    model.forward();
    return model.logits();
  }
  LogitChange change(const std::vector<float>& logits) const {
    double product = 0.0, own = 0.0, other = 0.0;
    for (std::size_t i = 0; i < logits.size(); ++i) {
      const auto a = static_cast<double>(logits[i]), b = static_cast<double>(reference_[i]);
      product += a * b;
      own += a * a;
      other += b * b;
    }
    LogitChange change{product / std::sqrt(own * other), 0};
    const auto largest = [&](const std::vector<float>& of, std::int64_t image) {
      const auto begin = of.begin() + image * config_.classes;
      return std::max_element(begin, begin + config_.classes) - begin;
    };
    for (std::int64_t image = 0; image < batch_; ++image)
      if (largest(logits, image) != largest(reference_, image)) ++change.changed_classes;
    return change;
  }

  const SwinConfig& config_;
  std::int64_t batch_;
  DeviceModelOptions options_;
  const ParameterStore<float>& store_;
  const std::vector<float>& images_;
  std::vector<float> reference_;
  std::vector<OperationTime> before_;
};

}  // namespace

std::string group_of(const std::string& layer) {
  const std::size_t block = layer.find(".block");
  if (block == std::string::npos) return layer;
  const std::string kind = layer.substr(std::min(layer.size(), layer.find('.', block + 1)));
  return layer.substr(0, block) + (kind == ".attn.window" ? ".attn.qkv" : kind);
}

Sensitivity find_sensitivity(const SwinConfig& config, std::int64_t batch, const DeviceModelOptions& options,
                             const ParameterStore<float>& store, const std::vector<float>& images,
                             const InputRanges& ranges, double least_cosine) {
  Trials trials(config, batch, options, store, images);
  Sensitivity found;
  found.all = found.chosen = trials.measure(ranges, found.groups);
  for (LayerGroup& group : found.groups)
    group.alone = trials.with(only(ranges, [&](const std::string& name) { return name == group.name; }));
  std::set<std::string> left_out;
  while (true) {
    found.ranges = only(ranges, [&](const std::string& name) { return !left_out.contains(name); });
    if (!left_out.empty()) found.chosen = trials.with(found.ranges);
    if (found.chosen.cosine >= least_cosine) break;
    const auto worst = std::ranges::min_element(found.groups, {}, [](const LayerGroup& group) {
      return group.kept ? group.alone.cosine : 2.0;
    });
    if (worst == found.groups.end() || !worst->kept) break;  // none is left
    worst->kept = false;
    left_out.insert(worst->name);
  }
  return found;
}

}  // namespace swinscope
