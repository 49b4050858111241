#include "advisor/rates.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "advisor/peaks_files.h"
#include "analyzer/base/text.h"
#include "store/error.h"

namespace swinscope {
namespace {

constexpr std::size_t kNeighbours = 4;

// Bytes of an operand's element and of a result's.
std::pair<double, double> element_bytes_of(std::string_view precision) {
  if (precision == "fp32" || precision == "tf32") return {4.0, 4.0};
  if (precision == "fp8") return {1.0, 2.0};
  if (precision == "int8") return {1.0, 4.0};
  return {2.0, 2.0};
}

// What a product reads and writes when it does each once.
double traffic_of(std::string_view precision, const ProductShape& shape) {
  const auto [operand, result] = element_bytes_of(precision);
  const auto m = static_cast<double>(shape.m);
  const auto n = static_cast<double>(shape.n);
  const auto k = static_cast<double>(shape.k);
  return static_cast<double>(shape.batch) * (operand * (m * k + n * k) + result * m * n);
}

}  // namespace

std::optional<Rates> Rates::of_gpu(std::string_view gpu) {
  const auto found = std::ranges::find(peaks_files(), gpu, &PeaksFile::gpu);
  return found == peaks_files().end() ? std::nullopt : std::optional(parse(found->text, std::string(found->name)));
}

Rates Rates::named(std::string_view part) {
  std::vector<const PeaksFile*> found;
  std::vector<std::string_view> names;
  for (const PeaksFile& file : peaks_files()) {
    names.push_back(file.gpu);
    if (contains_any_case(file.gpu, part)) found.push_back(&file);
  }
  if (found.size() != 1) {
    throw Error(ErrorKind::kUsage, fmt::format("--gpu {}: {} GPUs of that name were measured", part, found.size()),
                fmt::format("there are {}", fmt::join(names, ", ")),
                "measure the rates of yours with `swinscope peaks --rates FILE`, and give them with --peaks FILE");
  }
  return parse(found.front()->text, std::string(found.front()->name));
}

double Rates::rate_at(const Curve& curve, double log_size) {
  const Point& first = curve.front();
  if (log_size <= first.log_size) return first.rate * std::exp2(log_size - first.log_size);
  const auto above = std::ranges::lower_bound(curve, log_size, {}, &Point::log_size);
  if (above == curve.end()) return curve.back().rate;
  const Point& below = *(above - 1);
  return std::lerp(below.rate, above->rate, (log_size - below.log_size) / (above->log_size - below.log_size));
}

double Rates::rate_of(const std::vector<Layer>& layers, double log_rows, double log_n, double log_k) {
  std::vector<std::pair<double, const Layer*>> nearest;  // by the square of the distance
  for (const Layer& layer : layers) {
    const double by_n = layer.log_n - log_n;
    const double by_k = layer.log_k - log_k;
    if (by_n == 0.0 && by_k == 0.0) return rate_at(layer.by_rows, log_rows);
    const double by_rows =
        log_rows - std::clamp(log_rows, layer.by_rows.front().log_size, layer.by_rows.back().log_size);
    nearest.emplace_back(by_n * by_n + by_k * by_k + by_rows * by_rows, &layer);
  }
  const std::size_t count = std::min(kNeighbours, nearest.size());
  std::ranges::partial_sort(nearest, nearest.begin() + static_cast<std::ptrdiff_t>(count), {},
                            &std::pair<double, const Layer*>::first);
  double rates = 0.0;
  double weights = 0.0;
  for (std::size_t i = 0; i < count; ++i) {
    const double weight = 1.0 / nearest[i].first;
    rates += weight * rate_at(nearest[i].second->by_rows, log_rows);
    weights += weight;
  }
  return rates / weights;
}

std::optional<double> Rates::product_ns(std::string_view precision, const ProductShape& shape) const {
  const auto found = products_.find(precision);
  if (found == products_.end() || std::min({shape.batch, shape.m, shape.n, shape.k}) < 1) return std::nullopt;
  const std::vector<Layer>& layers = shape.batch > 1 ? found->second.batched : found->second.single;
  if (layers.empty()) return std::nullopt;
  const auto rows = static_cast<double>(shape.batch) * static_cast<double>(shape.m);
  const auto n = static_cast<double>(shape.n);
  const auto k = static_cast<double>(shape.k);
  const auto [least_n, most_n] = std::ranges::minmax(layers, {}, &Layer::log_n);
  const auto [least_k, most_k] = std::ranges::minmax(layers, {}, &Layer::log_k);
  const double log_n = std::clamp(std::log2(n), least_n.log_n, most_n.log_n);
  const double log_k = std::clamp(std::log2(k), least_k.log_k, most_k.log_k);
  double ns = 2.0 * rows * n * k / rate_of(layers, std::log2(rows), log_n, log_k);
  // The rate of a wider layer is too high for one that memory limits.
  if (log_n > std::log2(n) || log_k > std::log2(k))
    ns = std::max(ns, bytes_ns(traffic_of(precision, shape)).value_or(0.0));
  return std::max(ns, empty_kernel_ns().value_or(0.0));
}

std::optional<double> Rates::best_product_rate(std::string_view precision) const {
  const auto found = products_.find(precision);
  if (found == products_.end()) return std::nullopt;
  double best = 0;
  for (const Layer& layer : found->second.single)
    for (const Point& point : layer.by_rows)
      best = std::max(best, point.rate);
  return best > 0 ? std::optional(best) : std::nullopt;
}

std::optional<double> Rates::bytes_ns(double bytes) const {
  if (bytes_.empty() || !(bytes >= 0.0)) return std::nullopt;
  const double least = std::exp2(bytes_.front().log_size);
  const double moved = std::max(bytes, least);
  return std::max(moved / rate_at(bytes_, std::log2(moved)), empty_kernel_ns().value_or(0.0));
}

std::optional<double> Rates::scalar(std::string_view name) const {
  const auto found = scalars_.find(name);
  return found == scalars_.end() ? std::nullopt : std::optional(found->second);
}

std::optional<double> Rates::empty_kernel_ns() const { return scalar("empty_kernel"); }
std::optional<double> Rates::kernel_gap_ns() const { return scalar("kernel_gap"); }
std::optional<double> Rates::graph_gap_ns() const { return scalar("graph_gap"); }
std::optional<double> Rates::launch_ns() const { return scalar("launch"); }

std::optional<double> Rates::graph_launch_ns(std::int64_t nodes) const {
  const std::optional<double> base = scalar("graph_launch_base");
  const std::optional<double> node = scalar("graph_launch_node");
  if (!base || !node) return std::nullopt;
  return *base + *node * static_cast<double>(nodes);
}

}  // namespace swinscope
