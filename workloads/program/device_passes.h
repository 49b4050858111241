// The measured passes of `swin infer --device cuda` and how they are reported, whatever the model answers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "kernels/device.h"
#include "kernels/matmul.h"
#include "workloads/cuda/device_model.h"
#include "workloads/cuda/features.h"
#include "workloads/cuda/step_profile.h"
#include "workloads/models/model_table.h"
#include "workloads/program/device_commands.h"
#include "workloads/program/step_times.h"

namespace swinscope {

struct DevicePasses {
  StepTimes device;   // of a pass, on the device's clock
  StepTimes latency;  // from the call to the end of the pass, on the host's
  std::vector<OperationTime> operations;
  std::size_t graph_nodes = 0;
  cuda::MatmulStatistics products;
};

// --gelu
GeluForm gelu_form(const InferOptions& options);

// --warmup and --steps passes, each enqueued by `forward`, until an interrupt.
DevicePasses measure_passes(const RunOptions& run, cuda::Stream stream, const std::function<void()>& forward);
// Where --operations asks for them.
void profile_operations(const InferOptions& options, std::span<const DeviceStep> steps, cuda::Stream stream,
                        DevicePasses& passes);

// Which GPU and what of the ladder: for the document's "run".
void describe_device(const InferOptions& options, const Features& features, nlohmann::ordered_json& run);
// A row of the document's "data".
nlohmann::ordered_json describe_passes(const InferOptions& options, const SwinConfig& config,
                                       const DevicePasses& passes);
// The document with the row, or a line and the operations. `what`: "swin_base".
void print_passes(const InferOptions& options, const std::string& what, const DevicePasses& passes,
                  nlohmann::ordered_json row, nlohmann::ordered_json document);

// Writes the first batch and its logits where --logits says so. `shape`: of the logits.
void write_logits(const InferOptions& options, const SwinConfig& config, const std::vector<float>& images,
                  std::vector<std::int64_t> shape, const std::vector<float>& logits);
// Throws WorkloadError (kFailure).
[[noreturn]] void refuse_logits_that_are_not_finite();

}  // namespace swinscope
