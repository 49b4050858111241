#include "workloads/program/device_passes.h"

#include <cmath>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "workloads/annotate.h"
#include "workloads/error.h"
#include "workloads/model_cost.h"
#include "workloads/program/interrupt.h"
#include "workloads/program/operation_table.h"
#include "workloads/safetensors_writer.h"

namespace swinscope {

GeluForm gelu_form(const InferOptions& options) {
  if (options.gelu == "erf") return GeluForm::kErf;
  return options.gelu == "tanh" ? GeluForm::kTanh : GeluForm::kAuto;
}

DevicePasses measure_passes(const RunOptions& run, cuda::Stream stream, const std::function<void()>& forward) {
  DevicePasses passes;
  cuda::Event begin;
  cuda::Event end;
  for (std::int64_t step = 0; step < run.warmup + run.steps && !interrupted(); ++step) {
    const StepRange range({static_cast<std::uint64_t>(step), static_cast<std::uint64_t>(run.batch)});
    const PhaseRange phase(Phase::kForward);
    const std::int64_t start_ns = now_ns();
    begin.record(stream);
    forward();
    end.record(stream);
    cuda::synchronize(stream);
    const std::int64_t latency_ns = now_ns() - start_ns;
    if (step < run.warmup) continue;
    passes.latency.add(latency_ns);
    passes.device.add(static_cast<std::int64_t>(1e6 * static_cast<double>(cuda::Event::milliseconds(begin, end))));
  }
  return passes;
}

void profile_operations(const InferOptions& options, std::span<const DeviceStep> steps, cuda::Stream stream,
                        DevicePasses& passes) {
  if (options.operations) passes.operations = profile_steps(steps, stream, kProfiledPasses);
}

void describe_device(const InferOptions& options, const Features& features, nlohmann::ordered_json& run) {
  const cuda::DeviceInfo info = cuda::device_info();
  run["gpu"] = info.name;
  run["cuda_driver"] = info.driver_version;
  run["cuda_runtime"] = info.runtime_version;
  run["level"] = options.level;
  run["features"] = describe(features);
  run["gelu"] = options.gelu;
}

nlohmann::ordered_json describe_passes(const InferOptions& options, const SwinConfig& config,
                                       const DevicePasses& passes) {
  nlohmann::ordered_json row = summarize(passes.device, options.run.batch, model_cost(config).flops());
  if (!passes.device.empty()) {
    row["step_time_p90_ns"] = std::llround(passes.device.percentile_ns(0.9));
    row["latency_median_ns"] = std::llround(passes.latency.percentile_ns(0.5));
    row["latency_p90_ns"] = std::llround(passes.latency.percentile_ns(0.9));
    row["latency_p99_ns"] = std::llround(passes.latency.percentile_ns(0.99));
  }
  return row;
}

void print_passes(const InferOptions& options, const std::string& what, const DevicePasses& passes,
                  nlohmann::ordered_json row, nlohmann::ordered_json document) {
  if (options.run.json) {
    if (options.operations) row["operations"] = describe_operations(passes.operations);
    document["run"]["graph_nodes"] = passes.graph_nodes;
    document["run"]["products_timed"] = passes.products.timed;
    document["run"]["products_exchanged"] = passes.products.exchanged;
    document["data"].push_back(std::move(row));
    fmt::print("{}\n", document.dump(2));
    return;
  }
  if (!passes.device.empty()) {
    fmt::print(
        "{} on {}: {:.1f} images/s, {:.3f} ms a step of {} images (median of {}; latency {:.3f} ms, p99 {:.3f} ms), "
        "{}, level {}, {:.1f} TFLOP/s\n",
        what, cuda::device_info().name, row["images_per_second"].get<double>(),
        row["step_time_median_ns"].get<double>() * 1e-6, options.run.batch, passes.device.count(),
        row["latency_median_ns"].get<double>() * 1e-6, row["latency_p99_ns"].get<double>() * 1e-6,
        options.run.precision, options.level, row["gflops_per_second"].get<double>() * 1e-3);
  }
  if (options.operations) print_operations(passes.operations);
}

void write_logits(const InferOptions& options, const SwinConfig& config, const std::vector<float>& images,
                  std::vector<std::int64_t> shape, const std::vector<float>& logits) {
  if (options.logits.empty()) return;
  const std::int64_t size = config.image_size;
  const std::vector<TensorSource> tensors = {
      {"images", {options.run.batch, kImageChannels, size, size}, images, {}},
      {"logits", std::move(shape), logits, {}},
  };
  write_safetensors(options.logits.string(), tensors, {});
}

void refuse_logits_that_are_not_finite() {
  throw WorkloadError(WorkloadErrorKind::kFailure, "the logits are not finite",
                      "a value left the range of the precision, or the weights are damaged",
                      "try --precision bf16 or fp32; `swin verify` checks the kernels");
}

}  // namespace swinscope
