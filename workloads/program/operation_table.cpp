#include "workloads/program/operation_table.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace swinscope {

nlohmann::ordered_json describe_operations(const std::vector<OperationTime>& operations) {
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (const OperationTime& row : operations) {
    rows.push_back({{"operation", row.name},
                    {"calls", row.calls},
                    {"time_ns", row.time_ns},
                    {"gigabytes_per_second", static_cast<double>(row.bytes) / row.time_ns},
                    {"teraflops_per_second", 1e-3 * static_cast<double>(row.flops) / row.time_ns}});
  }
  return rows;
}

void print_operations(const std::vector<OperationTime>& operations) {
  double total = 0.0;
  for (const OperationTime& row : operations)
    total += row.time_ns;
  fmt::print("{:<34}{:>6}{:>12}{:>8}{:>10}{:>10}\n", "operation", "calls", "us", "share", "GB/s", "TFLOP/s");
  for (const OperationTime& row : operations) {
    fmt::print("{:<34}{:>6}{:>12.1f}{:>7.1f}%{:>10.0f}{:>10.1f}\n", row.name, row.calls, row.time_ns * 1e-3,
               100.0 * row.time_ns / total, static_cast<double>(row.bytes) / row.time_ns,
               1e-3 * static_cast<double>(row.flops) / row.time_ns);
  }
  fmt::print("{:<34}{:>6}{:>12.1f}\n", "sum", "", total * 1e-3);
}

}  // namespace swinscope
