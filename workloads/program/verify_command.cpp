#include <algorithm>
#include <cstdio>
#include <memory>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "workloads/cuda/device_model.h"
#include "workloads/error.h"
#include "workloads/program/commands.h"
#include "workloads/program/device_commands.h"
#include "workloads/verify/training_times.h"
#include "workloads/verify/verify.h"

namespace swinscope {
namespace {

struct VerifyOptions {
  std::vector<std::string> checks;
  std::vector<std::string> models = {"swin_nano", "swinv2_nano"};
  std::vector<std::string> precisions = {"fp32", "tf32", "fp16", "bf16"};
  std::vector<std::string> levels = {"eager", "fused", "window", "attention", "graph"};
  std::vector<std::int64_t> batches = {1, 3};
  int image_size = 0;  // 0: the models'
  int window = 0;      // 0: the models'
  std::filesystem::path fixtures;
  std::string times;  // a model: time the kernels of its training step instead
  std::int64_t times_batch = 64;
  std::string times_precision = "fp16";
  bool skip_kernels = false;
  bool skip_models = false;
  bool failures_only = false;
  bool json = false;
};

class Table {
 public:
  explicit Table(const VerifyOptions& options) : options_(options) {
    if (!options.json) fmt::print("{:<92}{:>6}{:>11}{:>11}\n", "check", "", "error", "tolerance");
  }

  void add(const VerifyRow& row) {
    ++count_;
    if (!row.passed()) ++failures_;
    if (options_.json) {
      rows_.push_back({{"check", row.what},
                       {"precision", row.precision},
                       {"error", row.error},
                       {"tolerance", row.tolerance},
                       {"passed", row.passed()}});
      if (!row.why.empty()) rows_.back()["why"] = row.why;
    } else if (!row.passed() || !options_.failures_only) {
      fmt::print("{:<92}{:>6}{:>11.2e}{:>11.1e}{}{}\n", row.what, row.precision, row.error, row.tolerance,
                 row.why.empty() ? "" : " = " + row.why, row.passed() ? "" : "  FAILED");
      std::fflush(stdout);
    }
  }

  int finish() const {
    if (options_.json) {
      const nlohmann::ordered_json document = {{"schema", "swin.verify/1"},
                                               {"run", {{"gpu", cuda::device_info().name}, {"failed", failures_}}},
                                               {"warnings", nlohmann::ordered_json::array()},
                                               {"data", rows_}};
      fmt::print("{}\n", document.dump(2));
    } else {
      fmt::print("{} checks on {}, {} failed\n", count_, cuda::device_info().name, failures_);
    }
    return failures_ == 0 ? 0 : 1;
  }

