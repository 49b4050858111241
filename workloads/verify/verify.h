// `swin verify`: every kernel and whole models on this GPU against references of higher precision. Also the GPU tests.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "workloads/annotate.h"
#include "workloads/models/model_table.h"
#include "workloads/parameters.h"

namespace swinscope {

// error = ||out - reference|| / ||reference|| over all elements; NaN if anything is NaN. Outputs are NaN before.
struct VerifyRow {
  std::string what;       // "layernorm 37 x 96, residual"
  std::string precision;  // fp32, tf32, fp16, bf16
  double error = 0.0;
  double tolerance = 0.0;
  std::string why = {};  // where the tolerance is not the usual one
  // False for NaN.
  bool passed() const { return error <= tolerance; }
};

// Calls `report` with each row as it is known. The reference is the CPU's operation in fp64 on the same rounded inputs.
using VerifyReport = std::function<void(const VerifyRow&)>;

// A group of kernel checks: "layernorm", "attention", ...
struct KernelCheck {
  KernelCheck(std::string check, void (*rows)(const VerifyReport&))
      : name(std::move(check)),
        run([rows](const VerifyReport& report, const std::filesystem::path&) { rows(report); }) {}
  KernelCheck(std::string check, void (*rows)(const VerifyReport&, const std::filesystem::path& algorithm_folder))
      : name(std::move(check)), run(rows) {}

  std::string name;
  // algorithm_folder: as for cuda::MatmulLibrary; of use to groups that choose products by time.
  std::function<void(const VerifyReport&, const std::filesystem::path& algorithm_folder)> run;
};
const std::vector<KernelCheck>& kernel_checks();

// A model with redrawn weights, one batch, and the logits that it must give.
struct ModelReference {
  SwinConfig config;
  std::int64_t batch = 0;
  std::string name;  // for the table
  std::shared_ptr<const ParameterStore<float>> store;
  std::vector<float> images;
  std::vector<double> logits;
  // By precision: how far PyTorch's logits are from these, in that precision on a GPU. May lack any.
  std::map<std::string, double> torch_errors = {};
};
// By the CPU model in fp32.
ModelReference cpu_reference(const SwinConfig& config, std::int64_t batch);
// By timm in fp64: a file of tests/peers/timm/fixtures. What PyTorch reaches comes from torch_errors.json beside it, if
// it is there.
ModelReference fixture_reference(const std::filesystem::path& file, const SwinConfig& config);
void verify_model(const ModelReference& reference, Precision precision, const std::string& level,
                  const std::filesystem::path& algorithm_folder, const VerifyReport& report);

// What logits must keep: fp32 1e-4, tf32 and fp16 3e-3, bf16 2e-2.
double logit_tolerance(Precision precision);
// The same for one model: where PyTorch itself is known to miss it, 1.2 times PyTorch's error instead, and `why` says
// so.
double logit_tolerance(const ModelReference& reference, Precision precision, std::string& why);
std::string precision_name(Precision precision);
// Throws WorkloadError (kUsage) for a name that the GPU backend has not.
Precision parse_device_precision(const std::string& name);
// The same, or fp8 or int8.
Precision parse_inference_precision(const std::string& name);

// ||a - b|| / ||b||.
double relative_error(const std::vector<double>& a, const std::vector<double>& b);

}  // namespace swinscope
