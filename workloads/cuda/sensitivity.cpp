#include "workloads/cuda/sensitivity.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <numeric>
#include <set>
#include <utility>

#include "kernels/convert.h"
#include "workloads/cuda/step_launcher.h"
#include "workloads/execute/inference_pass.h"

namespace swinscope {
namespace {

constexpr std::size_t kRounds = 3;

struct Trial {
  std::unique_ptr<InferencePass> pass;
  std::vector<float> logits;
};

// Passes of one model on the same images, with one copy of its weights.
class Trials {
 public:
  Trials(const SwinConfig& config, std::int64_t batch, const DeviceModelOptions& options,
         const ParameterStore<float>& store, const std::vector<float>& images, const PassTime& pass_time)
      : pass_time_(pass_time),
        config_(config),
        batch_(batch),
        options_(options),
        library_(options.algorithm_folder),
        weights_(store, ElementType::kFp16, stream_.get()),
        images_(static_cast<std::int64_t>(images.size()) * element_bytes(ElementType::kFp32)) {
    cuda::copy_to_device(images_.data(), images.data(), images_.bytes(), stream_.get());
    options_.precision = Precision::kFp16;
    reference_ = run();
    options_.precision = options.precision;
  }
  ~Trials() { library_.finish_tuning(); }
  Trials(const Trials&) = delete;
  Trials& operator=(const Trials&) = delete;
  Trials(Trials&&) = delete;
  Trials& operator=(Trials&&) = delete;

  Trial run(const InputRanges& ranges = {}) {
    options_.input_ranges = ranges;
    auto pass = std::make_unique<InferencePass>(config_, batch_, options_, weights_, library_, stream_.get(),
                                                cuda::device_info());
    cuda::convert(images_.bytes() / 4, ElementType::kFp32, images_.data(), ElementType::kFp16, pass->images(),
                  stream_.get());
    run_unannotated(pass->steps(), stream_.get());
    const std::int64_t count = batch_ * config_.classes;
    const cuda::DeviceBuffer floats(count * element_bytes(ElementType::kFp32));
    cuda::convert(count, ElementType::kFp16, pass->logits(), ElementType::kFp32, floats.data(), stream_.get());
    std::vector<float> logits(static_cast<std::size_t>(count));
    cuda::copy_to_host(logits.data(), floats.data(), floats.bytes(), stream_.get());
    return {std::move(pass), std::move(logits)};
  }

  // Of a pass of each, turn by turn: clocks change as the GPU gets warm, most of all at first.
  struct Times {
    double first = 0.0, second = 0.0;
  };
  Times milliseconds(const Trial& first, const Trial& second) const {
    const auto time = [&](const Trial& trial) { return pass_time_(trial.pass->steps(), stream_.get()); };
    (void)time(first);
    std::vector<Times> rounds(kRounds);
    for (Times& round : rounds)
      round = {time(first), time(second)};
    std::ranges::sort(rounds, {}, [](const Times& round) { return round.second - round.first; });
    return rounds[kRounds / 2];
  }

  LogitChange change(const Trial& trial) const {
    double product = 0.0, own = 0.0, other = 0.0;
    for (std::size_t i = 0; i < trial.logits.size(); ++i) {
      const auto a = static_cast<double>(trial.logits[i]), b = static_cast<double>(reference_.logits[i]);
      product += a * b;
      own += a * a;
      other += b * b;
    }
    LogitChange change{product / std::sqrt(own * other), 0};
    for (std::int64_t image = 0; image < batch_; ++image)
      if (class_of(trial, image) != class_of(reference_, image)) ++change.changed_classes;
    return change;
  }
  const Trial& reference() const { return reference_; }

 private:
  std::ptrdiff_t class_of(const Trial& trial, std::int64_t image) const {
    const auto begin = trial.logits.begin() + image * config_.classes;
    return std::max_element(begin, begin + config_.classes) - begin;
  }

