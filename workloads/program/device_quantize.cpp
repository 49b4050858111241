// swin quantize on a GPU: weights in 8 bits, and what they cost and save layer by layer.
#include <algorithm>
#include <memory>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "workloads/cuda/calibration.h"
#include "workloads/cuda/device_model.h"
#include "workloads/cuda/element_type.h"
#include "workloads/cuda/sensitivity.h"
#include "workloads/error.h"
#include "workloads/images/image_files.h"
#include "workloads/program/device_commands.h"
#include "workloads/program/run_options.h"
#include "workloads/program/say.h"
#include "workloads/quantized_weights.h"
#include "workloads/redraw.h"
#include "workloads/synthetic_data.h"
#include "workloads/verify/verify.h"

namespace swinscope {
namespace {

constexpr std::int64_t kSyntheticImages = 1024;
// Of fewer, one image's outlier decides.
constexpr std::int64_t kLeastImages = 16;

Observer observer_of(const std::string& name) {
  if (name == "minmax") return Observer::kMinMax;
  return name == "percentile" ? Observer::kPercentile : Observer::kMse;
}

void check_output(const QuantizeOptions& options) {
  std::error_code ignored;
  if (!options.force && std::filesystem::exists(options.output, ignored)) {
    throw WorkloadError(WorkloadErrorKind::kUsage, fmt::format("{}: exists", options.output.string()), {},
                        "give another name, or --force to replace it");
  }
}

std::vector<std::vector<float>> synthetic_batches(const QuantizeOptions& options, const SwinConfig& config,
                                                  std::size_t elements) {
  const SyntheticData data(config, kSyntheticImages, options.run.seed);
  std::vector<std::int32_t> labels(static_cast<std::size_t>(options.run.batch));
  std::vector<std::vector<float>> batches;
  for (std::int64_t first = 0; first < options.images; first += options.run.batch)
    data.fill<float>(first, batches.emplace_back(elements), labels);
  return batches;
}

// Whole batches: the last one's rest is filled with its first images again.
std::vector<std::vector<float>> file_batches(const QuantizeOptions& options, const SwinConfig& config,
                                             std::size_t elements, std::int64_t& found) {
  ImageReader reader(options.calibration_data, config.image_size);
  reader.sample(static_cast<std::size_t>(options.images));
  const std::size_t image = elements / static_cast<std::size_t>(options.run.batch);
  std::vector<std::vector<float>> batches;
  while (found < options.images) {
    std::vector<float> images(elements);
    const std::size_t read = reader.next(options.run.batch, images).size();
    if (read == 0) break;
    found += static_cast<std::int64_t>(read);
    for (std::size_t i = read * image; i < elements; ++i)
      images[i] = images[i % (read * image)];
    batches.push_back(std::move(images));
    if (read < static_cast<std::size_t>(options.run.batch)) break;
  }
  for (const SkippedPath& path : reader.skipped())
    say("swin: {}: left out: {}\n", path.path.string(), path.reason);
  if (found < kLeastImages) {
    throw WorkloadError(WorkloadErrorKind::kInput,
                        fmt::format("{}: {} images that can be read", options.calibration_data.string(), found),
                        fmt::format("ranges need {} at least; 128 are usual", kLeastImages),
                        "name a folder with more JPEG files of what the model is to see");
  }
  return batches;
}

nlohmann::ordered_json describe_group(const QuantizeOptions& options, const LayerGroup& group) {
  return {{"layers", group.name},
          {"added_to_1_minus_cosine", group.error},
          {"saved_ns", group.saved_milliseconds * 1e6},
          {"precision", group.kept ? options.precision : "fp16"}};
}

void print_sensitivity(const QuantizeOptions& options, const SwinConfig& config, const Sensitivity& found,
                       std::int64_t images) {
  if (options.run.json) {
    nlohmann::ordered_json rows = nlohmann::ordered_json::array();
    for (const LayerGroup& group : found.groups)
      rows.push_back(describe_group(options, group));
    const nlohmann::ordered_json document = {{"schema", "swin.quantize/1"},
                                             {"run",
                                              {{"gpu", cuda::device_info().name},
                                               {"model", config.name},
                                               {"precision", options.precision},
                                               {"observer", options.observer},
                                               {"images", images},
                                               {"batch", options.run.batch},
                                               {"pass_fp16_ns", found.fp16_milliseconds * 1e6},
                                               {"pass_ns", found.milliseconds * 1e6},
                                               {"cosine_all", found.all.cosine},
                                               {"cosine", found.chosen.cosine},
                                               {"changed_classes", found.chosen.changed_classes},
                                               {"file", options.output.string()}}},
                                             {"warnings", nlohmann::ordered_json::array()},
                                             {"data", rows}};
    fmt::print("{}\n", document.dump(2));
    return;
  }
  fmt::print("{:<22}{:>20}{:>14}   {}\n", "layers", "add to 1 - cosine", "save [us]", "chosen");
  for (const LayerGroup& group : found.groups) {
    fmt::print("{:<22}{:>20.1e}{:>14.1f}   {}\n", group.name, group.error, group.saved_milliseconds * 1e3,
               group.kept ? options.precision : "fp16");
  }
  fmt::print(
      "a pass of {} images: {:.3f} ms in fp16, {:.3f} ms with the chosen layers in {}\n"
      "their logits: cosine {:.5f} with all layers in {}, {:.5f} with the chosen ones; for {} images another class\n"
      "{}\n",
      options.run.batch, found.fp16_milliseconds, found.milliseconds, options.precision, found.all.cosine,
      options.precision, found.chosen.cosine, found.chosen.changed_classes, options.output.string());
}

}  // namespace

int quantize_on_device(const QuantizeOptions& options) {
  const SwinConfig config = resolve_config(options.run);
  check_output(options);
  check_device();
  check_eight_bits(cuda::device_info(), options.precision);
  DeviceModelOptions model;
  model.precision = parse_inference_precision(options.precision);
  model.features = find_level("graph").features;
  model.features.adamw = false;
  model.algorithm_folder = algorithm_folder();
  check_device_memory(config, options.run.batch, model);
  ParameterStore<float> store(config, false);
  if (!load_given_weights(options.run, store)) redraw_parameters(store, options.run.seed);
  const auto elements =
      static_cast<std::size_t>(options.run.batch * kImageChannels * config.image_size * config.image_size);
  std::int64_t images = 0;
  const bool synthetic = options.calibration_data.empty();
  const std::vector<std::vector<float>> batches =
      synthetic ? synthetic_batches(options, config, elements) : file_batches(options, config, elements, images);
  if (synthetic) images = static_cast<std::int64_t>(batches.size()) * options.run.batch;
  const InputRanges ranges = ranges_of(count_inputs(config, options.run.batch, model, store, batches),
                                       observer_of(options.observer), byte_format_of(model.precision));
  const Sensitivity found =
      find_sensitivity(config, options.run.batch, model, store, batches.front(), ranges, options.least_cosine);
  if (found.groups.empty()) {
    throw WorkloadError(WorkloadErrorKind::kUsage,
                        fmt::format("--batch {}: nothing of {} is faster in 8 bits", options.run.batch, config.name),
                        "its products do not fill the GPU", "give the batch that the model is to run with");
  }
  write_quantized_weights(options.output,
                          {std::string(config.name), options.observer, images, found.ranges, model.precision}, store);
  print_sensitivity(options, config, found, images);
  return 0;
}

}  // namespace swinscope
