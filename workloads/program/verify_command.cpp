#include <algorithm>
#include <cstdio>
#include <memory>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "workloads/cuda/device_model.h"
#include "workloads/error.h"
#include "workloads/program/commands.h"
#include "workloads/program/device_commands.h"
#include "workloads/verify/verify.h"

namespace swinscope {
namespace {

struct VerifyOptions {
  std::vector<std::string> checks;
  std::vector<std::string> models = {"swin_nano", "swinv2_nano"};
  std::vector<std::string> precisions = {"fp32", "tf32", "fp16", "bf16"};
  std::vector<std::string> levels = {"eager", "fused", "window", "attention", "graph"};
  std::vector<std::int64_t> batches = {1, 3};
  int image_size = 0;
  std::filesystem::path fixtures;
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
    if (wanted) check.run(report);
  }
}

void verify_models(const VerifyOptions& options, const VerifyReport& report) {
  for (const std::string& name : options.models) {
    SwinConfig config = find_model(name);
    if (options.image_size > 0) config.image_size = options.image_size;
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
          verify_model(reference, parse_device_precision(precision), level, algorithm_folder(), report);
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
    parse_device_precision(precision);
}

int verify(const VerifyOptions& options) {
  check_names(options);
  check_device();
  Table table(options);
  const VerifyReport report = [&](const VerifyRow& row) { table.add(row); };
  if (!options.skip_kernels) verify_kernels(options, report);
  if (!options.skip_models) verify_models(options, report);
  return table.finish();
}

}  // namespace

Command add_verify_command(CLI::App& app) {
  CLI::App* command = app.add_subcommand("verify", "Check the GPU kernels and models against references");
  const auto options = std::make_shared<VerifyOptions>();
  command->add_option("--checks", options->checks, "kernel checks (default: all)")->delimiter(',');
  command->add_option("--models", options->models, "models whose logits are compared")
      ->delimiter(',')
      ->capture_default_str();
  command->add_option("--precisions", options->precisions)->delimiter(',')->capture_default_str();
  command->add_option("--levels", options->levels)->delimiter(',')->capture_default_str();
  command->add_option("--batches", options->batches)->delimiter(',')->check(CLI::PositiveNumber)->capture_default_str();
  command->add_option("--image", options->image_size, "image size in pixels (default: the models')")
      ->check(CLI::PositiveNumber);
  command->add_option("--fixtures", options->fixtures,
                      "compare with timm's logits in this folder instead of the CPU's");
  command->add_flag("--no-kernels", options->skip_kernels);
  command->add_flag("--no-models", options->skip_models);
  command->add_flag("--failures", options->failures_only, "print what failed only");
  command->add_flag("--json", options->json, "print as JSON");
  return [options] { return verify(*options); };
}

}  // namespace swinscope