  const PassTime& pass_time_;
  const SwinConfig& config_;
  std::int64_t batch_;
  DeviceModelOptions options_;
  cuda::OwnedStream stream_;
  cuda::MatmulLibrary library_;
  DeviceWeights weights_;
  cuda::DeviceBuffer images_;
  Trial reference_;
};

InputRanges without(const InputRanges& ranges, const std::set<std::string>& groups) {
  InputRanges rest;
  for (const auto& [layer, range] : ranges)
    if (!groups.contains(without_block(layer))) rest[layer] = range;
  return rest;
}

// A layer that saves less of a pass than this gains nothing that can be measured.
constexpr double kLeastSaved = 1e-3;

struct Choice {
  double saved = 0.0;
  std::vector<std::size_t> groups;
};

// Whether each of the groups from `next` on is chosen, too, so that they take off `error`. rest: the errors of these,
// from each one on.
void choose(std::span<const LayerGroup> groups, std::size_t next, const std::vector<double>& rest, double error,
            Choice& so_far, Choice& best) {
  if (so_far.saved >= best.saved || rest[next] < error) return;
  if (error <= 0.0) {
    best = so_far;
    return;
  }
  so_far.saved += groups[next].saved_milliseconds;
  so_far.groups.push_back(next);
  choose(groups, next + 1, rest, error - groups[next].error, so_far, best);
  so_far.saved -= groups[next].saved_milliseconds;
  so_far.groups.pop_back();
  choose(groups, next + 1, rest, error, so_far, best);
}

}  // namespace

std::vector<std::size_t> cheapest_in_16_bits(std::span<const LayerGroup> groups, double error, double least_saved) {
  std::vector<std::size_t> chosen, indices;
  std::vector<LayerGroup> paid;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    if (groups[i].error <= 0.0) continue;  // their 16 bits bring the logits no nearer
    if (groups[i].saved_milliseconds < least_saved) {
      chosen.push_back(i);
      error -= groups[i].error;
    } else {
      indices.push_back(i);
      paid.push_back(groups[i]);
    }
  }
  std::vector<double> rest(paid.size() + 1);
  for (std::size_t i = paid.size(); i-- > 0;)
    rest[i] = rest[i + 1] + paid[i].error;
  Choice none, best{std::numeric_limits<double>::infinity(), {}};
  choose(paid, 0, rest, error, none, best);
  if (std::isinf(best.saved)) {
    chosen.resize(groups.size());
    std::iota(chosen.begin(), chosen.end(), std::size_t{0});
    return chosen;
  }
  for (const std::size_t group : best.groups)
    chosen.push_back(indices[group]);
  std::ranges::sort(chosen);
  return chosen;
}

Sensitivity find_sensitivity(const SwinConfig& config, std::int64_t batch, const DeviceModelOptions& options,
                             const ParameterStore<float>& store, const std::vector<float>& images,
                             const InputRanges& ranges, double least_cosine, const PassTime& pass_time) {
  Trials trials(config, batch, options, store, images, pass_time);
  const Trial all = trials.run(ranges);
  Sensitivity found;
  found.all = found.chosen = trials.change(all);
  const auto take_times = [&](const Trial& chosen) {
    const Trials::Times times = trials.milliseconds(trials.reference(), chosen);
    found.fp16_milliseconds = times.first;
    found.milliseconds = times.second;
  };
  std::set<std::string> names;
  for (const auto& [layer, range] : ranges)
    names.insert(without_block(layer));
  for (const std::string& name : names) {
    const Trial trial = trials.run(without(ranges, {name}));
    if (trial.logits == all.logits) continue;  // it was in 16 bits already
    const Trials::Times times = trials.milliseconds(all, trial);
    found.groups.push_back({name, trials.change(trial).cosine - found.all.cosine, times.second - times.first});
  }
  take_times(all);
  found.ranges = ranges;
  double error = least_cosine - found.all.cosine;
  while (found.chosen.cosine < least_cosine) {
    const std::vector<std::size_t> in_16_bits =
        cheapest_in_16_bits(found.groups, error, kLeastSaved * found.milliseconds);
    std::set<std::string> left_out;
    for (LayerGroup& group : found.groups)
      group.kept = true;
    for (const std::size_t i : in_16_bits) {
      found.groups[i].kept = false;
      left_out.insert(found.groups[i].name);
    }
    found.ranges = without(ranges, left_out);
    const Trial chosen = trials.run(found.ranges);
    found.chosen = trials.change(chosen);
    if (found.chosen.cosine >= least_cosine || in_16_bits.size() == found.groups.size()) {
      take_times(chosen);
      break;
    }
    // Errors of groups add up only nearly: what is missing is asked for, too.
    error += std::max(least_cosine - found.chosen.cosine, 0.01 * error);
  }
  return found;
}

}  // namespace swinscope
