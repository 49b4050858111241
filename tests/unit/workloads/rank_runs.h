// Runs of rank workers: programs that are each a rank and write what they computed to a safetensors file.
#pragma once

#include <cmath>
#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "tests/unit/workloads/subprocess.h"
#include "workloads/safetensors.h"

namespace swinscope::test {

// "2.1" names the results of rank 1 of 2.
class RankRuns {
 protected:
  explicit RankRuns(std::filesystem::path worker) : worker_(std::move(worker)) {}

  std::filesystem::path out(const std::string& rank) const { return folder_.path() / (rank + ".safetensors"); }

  Subprocess start(int rank, int size, std::int64_t batch, const std::vector<std::string>& extra = {}) const {
    const std::string name = std::to_string(size) + "." + std::to_string(rank);
    std::vector<std::string> command = {worker_.string(), out(name).string(), std::to_string(batch)};
    command.insert(command.end(), extra.begin(), extra.end());
    return {command, as_rank(rank, size, folder_.path() / "run"), folder_.path(), name};
  }

  std::vector<double> result(const std::string& rank, const std::string& tensor) const {
    const SafetensorsFile file(out(rank));
    std::vector<double> values(static_cast<std::size_t>(file.find(tensor)->count));
    file.read<double>(*file.find(tensor), values);
    return values;
  }

  // Relative to the norm of b's.
  double difference(const std::string& a, const std::string& b, const std::string& tensor) const {
    const std::vector<double> left = result(a, tensor);
    const std::vector<double> right = result(b, tensor);
    EXPECT_EQ(left.size(), right.size());
    double error = 0.0;
    double size = 0.0;
    for (std::size_t i = 0; i < left.size(); ++i) {
      error += (left[i] - right[i]) * (left[i] - right[i]);
      size += right[i] * right[i];
    }
    return std::sqrt(error / size);
  }

  TemporaryFolder folder_;

 private:
  std::filesystem::path worker_;
};

}  // namespace swinscope::test
