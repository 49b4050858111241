#include <algorithm>
#include <filesystem>
#include <memory>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "workloads/cuda/device_model.h"
#include "workloads/error.h"
#include "workloads/program/commands.h"
#include "workloads/program/device_commands.h"
#include "workloads/program/peaks_alternatives.h"
#include "workloads/program/peaks_measure.h"
#include "workloads/program/peaks_rates.h"

namespace swinscope {
namespace {

struct PeaksOptions {
  double seconds = 10.0;
  std::vector<std::int64_t> kernel_batches;  // none: products instead
  bool alternatives = false;
  bool json = false;
  std::filesystem::path rates;  // file for the advisor: nothing else is measured
  bool force = false;
};

using Json = nlohmann::ordered_json;

// The highest rate of each precision among the squares: what `analyze` and `roofline` compare with.
Json best_rates(const Json& products) {
  Json best = Json::object();
  for (const Json& row : products) {
    Json& rate = best[row["precision"].get<std::string>()];
    rate = std::max(rate.is_null() ? 0.0 : rate.get<double>(), row["teraflops_per_second"].get<double>());
  }
  return best;
}

Json measure_products(cuda::MatmulLibrary& library, bool with_fp8, bool talks) {
  Json rows = Json::array();
  if (talks)
    fmt::print("\n{:<28}{:>10}{:>26}{:>12}{:>10}{:>10}\n", "product", "precision", "m x n x k", "us", "TFLOP/s",
               "GB/s");
  for (const ProductTask& task : product_tasks(with_fp8)) {
    ProductRate rate;
    try {
      rate = measure_product(library, task);
    } catch (const cuda::Error& error) {
      // Small or odd shapes have no algorithm in some precisions.
      if (talks) fmt::print("{:<28}{:>10}  {}\n", task.name, task.precision, error.what());
      continue;
    }
    rows.push_back({{"product", task.name},
                    {"precision", task.precision},
                    {"m", task.shape.m},
                    {"n", task.shape.n},
                    {"k", task.shape.k},
                    {"time_us", rate.microseconds},
                    {"teraflops_per_second", rate.teraflops},
                    {"gigabytes_per_second", rate.gigabytes_per_second}});
    if (talks) {
      fmt::print("{:<28}{:>10}{:>26}{:>12.1f}{:>10.1f}{:>10.0f}\n", task.name, task.precision,
                 fmt::format("{} x {} x {}", task.shape.m, task.shape.n, task.shape.k), rate.microseconds,
                 rate.teraflops, rate.gigabytes_per_second);
    }
  }
  return rows;
}

Json measure_kernel_rates(const PeaksOptions& options, double copy_rate, bool talks) {
  Json rows = Json::array();
  if (talks) fmt::print("\n{:<42}{:>10}{:>10}{:>18}\n", "kernel, fp16", "us", "GB/s", "of the copy rate");
  for (const std::int64_t batch : options.kernel_batches) {
    for (const KernelRate& rate : measure_kernels(batch)) {
      rows.push_back({{"kernel", rate.name},
                      {"time_us", rate.microseconds},
                      {"gigabytes_per_second", rate.gigabytes_per_second},
                      {"of_copy_rate", rate.gigabytes_per_second / copy_rate}});
      if (talks) {
        fmt::print("{:<42}{:>10.1f}{:>10.0f}{:>17.0f}%\n", rate.name, rate.microseconds, rate.gigabytes_per_second,
                   100.0 * rate.gigabytes_per_second / copy_rate);
      }
    }
  }
  return rows;
}

Json measure_alternatives(cuda::MatmulLibrary& library, bool talks) {
  Json rows = Json::array();
  std::string name;
  double first = 0.0;
  if (talks) fmt::print("\n{:<42}{:<12}{:>10}{:>20}\n", "kernel", "form", "us", "times as fast");
  const auto add = [&](const std::vector<AlternativeRate>& rates) {
    for (const AlternativeRate& rate : rates) {
      if (rate.name != name) first = rate.microseconds;
      name = rate.name;
      Json& row = rows.emplace_back(Json{{"kernel", rate.name}, {"form", rate.form}});
      if (!rate.left_out.empty()) {
        row["left_out"] = rate.left_out;
        if (talks) fmt::print("{:<42}{:<12}  {}\n", rate.name, rate.form, rate.left_out);
        continue;
      }
      row["time_us"] = rate.microseconds;
      if (first > 0.0) row["times_as_fast"] = first / rate.microseconds;
      if (talks) {
        fmt::print("{:<42}{:<12}{:>10.1f}{:>20.2f}\n", rate.name, rate.form, rate.microseconds,
                   first / rate.microseconds);
      }
    }
  };
  add(measure_sparse_products(library));
  add(measure_integer_kernels());
  return rows;
}

Json measure_sustained_rates(cuda::MatmulLibrary& library, double seconds, bool talks) {
  ProductTask task;
  task.name = "square 8192";
  task.precision = "fp16";
  task.shape.m = task.shape.n = task.shape.k = 8192;
  task.shape.operand_type = task.shape.result_type = ElementType::kFp16;
  const SustainedRate rate = measure_sustained(library, task, seconds);
  if (talks) {
    fmt::print("\n{} in {} for {:.1f} s: {:.1f} TFLOP/s at first, {:.1f} at last, {:.1f} at the lowest\n", task.name,
               task.precision, rate.seconds, rate.first_teraflops, rate.last_teraflops, rate.lowest_teraflops);
  }
  return {{"product", task.name},
          {"precision", task.precision},
          {"seconds", rate.seconds},
          {"first_teraflops_per_second", rate.first_teraflops},
          {"last_teraflops_per_second", rate.last_teraflops},
          {"lowest_teraflops_per_second", rate.lowest_teraflops}};
}

int peaks(const PeaksOptions& options) {
  if (!options.rates.empty()) {
    write_rates(options.rates, options.force);
    return 0;
  }
  if (options.force) {
    throw WorkloadError(WorkloadErrorKind::kUsage, "--force is for --rates", "nothing else is written to a file", {});
  }
  check_device();
  const cuda::DeviceInfo info = cuda::device_info();
  const bool talks = !options.json;
  Json document;
  document["schema"] = "swin.peaks/1";
  document["run"] = {{"gpu", info.name},
                     {"compute_capability", fmt::format("{}.{}", info.major, info.minor)},
                     {"multiprocessors", info.multiprocessors},
                     {"memory_bytes", info.memory_bytes},
                     {"l2_bytes", info.l2_bytes},
                     {"cuda_driver", info.driver_version},
                     {"cuda_runtime", info.runtime_version}};
  document["warnings"] = Json::array();
  Json data;
  if (talks)
    fmt::print("{}, {} multiprocessors\n\n{:<28}{:>12}{:>10}\n", info.name, info.multiprocessors, "copy", "MiB",
               "GB/s");
  data["copies"] = Json::array();
  for (const CopyRate& copy : measure_copies()) {
    data["copies"].push_back(
        {{"kind", copy.kind}, {"bytes", copy.bytes}, {"gigabytes_per_second", copy.gigabytes_per_second}});
    if (talks) fmt::print("{:<28}{:>12}{:>10.0f}\n", copy.kind, copy.bytes >> 20, copy.gigabytes_per_second);
  }
  const LaunchCost cost = measure_launches();
  data["launches"] = {{"enqueue_us", cost.enqueue_us},
                      {"round_trip_us", cost.round_trip_us},
                      {"graph_round_trip_us", cost.graph_round_trip_us},
                      {"graph_node_us", cost.graph_node_us}};
  if (talks) {
    fmt::print(
        "\nlaunch: {:.2f} us of host time; with its end {:.2f} us, as a graph {:.2f} us; {:.2f} us a graph node\n",
        cost.enqueue_us, cost.round_trip_us, cost.graph_round_trip_us, cost.graph_node_us);
  }
  const auto print = [&] {
    document["data"] = Json::array({data});
    if (options.json) fmt::print("{}\n", document.dump(2));
  };
  if (!options.kernel_batches.empty()) {
    data["kernels"] = measure_kernel_rates(options, data["copies"][0]["gigabytes_per_second"].get<double>(), talks);
    print();
    return 0;
  }
  cuda::MatmulLibrary library(algorithm_folder());
  if (options.alternatives) {
    data["alternatives"] = measure_alternatives(library, talks);
    library.finish_tuning();
    print();
    return 0;
  }
  const bool with_fp8 = info.major * 10 + info.minor >= 89;
  data["products"] = measure_products(library, with_fp8, talks);
  data["best_teraflops_per_second"] = best_rates(data["products"]);
  data["sustained"] = measure_sustained_rates(library, options.seconds, talks);
  library.finish_tuning();
  print();
  return 0;
}

}  // namespace

void add_peaks_command(Program& program) {
  Command& command = program.add_command("peaks", "Measure what this GPU reaches: copies, products, launches");
  const auto options = std::make_shared<PeaksOptions>();
  const Option seconds = command.option("--seconds", options->seconds, "how long the sustained rate is measured")
                             .positive()
                             .show_default();
  const Option kernels =
      command
          .option("--kernels", options->kernel_batches,
                  "instead of products: normalization and attention of swin_base and swinv2_base at these batch sizes")
          .separated_by(',')
          .positive();
  const Option alternatives =
      command
          .flag("--alternatives", options->alternatives,
                "instead of products: what no model uses, beside what they use: 2:4 sparse products, and softmax, GELU "
                "and normalization in integers alone, of swin_base at batch 128")
          .excludes(kernels);
  const Option json = command.flag("--json", options->json, "print as JSON");
  command
      .option(
          "--rates", options->rates,
          "instead: write to this file what the advisor asks of a GPU, from products of many shapes to gaps between "
          "kernels")
      .value_name("FILE")
      .excludes(seconds)
      .excludes(kernels)
      .excludes(alternatives)
      .excludes(json);
  command.flag("--force", options->force, "replace the file of --rates if it exists");
  command.does([options] { return peaks(*options); });
}

}  // namespace swinscope
