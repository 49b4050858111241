#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "advisor/candidates/candidates.h"
#include "advisor/candidates/channels_last.h"
#include "advisor/rates.h"

namespace swinscope {
namespace {

struct Target {
  std::string_view from;
  std::string_view to;
  bool halves_bytes;  // of what lies between the products, too
  std::string_view accuracy;
};

constexpr std::string_view kOfIntegers =
    "integers of 8 bits: scales for each channel of the weights and each tensor, and accuracy has to be measured";
constexpr std::array kTargets = {
    Target{"fp32", "tf32", false, "products round their inputs to 10 bits of mantissa: about 1e-3 of each"},
    Target{"fp32", "fp16", true,
           "16-bit rounding, about 1e-3 of each value, and a range up to 65,504: training needs its loss scaled"},
    Target{"fp32", "bf16", true, "7 bits of mantissa, about 4e-3 of each value, and the range of fp32"},
    Target{"tf32", "bf16", true, "7 bits of mantissa, about 4e-3 of each value, and the range of fp32"},
    Target{"tf32", "fp16", true, "a range up to 65,504: training needs its loss scaled"},
    Target{"fp16", "fp8", false, "3 bits of mantissa: scales for each tensor, and accuracy has to be measured"},
    Target{"bf16", "fp8", false, "3 bits of mantissa: scales for each tensor, and accuracy has to be measured"},
    Target{"fp16", "int8", false, kOfIntegers},
    Target{"bf16", "int8", false, kOfIntegers}};

bool is_of_8_bits(const Target& target) { return target.to == "fp8" || target.to == "int8"; }

bool has_product(const WorkItem& item) { return is_of_library(item) && item.operation != nullptr; }

// It is known to be in the one precision, and may be in another.
bool can_change(const WorkItem& item, std::string_view from) {
  return item.operation != nullptr && item.precision == from && !item.keeps_precision;
}

// What lies between the products, in values of half the bits: elementwise and layout kernels move half the bytes.
// Normalization, softmax and losses stay in 32 bits, as automatic mixed precision leaves them, and so do the scores
// that a softmax reads; sums read half the bytes.
std::optional<std::array<double, 3>> factor_between(const WorkItem& item, const WorkItem* next) {
  if (item.operation->phase == "optimizer") return std::nullopt;
  const bool is_read_by_softmax = next != nullptr && next->kind == OperationKind::kSoftmaxLoss;
  // PyTorch's kernels that find each element by its index take their time for that.
  const bool is_indexing = item.full_name.find("at::native::") != std::string_view::npos &&
                           item.full_name.find("vectorized") == std::string_view::npos;
  if (is_indexing && is_pointwise(item.kind) && item.kind != OperationKind::kNorm &&
      item.kind != OperationKind::kSoftmaxLoss)
    return std::array<double, 3>{1, 0.85, 0.5};
  switch (item.kind) {
    case OperationKind::kElementwise:
    case OperationKind::kAttention:
      if (is_read_by_softmax) return std::array<double, 3>{1, 1, 0.5};
      return std::array<double, 3>{0.7, 0.5, 0.45};
    case OperationKind::kLayout:
      return std::array<double, 3>{0.7, 0.5, 0.45};
    case OperationKind::kReduce:
      return std::array<double, 3>{1, 0.65, 0.45};
    case OperationKind::kNorm:
    case OperationKind::kSoftmaxLoss:
      return std::array<double, 3>{1, 0.95, 0.5};
    default:
      return std::nullopt;
  }
}

// The kernels beside one that compute: libraries clear their workspace before a product.
constexpr std::size_t kNone = static_cast<std::size_t>(-1);
std::size_t kernel_after(const std::vector<WorkItem>& items, std::size_t index) {
  do {
    ++index;
  } while (index < items.size() && items[index].kind == OperationKind::kSet);
  return index < items.size() ? index : kNone;
}
std::size_t kernel_before(const std::vector<WorkItem>& items, std::size_t index) {
  while (index-- > 0) {
    if (items[index].kind != OperationKind::kSet && !items[index].is_part) return index;
  }
  return kNone;
}

// What so many bytes more take, beside those that a kernel moves; of fewer, below 0.
std::optional<double> bytes_more_ns(const WorkItem& item, double more, const Rates& rates) {
  const auto all = static_cast<double>(item.what->bytes_read + item.what->bytes_written);
  const std::optional<double> now_ns = rates.bytes_ns(all);
  const std::optional<double> then_ns = rates.bytes_ns(all + more);
  if (!now_ns || !then_ns) return std::nullopt;
  return *then_ns - *now_ns;
}

// What a kernel that makes a product's input takes longer (below 0: less) where it rounds to 8 bits itself. It writes
// half of the bytes, or, where it adds a residual and so writes what later layers add to, too, half as many more.
std::optional<double> rounding_ns(const WorkItem& item, double result_bytes, bool adds_residual, const Rates& rates) {
  return bytes_more_ns(item, (adds_residual ? 0.5 : -0.5) * result_bytes, rates);
}

bool has_bytes(const WorkItem& item) {
  return item.what != nullptr && item.what->has_cost && item.what->bytes_read > 0 && item.what->bytes_written > 0;
}

// Its bytes then, of those now, as a part of its time: what they do not take stays.
std::optional<double> factor_of_bytes(const WorkItem& item, double now_bytes, double then_bytes, const Rates& rates) {
  const std::optional<double> now_ns = rates.bytes_ns(now_bytes);
  const std::optional<double> then_ns = rates.bytes_ns(then_bytes);
  if (!now_ns || !then_ns || *now_ns <= 0 || item.duration_ns <= 0) return std::nullopt;
  // Where half of the bytes fit the L2 cache and all do not, the table's ratio is that of two memories.
  const double ratio = std::max(*then_ns / *now_ns, then_bytes / now_bytes);
  const double share = std::min(1.0, *now_ns / static_cast<double>(item.duration_ns));
  return 1 - share * (1 - std::min(1.0, ratio));
}

// Of normalization and what is elementwise, which wait for their bytes. Few bytes take as long as half of them.
std::optional<std::array<double, 3>> factor_of_pointwise(const WorkItem& item, const Rates& rates) {
  const auto read = static_cast<double>(item.what->bytes_read);
  const auto written = static_cast<double>(item.what->bytes_written);
  // Two tensors as large as its result: a branch and the residual.
  const bool adds_residual = read >= 1.9 * written;
  const double half = 0.5 * written / (read + written);
  const std::optional<double> now_ns = rates.bytes_ns(read + written);
  const std::optional<double> more_ns = rounding_ns(item, written, adds_residual, rates);
  if (!now_ns || !more_ns) return std::nullopt;
  const double factor = std::clamp(1 + *more_ns / *now_ns, 1 - half, 1 + half);
  return std::array<double, 3>{std::max(1.0, factor), factor, adds_residual ? 1.0 : 1 - half};
}

// Of what makes a product's input in 8 bits, or reads what one makes in 8 bits, as attention does.
struct BytesAround {
  bool reads, writes;
};
std::optional<std::array<double, 3>> factor_between_products(const WorkItem& item, BytesAround around,
                                                             const Rates& rates) {
  if (!has_bytes(item)) return std::nullopt;
  if (is_pointwise(item.kind) && around.writes) return factor_of_pointwise(item, rates);
  if (item.kind != OperationKind::kAttention || !(around.reads || around.writes)) return std::nullopt;
  const auto read = static_cast<double>(item.what->bytes_read);
  const auto written = static_cast<double>(item.what->bytes_written);
  const double then_bytes = (around.reads ? 0.5 : 1.0) * read + (around.writes ? 0.5 : 1.0) * written;
  const std::optional<double> factor = factor_of_bytes(item, read + written, then_bytes, rates);
  if (!factor) return std::nullopt;
  return std::array<double, 3>{1, *factor, then_bytes / (read + written)};
}

// Bytes that changes of precision move around a product: to 8 bits its input's, half of which become part of other
// kernels, or all where the program's kernels are its own; where PyTorch trains, whose parameters stay in 32 bits,
// those of the weights, and half of the input's.
double cast_bytes(const ProductShape& shape, const Target& target, bool is_convolution, bool keeps_parameters) {
  // A convolution's input has about as many values as its result: each is read for every pixel of a filter.
  const double input = static_cast<double>(shape.batch) * static_cast<double>(shape.m) *
                       static_cast<double>(is_convolution ? shape.n : shape.k);
  const double weights = static_cast<double>(shape.n) * static_cast<double>(shape.k);
  if (is_of_8_bits(target)) return 3 * input;
  return target.halves_bytes && keeps_parameters && shape.batch == 1 ? 6 * (2 * weights + input) : 0.0;
}

// Of a program: what decides who casts.
struct Program {
  bool has_own_kernels;   // it is not PyTorch that launches: what makes a value can round it
  bool keeps_parameters;  // in 32 bits
};

// What a product writes, in bytes, where it adds a tensor as large as that which stays in 16 bits; 0: it does not.
double residual_bytes(const WorkItem& item, const ProductShape& shape) {
  if (!has_bytes(item)) return 0.0;
  const auto written = static_cast<double>(item.what->bytes_written);
  const double bytes_each = written / (static_cast<double>(shape.batch * shape.m) * static_cast<double>(shape.n));
  const double operands =
      bytes_each * static_cast<double>(shape.batch * shape.m + shape.n) * static_cast<double>(shape.k);
  return static_cast<double>(item.what->bytes_read) - operands >= 0.9 * written ? written : 0.0;
}

// Whether one that takes so long by the table takes more than twice what its operations and its bytes would at the
// best rates: it waits for other things.
bool has_few_rows(double table_ns, const WorkItem& item, const ProductShape& shape, const Target& target,
                  const Rates& rates) {
  const auto operations = static_cast<double>(2 * shape.batch * shape.m * shape.n * shape.k);
  double work_ns = operations / rates.best_product_rate(target.from).value_or(operations);
  if (has_bytes(item)) {
    const auto bytes = static_cast<double>(item.what->bytes_read + item.what->bytes_written);
    work_ns = std::max(work_ns, rates.bytes_ns(bytes).value_or(0.0));
  }
  return table_ns > 2 * work_ns;
}

// How many times as long a product takes; by Estimate. rounds_result: what is behind it reads 8 bits.
std::optional<std::array<double, 3>> factor_of(const WorkItem& item, bool rounds_result, const Target& target,
                                               const Rates& rates, const Program& program) {
  const std::optional<ProductShape> shape = product_of(*item.what);
  if (!shape) return std::nullopt;
  const std::optional<double> now_ns = rates.product_ns(target.from, *shape);
  std::optional<double> then_ns = rates.product_ns(target.to, *shape);
  if (!now_ns || !then_ns || *now_ns <= 0) return std::nullopt;
  // The table's integer products write 32-bit sums; one that scales them writes as little as a product of fp8.
  if (target.to == "int8") then_ns = std::min(*then_ns, rates.product_ns("fp8", *shape).value_or(*then_ns));
  double residual_ns = 0;  // which is read as before
  if (is_of_8_bits(target) && program.has_own_kernels) {
    const double residual = residual_bytes(item, *shape);
    if (residual > 0) residual_ns = -bytes_more_ns(item, -residual, rates).value_or(0.0);
    if (rounds_result && has_bytes(item)) {
      const auto written = static_cast<double>(item.what->bytes_written);
      then_ns = std::max(0.5 * *then_ns, *then_ns + rounding_ns(item, written, residual > 0, rates).value_or(0.0));
    }
  }
  const double bytes = cast_bytes(*shape, target, item.kind == OperationKind::kConv, program.keeps_parameters);
  const double casts_ns = bytes > 0 ? rates.bytes_ns(bytes).value_or(0) : 0.0;
  const double stay = is_of_8_bits(target) && program.has_own_kernels ? 0 : 0.5;
  const double all_ns = *now_ns + residual_ns;
  std::array<double, 3> factors = {(1.25 * *then_ns + residual_ns + casts_ns) / all_ns,
                                   (*then_ns + residual_ns + stay * casts_ns) / all_ns,
                                   (0.85 * *then_ns + residual_ns) / all_ns};
  // It gets as fast as the table's in 8 bits, and no faster, where it is not already.
  if (is_of_8_bits(target) && item.duration_ns > 0 && has_few_rows(*now_ns, item, *shape, target, rates))
    factors[1] = std::max(factors[1], std::min(1.0, (*then_ns + residual_ns) / static_cast<double>(item.duration_ns)));
  return factors;
}

bool is_torch(const Work& work) {
  return std::ranges::any_of(work.run.operations(),
                             [](const RankOperations& rank) { return rank.are_torch_profile(); });
}

// A program that rounds where values are made: which of a stream's products read 8 bits, since they gain by it.
std::vector<bool> products_of_8_bits(const std::vector<WorkItem>& items, const Target& target, const Rates& rates,
                                     const Program& program) {
  std::vector<bool> found(items.size());
  if (!is_of_8_bits(target) || !program.has_own_kernels) return found;
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (!can_change(items[i], target.from) || !has_product(items[i]) || items[i].is_part) continue;
    const auto factor = factor_of(items[i], false, target, rates, program);
    found[i] = factor && (*factor)[1] < 1;
  }
  return found;
}

// What comes with 16 bits beside the work itself, as a part of the time that it takes now: once for each operation.
class Beside {
 public:
  Beside(const Work& work, const Target& target)
      : rates_(target.halves_bytes && is_torch(work) ? work.rates() : nullptr) {}

