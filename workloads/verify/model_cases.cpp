#include <array>
#include <fstream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "workloads/cuda/calibration.h"
#include "workloads/cuda/device_model.h"
#include "workloads/cuda/element_type.h"
#include "workloads/cuda/sensitivity.h"
#include "workloads/error.h"
#include "workloads/execute/host_model.h"
#include "workloads/redraw.h"
#include "workloads/safetensors.h"
#include "workloads/verify/verify.h"

namespace swinscope {
namespace {

constexpr std::uint64_t kSeed = 20240229;

struct NamedPrecision {
  const char* name;
  Precision precision;
  double tolerance;
};
// fp8, int8: the logits' cosine is 0.998 at least.
constexpr std::array kPrecisions = {
    NamedPrecision{"fp32", Precision::kFp32, 1e-4}, NamedPrecision{"tf32", Precision::kTf32, 3e-3},
    NamedPrecision{"fp16", Precision::kFp16, 3e-3}, NamedPrecision{"bf16", Precision::kBf16, 2e-2},
    NamedPrecision{"fp8", Precision::kFp8, 6.3e-2}, NamedPrecision{"int8", Precision::kInt8, 6.3e-2}};

const NamedPrecision& find(Precision precision) {
  for (const NamedPrecision& row : kPrecisions) {
    if (row.precision == precision) return row;
  }
  return kPrecisions.front();
}

std::vector<float> redrawn_images(const SwinConfig& config, std::int64_t batch, std::uint64_t seed) {
  const std::int64_t size = config.image_size;
  std::vector<float> images(static_cast<std::size_t>(batch * kImageChannels * size * size));
  const std::array<std::int64_t, 4> shape = {batch, kImageChannels, size, size};
  redraw_tensor<float>("input.image", shape, seed, images);
  return images;
}

std::vector<double> device_logits(const ModelReference& reference, DeviceModelOptions options) {
  if (const ByteFormat format = byte_format_of(options.precision); format != ByteFormat::kNone) {
    const InputRanges ranges =
        ranges_of(count_inputs(reference.config, reference.batch, options, *reference.store, {reference.images}),
                  Observer::kMse, format);
    options.input_ranges = find_sensitivity(reference.config, reference.batch, options, *reference.store,
                                            reference.images, ranges, kLeastCosine)
                               .ranges;
  }
  DeviceModel model(reference.config, reference.batch, options, *reference.store);
  model.set_images(reference.images);
  model.poison_activations();
  model.forward();
  if (options.features.graph) {
    // The first pass also ran outside of the graph: what counts is a replay.
    model.poison_activations();
    model.forward();
  }
  const std::vector<float> logits = model.logits();
  return {logits.begin(), logits.end()};
}

std::map<std::string, double> read_torch_errors(const std::filesystem::path& file, std::string_view model) {
  std::ifstream in(file);
  if (!in) return {};
  const nlohmann::json document = nlohmann::json::parse(in, nullptr, false);
  if (!document.is_object() || document.value("schema", "") != "swinscope.torch_errors/1" ||
      !document.contains("errors")) {
    throw WorkloadError(WorkloadErrorKind::kInput, fmt::format("{}: no table of PyTorch's errors", file.string()),
                        "it is not of schema swinscope.torch_errors/1",
                        "`compare_torch.py fixtures` in tests/peers/torch writes it");
  }
  const auto row = document["errors"].find(model);
  return row == document["errors"].end() ? std::map<std::string, double>() : row->get<std::map<std::string, double>>();
}

ModelReference redrawn(const SwinConfig& config, std::int64_t batch, std::uint64_t seed) {
  auto store = std::make_shared<ParameterStore<float>>(config, false);
  redraw_parameters(*store, seed);
  return {config, batch, std::string(config.name), store, redrawn_images(config, batch, seed), {}, {}};
}

}  // namespace

double logit_tolerance(Precision precision) { return find(precision).tolerance; }

double logit_tolerance(const ModelReference& reference, Precision precision, std::string& why) {
  constexpr double kPeerFactor = 1.2;
  const double usual = logit_tolerance(precision);
  const auto peer = reference.torch_errors.find(precision_name(precision));
  if (peer == reference.torch_errors.end() || peer->second <= usual) return usual;
  why = fmt::format("{} x PyTorch's own {:.1e}", kPeerFactor, peer->second);
  return kPeerFactor * peer->second;
}

std::string precision_name(Precision precision) { return find(precision).name; }

Precision parse_inference_precision(const std::string& name) {
  for (const NamedPrecision& row : kPrecisions) {
    if (name == row.name) return row.precision;
  }
  throw WorkloadError(WorkloadErrorKind::kUsage, fmt::format("--precision {}: not on the GPU", name), {},
                      "fp32, tf32, fp16, bf16, fp8 and int8 are");
}

Precision parse_device_precision(const std::string& name) {
  const Precision precision = parse_inference_precision(name);
  if (byte_format_of(precision) == ByteFormat::kNone) return precision;
  throw WorkloadError(WorkloadErrorKind::kUsage,
                      fmt::format("--precision {}: only for classifying images on a GPU", name), {},
                      "fp32, tf32, fp16 and bf16 are for all of it");
}

ModelReference cpu_reference(const SwinConfig& config, std::int64_t batch) {
  ModelReference reference = redrawn(config, batch, kSeed);
  reference.name = fmt::format("{} at {} pixels", config.name, config.image_size);
  // The model takes a store that could have gradients; it only reads the values.
  ParameterStore<float> store = *reference.store;
  HostModel<float> model(config, batch, {}, store);
  model.weights_changed();
  const float* const logits = model.forward(reference.images.data()).main;
  reference.logits.assign(logits, logits + batch * config.classes);
  return reference;
}

ModelReference fixture_reference(const std::filesystem::path& file, const SwinConfig& config) {
  const SafetensorsFile fixture(file);
  const TensorEntry* const entry = fixture.find("logits");
  if (entry == nullptr || entry->shape.size() != 2 || !fixture.metadata().contains("seed")) {
    throw WorkloadError(WorkloadErrorKind::kInput, fmt::format("{}: no fixture of a model", file.string()),
                        "it lacks logits or its seed", "tests/peers/timm/export_fixtures.py makes them");
  }
  ModelReference reference = redrawn(config, entry->shape[0], std::stoull(fixture.metadata().at("seed")));
  reference.name = fmt::format("{} against timm", config.name);
  reference.logits.resize(static_cast<std::size_t>(entry->count));
  fixture.read<double>(*entry, reference.logits);
  reference.torch_errors = read_torch_errors(file.parent_path() / "torch_errors.json", config.name);
  return reference;
}

void verify_model(const ModelReference& reference, Precision precision, const std::string& level,
                  const std::filesystem::path& algorithm_folder, const VerifyReport& report) {
  DeviceModelOptions options;
  options.precision = precision;
  options.features = find_level(level).features;
  options.algorithm_folder = algorithm_folder;
  VerifyRow row{fmt::format("{}, batch {}, {}", reference.name, reference.batch, level), precision_name(precision)};
  row.tolerance = logit_tolerance(reference, precision, row.why);
  row.error = relative_error(device_logits(reference, options), reference.logits);
  report(row);
}

}  // namespace swinscope
