#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <ctime>
#include <fstream>
#include <sstream>
#include <string_view>

#include <cublasLt.h>
#include <cuda_runtime.h>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include "kernels/cuda_call.h"
#include "workloads/cuda/device_model.h"
#include "workloads/error.h"
#include "workloads/program/peaks_rates.h"
#include "workloads/whole_file.h"

namespace swinscope {
namespace {

using RatesJson = nlohmann::ordered_json;

// Three digits behind the point of a microsecond say more than any clock does.
double rounded(double ns) { return std::round(10.0 * ns) / 10.0; }

// Before minutes are spent on what could not be kept.
void check_target(const std::filesystem::path& path, bool force) {
  std::error_code ignored;
  if (!force && std::filesystem::exists(path, ignored)) {
    throw WorkloadError(WorkloadErrorKind::kUsage, fmt::format("{}: exists", path.string()), {},
                        "give another name, or --force to replace it");
  }
  const std::filesystem::path folder = path.has_parent_path() ? path.parent_path() : ".";
  if (!std::filesystem::is_directory(folder, ignored) || ::access(folder.c_str(), W_OK) != 0) {
    throw WorkloadError(WorkloadErrorKind::kUsage, fmt::format("{}: cannot be written", path.string()),
                        fmt::format("{} is no folder that may be written to", folder.string()), "give another name");
  }
}

// "580.159.04": the display driver's version, which CUDA does not know; empty where /proc does not say it.
std::string display_driver() {
  std::ifstream file("/proc/driver/nvidia/version");
  std::string line;
  std::getline(file, line);
  std::istringstream words(line);
  for (std::string word; words >> word;) {
    const bool is_version =
        word.find('.') != std::string::npos && word.find_first_not_of("0123456789.") == std::string::npos;
    if (is_version) return word;
  }
  return {};
}

int attribute(cudaDeviceAttr which) {
  int device = 0;
  int value = 0;
  SWINSCOPE_CUDA(cudaGetDevice(&device));
  SWINSCOPE_CUDA(cudaDeviceGetAttribute(&value, which, device));
  return value;
}

RatesJson describe_machine(const cuda::DeviceInfo& info) {
  return {{"schema", "swinscope.rates/1"},
          {"gpu", info.name},
          {"date", fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)))},
          {"swinscope", SWINSCOPE_VERSION},
          {"driver", display_driver()},
          {"cuda_driver", info.driver_version},
          {"cuda_runtime", info.runtime_version},
          {"cublaslt", cublasLtGetVersion()},
          {"compute_capability", fmt::format("{}.{}", info.major, info.minor)},
          {"multiprocessors", info.multiprocessors},
          {"memory_bytes", info.memory_bytes},
          {"l2_bytes", info.l2_bytes}};
}

RatesJson scalars_of(const LaunchGaps& gaps) {
  return {{"empty_kernel", rounded(gaps.empty_kernel_ns)},
          {"kernel_gap", rounded(gaps.kernel_gap_ns)},
          {"graph_gap", rounded(gaps.graph_gap_ns)},
          {"launch", rounded(gaps.launch_ns)},
          {"graph_launch_base", rounded(gaps.graph_launch_base_ns)},
          {"graph_launch_node", rounded(gaps.graph_launch_node_ns)}};
}

RatesJson shape_of(const RateRow& row) {
  return {{"batch", row.shape.batch}, {"m", row.shape.m}, {"n", row.shape.n}, {"k", row.shape.k}};
}

double teraflops(const RateRow& row) {
  const cuda::MatmulShape& s = row.shape;
  return 2e-3 * static_cast<double>(s.batch * s.m) * static_cast<double>(s.n * s.k) / row.ns;
}

class RatesDocument {
 public:
  RatesDocument(const cuda::DeviceInfo& info, const LaunchGaps& gaps)
      : meter_(gaps.graph_gap_ns), document_(describe_machine(info)) {
    document_["clocks"] = {{"most_sm_mhz", attribute(cudaDevAttrClockRate) / 1000},
                           {"most_memory_mhz", attribute(cudaDevAttrMemoryClockRate) / 1000},
                           {"light_sm_mhz", std::round(meter_.light_clock_mhz())}};
    document_["scalars"] = scalars_of(gaps);
    document_["bytes"] = RatesJson::array();
    document_["products"] = RatesJson::object();
    document_["epilogues"] = RatesJson::array();
    document_["left_out"] = RatesJson::array();
  }