 private:
  const VerifyOptions& options_;
  nlohmann::ordered_json rows_ = nlohmann::ordered_json::array();
  int count_ = 0;
  int failures_ = 0;
};

void verify_kernels(const VerifyOptions& options, const VerifyReport& report) {
  for (const KernelCheck& check : kernel_checks()) {
    const bool wanted = options.checks.empty() ||
                        std::find(options.checks.begin(), options.checks.end(), check.name) != options.checks.end();
    if (wanted) check.run(report, algorithm_folder());
  }
}

void verify_models(const VerifyOptions& options, const VerifyReport& report) {
  for (const std::string& name : options.models) {
    SwinConfig config = find_model(name);
    if (options.image_size > 0) config.image_size = options.image_size;
    if (options.window > 0) config.window = options.window;
    check_config(config);
    std::vector<ModelReference> references;
    if (!options.fixtures.empty()) {
      references.push_back(fixture_reference(options.fixtures / (name + ".safetensors"), config));
    } else {
      for (const std::int64_t batch : options.batches)
        references.push_back(cpu_reference(config, batch));
    }
    for (const ModelReference& reference : references) {
      for (const std::string& precision : options.precisions) {
        for (const std::string& level : options.levels)
          verify_model(reference, parse_inference_precision(precision), level, algorithm_folder(), report);
      }
    }
  }
}

void check_names(const VerifyOptions& options) {
  for (const std::string& name : options.checks) {
    const auto& checks = kernel_checks();
    if (std::any_of(checks.begin(), checks.end(), [&](const KernelCheck& check) { return check.name == name; }))
      continue;
    std::string known;
    for (const KernelCheck& check : checks)
      known += (known.empty() ? "'" : ", '") + check.name + "'";
    throw WorkloadError(WorkloadErrorKind::kUsage, fmt::format("unknown check '{}'", name), {}, "known are " + known);
  }
  for (const std::string& level : options.levels)
    find_level(level);
  for (const std::string& precision : options.precisions)
    parse_inference_precision(precision);
}

ElementType timed_type(const std::string& precision) {
  switch (parse_device_precision(precision)) {
    case Precision::kFp16:
      return ElementType::kFp16;
    case Precision::kBf16:
      return ElementType::kBf16;
    case Precision::kTf32:
      return ElementType::kFp32;
    default:
      throw WorkloadError(WorkloadErrorKind::kUsage, fmt::format("no times in {}", precision), {},
                          "fp16, bf16 and tf32 are timed");
  }
}

// The kernels of a training step, one after another, each alone.
int print_times(const VerifyOptions& options) {
  const SwinConfig& config = find_model(options.times);
  const ElementType type = timed_type(options.times_precision);
  check_device();
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  double total = 0.0;
  if (!options.json) {
    fmt::print("{}, batch {}, {} on {}\n", options.times, options.times_batch, options.times_precision,
               cuda::device_info().name);
    fmt::print("{:<54}{:>6}{:>11}{:>10}{:>10}{:>11}\n", "kernel", "calls", "us a call", "GB/s", "TFLOP/s", "ms a step");
  }
  time_training_kernels(config, options.times_batch, type, [&](const KernelTime& row) {
    const double rate = static_cast<double>(row.bytes) / row.microseconds * 1e-3;
    const double teraflops = static_cast<double>(row.flops) / row.microseconds * 1e-6;
    const double milliseconds = row.calls * row.microseconds * 1e-3;
    total += milliseconds;
    if (options.json) {
      rows.push_back({{"kernel", row.what},
                      {"calls", row.calls},
                      {"time_us", row.microseconds},
                      {"bytes", row.bytes},
                      {"flops", row.flops}});
      return;
    }
    fmt::print("{:<54}{:>6}{:>11.1f}{:>10.0f}{:>10.1f}{:>11.3f}\n", row.what, row.calls, row.microseconds, rate,
               teraflops, milliseconds);
    std::fflush(stdout);
  });
  if (options.json) {
    const nlohmann::ordered_json document = {{"schema", "swin.times/1"},
                                             {"run",
                                              {{"gpu", cuda::device_info().name},
                                               {"model", options.times},
                                               {"batch", options.times_batch},
                                               {"precision", options.times_precision}}},
                                             {"warnings", nlohmann::ordered_json::array()},
                                             {"data", rows}};
    fmt::print("{}\n", document.dump(2));
  } else {
    // Not a step: it has either of two normalizations, and a stream of its own between them.
    fmt::print("{:<54}{:>48.3f}\n", "all of them", total);
  }
  return 0;
}

int verify(const VerifyOptions& options) {
  if (!options.times.empty()) return print_times(options);
  check_names(options);
  check_device();
  Table table(options);
  const VerifyReport report = [&](const VerifyRow& row) { table.add(row); };
  if (!options.skip_kernels) verify_kernels(options, report);
  if (!options.skip_models) verify_models(options, report);
  return table.finish();
}

}  // namespace

void add_verify_command(Program& program) {
  Command& command = program.add_command("verify", "Check the GPU kernels and models against references");
  const auto options = std::make_shared<VerifyOptions>();
  command.option("--checks", options->checks, "kernel checks (default: all)").separated_by(',');
  command.option("--models", options->models, "models whose logits are compared").separated_by(',').show_default();
  command.option("--precisions", options->precisions).separated_by(',').show_default();
  command.option("--levels", options->levels).separated_by(',').show_default();
  command.option("--batches", options->batches).separated_by(',').positive().show_default();
  command.option("--image", options->image_size, "image size in pixels (default: the models')").positive();
  command.option("--window", options->window, "tokens along a window's side (default: the models')")
      .within(1, kMostWindow);
  command.option("--fixtures", options->fixtures, "compare with timm's logits in this folder instead of the CPU's");
  command.option("--times", options->times, "time the kernels of this model's training step instead of checking");
  command.option("--times-batch", options->times_batch, "images of that step").positive().show_default();
  command.option("--times-precision", options->times_precision, "fp16, bf16 or tf32").show_default();
  command.flag("--no-kernels", options->skip_kernels);
  command.flag("--no-models", options->skip_models);
  command.flag("--failures", options->failures_only, "print what failed only");
  command.flag("--json", options->json, "print as JSON");
  command.does([options] { return verify(*options); });
}

}  // namespace swinscope
