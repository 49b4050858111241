#include "analyzer/experiment/normalization.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "analyzer/base/text.h"
#include "analyzer/experiment/run_comparison.h"
#include "analyzer/table/render.h"

namespace swinscope {
namespace {

constexpr double kSecondsPerHour = 3600;
constexpr double kThousand = 1000;  // $ of a million, in millionths: 1e-12 $ of one, of ns x $ / s: 1e-9 $

bool all_have_images(std::span<const ComparedRun> runs) {
  return std::ranges::all_of(runs, [](const ComparedRun& run) { return run.images_per_step.value_or(0) > 0; });
}

bool is_known(const ComparedRun& run, Normalization by) {
  switch (by) {
    case Normalization::kStep:
      return true;
    case Normalization::kImage:
      return run.images_per_step.value_or(0) > 0;
    case Normalization::kGpu:
      return run.gpus > 0;
    case Normalization::kJoule:
      return run.watts.value_or(0) > 0;
    case Normalization::kPrice:
      return run.gpus > 0 && run.price_per_hour.value_or(0) > 0;
  }
  return false;
}

std::string_view missing(Normalization by) {
  switch (by) {
    case Normalization::kStep:
      break;
    case Normalization::kImage:
      return "images per step are not known of";
    case Normalization::kGpu:
      return "no GPU did anything in";
    case Normalization::kJoule:
      return "power was not sampled (record --gpu-metrics) of each GPU of";
    case Normalization::kPrice:
      return "no price of a GPU hour is given of";
  }
  return "";
}

}  // namespace

std::string_view normalization_name(Normalization by) {
  switch (by) {
    case Normalization::kStep:
      return "per step";
    case Normalization::kImage:
      return "per image";
    case Normalization::kGpu:
      return "GPU time";
    case Normalization::kJoule:
      return "energy";
    case Normalization::kPrice:
      return "price";
  }
  return "";
}

std::string amount_text(std::int64_t amount, const Measure& measure) {
  if (measure.unit.empty()) return format_duration(amount);
  return fmt::format("{} {}", format_cell(static_cast<double>(amount) / 1e6, Unit::kNumber), measure.unit);
}

std::string why_not(std::span<const ComparedRun> runs, Normalization by) {
  std::string names;
  for (const ComparedRun& run : runs) {
    if (!is_known(run, by)) names += (names.empty() ? "" : ", ") + run.name;
  }
  return names.empty() ? "" : fmt::format("{}: {} {}", normalization_name(by), missing(by), names);
}

Measure measure_of(std::span<const ComparedRun> runs, Normalization by) {
  if (by == Normalization::kStep)
    return runs.front().work.is_of_steps ? Measure() : Measure{"trace", "in the whole trace", {}};
  const std::string noun = all_have_images(runs) ? "image" : "step";
  switch (by) {
    case Normalization::kGpu:
      return {noun, fmt::format("GPU time per {}", noun), {}};
    case Normalization::kJoule:
      return {noun, fmt::format("energy per {}", noun), "mJ"};
    case Normalization::kPrice:
      return {noun, fmt::format("price of a million {}s", noun), "$"};
    default:
      return {noun, fmt::format("per {}", noun), {}};
  }
}

double weight_of(const ComparedRun& run, std::span<const ComparedRun> runs, Normalization by) {
  if (by == Normalization::kStep) return 1;
  const double images = all_have_images(runs) ? *run.images_per_step : 1;
  switch (by) {
    case Normalization::kGpu:
      return static_cast<double>(run.gpus) / images;
    case Normalization::kJoule:
      return *run.watts / images;
    case Normalization::kPrice:
      return *run.price_per_hour * static_cast<double>(run.gpus) / kSecondsPerHour * kThousand / images;
    default:
      return 1 / images;
  }
}

bool is_same_work(const ComparedRun& a, const ComparedRun& b) {
  if (!a.images_per_step || !b.images_per_step || a.gpus == 0 || b.gpus == 0) return true;
  const double of_a = *a.images_per_step / static_cast<double>(a.gpus);
  const double of_b = *b.images_per_step / static_cast<double>(b.gpus);
  return std::abs(of_a - of_b) < 1e-6 * of_a;
}

}  // namespace swinscope