  void add_bytes() {
    double best = 0.0;
    for (const BytesRow& row : meter_.measure_bytes()) {
      document_["bytes"].push_back({{"bytes", row.bytes}, {"ns", rounded(row.ns)}});
      best = std::max(best, static_cast<double>(row.bytes) / row.ns);
    }
    fmt::print("elementwise: {} sizes, up to {:.0f} GB/s\n", document_["bytes"].size(), best);
  }

  void add_products(const ProductPrecision& precision) {
    RatesJson rows = RatesJson::array();
    double best = 0.0;
    for (const cuda::MatmulShape& shape : rate_shapes(precision)) {
      RateRow row{precision.name, shape, 0.0, {}};
      if (!measure(row)) continue;
      rows.push_back(shape_of(row));
      rows.back()["ns"] = rounded(row.ns);
      best = std::max(best, teraflops(row));
    }
    fmt::print("{}: {} products, up to {:.1f} TFLOP/s\n", precision.name, rows.size(), best);
    (void)std::fflush(stdout);
    if (!rows.empty()) document_["products"][precision.name] = std::move(rows);
  }

  void add_epilogues() {
    for (RateRow& row : epilogue_rows()) {
      if (!measure(row)) continue;
      RatesJson line = {{"precision", row.precision}};
      line.update(shape_of(row));
      line["kind"] = row.shape.epilogue == cuda::Epilogue::kBias ? "bias" : "bias_gelu";
      line["ns"] = rounded(row.ns);
      document_["epilogues"].push_back(std::move(line));
    }
    fmt::print("epilogues: {} products\n", document_["epilogues"].size());
  }

  void add_loaded_clock() {
    const double clock = meter_.loaded_clock_mhz();
    if (clock > 0.0) document_["clocks"]["loaded_sm_mhz"] = std::round(clock);
    fmt::print("clock: {} MHz with one thread, {:.0f} MHz after a second of large products\n",
               document_["clocks"]["light_sm_mhz"].get<double>(), clock);
  }

  // A row a line, so that files can be compared.
  void write(std::ostream& out) const {
    std::string between = "{";
    for (const auto& [key, value] : document_.items()) {
      out << between << "\n  \"" << key << "\": ";
      if (key == "products") {
        write_products(out, value);
      } else {
        write_rows(out, value, "  ");
      }
      between = ",";
    }
    out << "\n}\n";
  }

 private:
  bool measure(RateRow& row) {
    meter_.measure(row);
    if (row.left_out.empty()) return true;
    RatesJson line = {{"precision", row.precision}};
    line.update(shape_of(row));
    line["why"] = row.left_out;
    document_["left_out"].push_back(std::move(line));
    return false;
  }

  static void write_rows(std::ostream& out, const RatesJson& value, std::string_view indent) {
    if (!value.is_array() || value.empty()) {
      out << value.dump();
      return;
    }
    std::string_view between = "[";
    for (const RatesJson& row : value) {
      out << between << "\n" << indent << "  " << row.dump();
      between = ",";
    }
    out << "\n" << indent << "]";
  }

  static void write_products(std::ostream& out, const RatesJson& products) {
    std::string_view between = "{";
    for (const auto& [precision, rows] : products.items()) {
      out << between << "\n    \"" << precision << "\": ";
      write_rows(out, rows, "    ");
      between = ",";
    }
    out << (products.empty() ? "{}" : "\n  }");
  }

  RateMeter meter_;
  RatesJson document_;
};

}  // namespace

void write_rates(const std::filesystem::path& path, bool force) {
  check_target(path, force);
  check_device();
  const cuda::DeviceInfo info = cuda::device_info();
  fmt::print("{}, {} multiprocessors\n", info.name, info.multiprocessors);
  const LaunchGaps gaps = measure_gaps();
  fmt::print("an empty kernel {:.0f} ns, from one to the next {:.0f} ns, in a graph {:.0f} ns; a launch {:.0f} ns\n",
             gaps.empty_kernel_ns, gaps.kernel_gap_ns, gaps.graph_gap_ns, gaps.launch_ns);
  RatesDocument document(info, gaps);
  document.add_bytes();
  for (const ProductPrecision& precision : product_precisions(info.major * 10 + info.minor >= 89))
    document.add_products(precision);
  document.add_epilogues();
  document.add_loaded_clock();
  WholeFile file(path);
  document.write(file.stream());
  file.keep();
  fmt::print("{}\n", path.string());
}

}  // namespace swinscope
