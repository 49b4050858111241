// What a GPU reaches, as `swin peaks --rates FILE` measured it: what the advisor takes the time of work from that the
// trace does not show. Of one GPU each: figures of different GPUs are never mixed.
//
// Between measured sizes a rate is interpolated (linear in the logarithms of sizes), so it is never above the best one
// that was measured. Above the largest size the last rate holds; below the smallest one the time does, which is then
// that of starting work rather than doing it. What no table covers has no value: who asks says so.
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
  // Throws Error(kInput) for a file that is none, or of a newer version; it says what and where.
  static Rates read(const std::filesystem::path& path);
  // Of the text of such a file; source: what messages and source() call it.
  static Rates parse(std::string_view text, const std::string& source);
  // The measured tables that come with the program (data/peaks), by the GPU's name; nothing for a GPU that has none.
  static std::optional<Rates> of_gpu(std::string_view gpu);

  // The same by a part of its name ("h200"), whatever the case. Throws Error(kUsage) where not one GPU has it, naming
  // those that there are.
  static Rates named(std::string_view part);

  const std::string& gpu() const { return gpu_; }  // "NVIDIA H100 80GB HBM3"
  const std::string& source() const { return source_; }

  // Nanoseconds of one product; precisions: fp32, tf32, fp16, bf16, fp8, int8 (for the last two the casts of both
  // operands are not part of it). Products in batches and single ones are tables of their own. The rate of a layer
  // (n, k) that was measured is taken by its rows, batch * m; that of another one is the mean of the four nearest,
  // weighted by 1 / distance^2 in log2 n and log2 k (and log2 rows, where one was not measured for so many or few).
  std::optional<double> product_ns(std::string_view precision, const ProductShape& shape) const;
  // The best that was measured of one product, FLOP per nanosecond.
  std::optional<double> best_product_rate(std::string_view precision) const;
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
  friend class RatesReader;

  struct Point {
    double log_size = 0;  // log2 of rows or bytes
    double rate = 0;      // FLOP or bytes per nanosecond
  };
  // By size, ascending; at least one.
  using Curve = std::vector<Point>;
  struct Layer {
    double log_n = 0;
    double log_k = 0;
    Curve by_rows;
  };
  struct Precision {
    std::vector<Layer> single;
    std::vector<Layer> batched;
  };

  static double rate_at(const Curve& curve, double log_size);
  static double rate_of(const std::vector<Layer>& layers, double log_rows, double log_n, double log_k);
  std::optional<double> scalar(std::string_view name) const;

  std::string gpu_;
  std::string source_;
  std::map<std::string, Precision, std::less<>> products_;
  Curve bytes_;
  std::map<std::string, double, std::less<>> scalars_;  // ns
};

}  // namespace swinscope