  void add_to(std::array<double, 3>& factor, const WorkItem& item) {
    if (rates_ == nullptr || item.operation == last_ || item.duration_ns <= 0) return;
    const double ns = kernels_beside_ns(item, *rates_);
    if (ns <= 0) return;
    last_ = item.operation;
    for (std::size_t i = 0; i < factor.size(); ++i)
      factor[i] += kStays[i] * ns / static_cast<double>(item.duration_ns);
  }

 private:
  static constexpr std::array kStays = {1.25, 1.0, 0.0};  // nothing where the program is changed to channels last
  const Rates* rates_;
  const Operation* last_ = nullptr;
};

}  // namespace

std::vector<Change> find_precisions(const Work& work) {
  if (work.rates() == nullptr) return {};
  const Rates& rates = *work.rates();
  // PyTorch's automatic mixed precision keeps parameters and their gradients in 32 bits.
  const bool trains = is_training(work);
  const Program program{!is_torch(work) && !trains, is_torch(work) && trains};
  std::vector<Change> found;
  for (const Target& target : kTargets) {
    if (trains && target.to == "int8") continue;  // gradients need an exponent
    Change change;
    Beside beside(work, target);
    std::size_t products = 0;
    std::size_t staying = 0;
    std::size_t kept = 0;  // as the user wants
    for (const WorkStream& stream : work.streams()) {
      const std::vector<bool> of_8_bits = products_of_8_bits(stream.items, target, rates, program);
      for (std::size_t i = 0; i < stream.items.size(); ++i) {
        const WorkItem& item = stream.items[i];
        const WorkItem* next = i + 1 < stream.items.size() ? &stream.items[i + 1] : nullptr;
        if (item.keeps_precision && item.precision == target.from && has_product(item) && !item.is_part) ++kept;
        if (!can_change(item, target.from) || item.is_part) continue;
        if (!fits_tensor_cores(item)) {
          ++staying;
          continue;
        }
        const std::size_t after = kernel_after(stream.items, i);
        const std::size_t before = kernel_before(stream.items, i);
        if (has_product(item)) {
          const bool is_read_by_attention = after != kNone && stream.items[after].kind == OperationKind::kAttention &&
                                            can_change(stream.items[after], target.from);
          const bool rounds_result = of_8_bits[i] && after != kNone && (of_8_bits[after] || is_read_by_attention);
          std::optional<std::array<double, 3>> factor = factor_of(item, rounds_result, target, rates, program);
          if (!factor) continue;
          beside.add_to(*factor, item);
          ++products;
          Scaled& place = change.scaled.emplace_back(Scaled{.op = item.ref,
                                                            .factor = *factor,
                                                            .share = *factor,
                                                            .halves_values = target.halves_bytes,
                                                            .is_of_library = true});
          change.evidence.push_back(item.ref);
          for (std::size_t part = i + 1; part < end_of_product(stream.items, i); ++part)
            place.beside.push_back(stream.items[part].ref);
        } else if (is_of_8_bits(target)) {
          const BytesAround around = {before != kNone && of_8_bits[before], after != kNone && of_8_bits[after]};
          if (const auto factor = factor_between_products(item, around, rates))
            change.scaled.push_back({.op = item.ref, .factor = *factor});
        } else if (target.halves_bytes) {
          std::optional<std::array<double, 3>> factor = factor_between(item, next);
          if (!factor) continue;
          beside.add_to(*factor, item);
          change.scaled.push_back({.op = item.ref, .factor = *factor, .halves_values = true});
        }
      }
    }
    if (products == 0) continue;
    change.kind = "precision";
    change.id = fmt::format("precision-{}-{}", target.from, target.to);
    change.title = fmt::format("Compute products in {} instead of {} ({})", target.to, target.from,
                               times_per_step(products, work));
    change.why = "by this GPU's measured rates for each product's shape";
    change.assumptions = {
        fmt::format("each product gets faster as the table of {} says ({})", rates.gpu(), rates.source())};
    if (target.halves_bytes)
      change.assumptions.emplace_back(
          "elementwise and layout kernels between the products move half the bytes; normalization, softmax and what it "
          "reads stay in 32 bits; convolutions of images that lie channel by channel are transposed around");
    if (staying > 0)
      change.assumptions.push_back(
          fmt::format("convolutions of fewer than 4 channels take as long, tensor cores do not have them ({})",
                      times_per_step(staying, work)));
    if (kept > 0)
      change.assumptions.push_back(fmt::format("products of the layers that were named stay in {} ({})", target.from,
                                               times_per_step(kept, work)));
    if (is_of_8_bits(target))
      change.assumptions.emplace_back(
          program.has_own_kernels
              ? "what makes their inputs rounds them, and writes half of the bytes; attention reads 8 bits, too"
              : "half of the casts of the inputs become part of other kernels");
    if (target.to == "int8")
      change.assumptions.emplace_back(
          "products that scale their sums take no longer than those of fp8, where the table has these");
    if (target.halves_bytes && program.keeps_parameters)
      change.assumptions.emplace_back(
          "parameters stay in 32 bits, as automatic mixed precision leaves them: half of the casts of parameters, "
          "gradients and inputs become part of other kernels");
    change.accuracy = target.accuracy;
    change.keeps_launches = is_torch(work);  // its operators call the same libraries
    change.alternative = fmt::format("precision of {}", target.from);
    if (is_of_8_bits(target))
      change.confidence = Confidence::kSpeculative;  // what it does to results has to be measured
    found.push_back(std::move(change));
  }
  return found;
}

}  // namespace swinscope
