// What a GPU reaches, as `swin peaks --rates FILE` measured it: what the advisor takes the time of work from that the
// trace does not show. Of one GPU each: figures of different GPUs are never mixed.
//
// Between measured sizes a rate is interpolated (by the logarithm of sizes), beyond them the last one holds. What no
// table covers has no value: who asks says so.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace swinscope {

// D = A B, `batch` times: A is m x k, B is k x n.
struct ProductShape {
  std::int64_t batch = 1;
  std::int64_t m = 0;
  std::int64_t n = 0;
  std::int64_t k = 0;
  bool operator==(const ProductShape&) const = default;
};

class Rates {
 public:
  // Throws Error(kBadInput) for a file that is none, or of a newer version; it says what and where.
  static Rates read(const std::filesystem::path& path);
  // The measured tables that come with the program (data/peaks), by the GPU's name; nothing for a GPU that has none.
  static std::optional<Rates> of_gpu(std::string_view gpu);

  const std::string& gpu() const { return gpu_; }  // "NVIDIA H100 80GB HBM3"
  const std::string& source() const { return source_; }

  // Nanoseconds of one product; precisions: fp32, tf32, fp16, bf16, fp8, int8 (for the last two the casts of both
  // operands are not part of it).
  std::optional<double> product_ns(std::string_view precision, const ProductShape& shape) const;
  // Of a kernel that moves so many bytes (read and written), each once, elementwise, in large tensors or (where the
  // bytes fit) within the L2 cache.
  std::optional<double> bytes_ns(double bytes) const;
  // Of a kernel that does nothing, from its start to its end.
  std::optional<double> empty_kernel_ns() const;
  // From the end of one kernel to the start of the next one on a stream when both had been launched; within a graph.
  std::optional<double> kernel_gap_ns() const;
  std::optional<double> graph_gap_ns() const;
  // The host's time for a launch, for a graph's launch, and what that takes for each of its nodes.
  std::optional<double> launch_ns() const;
  std::optional<double> graph_launch_ns(std::int64_t nodes) const;

 private:
  struct Product {
    ProductShape shape;
    double ns = 0;
  };
  std::string gpu_;
  std::string source_;
  std::map<std::string, std::vector<Product>, std::less<>> products_;  // by precision
  std::vector<std::pair<double, double>> bytes_;                       // bytes, ns, ascending
  std::map<std::string, double, std::less<>> scalars_;                 // ns
};

}  // namespace swinscope
