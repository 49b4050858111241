#include "advisor/candidates/candidates.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "analyzer/analyses/idle_causes.h"
#include "analyzer/base/text.h"

namespace swinscope {

namespace {

using Lacks = std::string_view (*)(const Work& work);

// The first reason of several.
template <Lacks... kReasons>
std::string_view first_of(const Work& work) {
  std::string_view reason;
  static_cast<void>(((reason = kReasons(work)).empty() && ...));
  return reason;
}

std::string_view lacks_copy_rate(const Work& work) {
  return work.copy_rate() > 0 ? "" : "the rate at which this GPU copies is not known";
}

bool is_of_hip(const Work& work) {
  return std::ranges::any_of(work.graph.ranks, [&](const RankGraph& rank) {
    const ApiCalls& api = work.run.trace.ranks[rank.rank_index].api;
    return api.size() > 0 && work.run.trace.text(api.name.front()).starts_with("hip");
  });
}

std::string_view lacks_rates(const Work& work) {
  if (work.rates() != nullptr) return "";
  return is_of_hip(work)
             ? "no table of this GPU's rates, and `swinscope peaks` measures those of NVIDIA's only"
             : "no table of this GPU's rates: `swinscope peaks --rates FILE` measures one, --peaks FILE gives it";
}

std::string_view is_of_inference_only(const Work& work) {
  return is_training(work) ? "of inference only: a backward pass reads what would no longer be written" : "";
}

std::string_view lacks_input_ranges(const Work& work) {
  return std::ranges::all_of(work.graph.ranks,
                             [&](const RankGraph& rank) {
                               return input_ranges(work.run.trace, work.run.trace.ranks[rank.rank_index]).empty();
                             })
             ? "no wait for data is marked in the trace (PyTorch's DataLoader and `swin` mark theirs)"
             : "";
}

std::string_view lacks_capability(const Work& work) {
  return std::ranges::none_of(
             work.graph.ranks,
             [&](const RankGraph& rank) { return can_overlap_kernels(work.run.trace.ranks[rank.rank_index].run); })
             ? "it takes a GPU that the trace says to be of compute capability 9 or later (H100)"
             : "";
}

// `reason` where there is work of that kind in the trace, of none of which that is known.
template <typename IsOfKind, typename IsKnown>
std::string_view reason_where_unknown(const Work& work, const IsOfKind& is_of_kind, const IsKnown& is_known,
                                      std::string_view reason) {
  bool is_there = false;
  for (const WorkStream& stream : work.streams()) {
    for (const WorkItem& item : stream.items) {
      if (!is_of_kind(item)) continue;
      if (item.operation != nullptr && is_known(*item.what)) return "";
      is_there = true;
    }
  }
  return is_there ? reason : "";
}

std::string_view lacks_shapes(const Work& work) {
  return reason_where_unknown(
      work, is_of_library, [](const OperationPayload& what) { return product_of(what).has_value(); },
      "no product's shape was recorded: torch.profiler records them with record_shapes=True, annotated programs "
      "(`swin`) say theirs");
}

std::string_view lacks_bytes(const Work& work) {
  return reason_where_unknown(
      work, [](const WorkItem& item) { return is_pointwise(item.kind); },
      [](const OperationPayload& what) { return what.has_cost && what.bytes_read + what.bytes_written > 0; },
      "the bytes of no such kernel were recorded: annotated programs (`swin`) say theirs");
}

}  // namespace

std::span<const ChangeKind> change_kinds() {
  // In the order in which they are applied together: what a later one finds removed it leaves alone.
  static constexpr std::array kKinds = {
      ChangeKind{"precision", "Products in fewer bits", &find_precisions, &first_of<lacks_rates, lacks_shapes>},
      ChangeKind{"resampling", "Interpolation's backward pass as a gather", &find_resampling, &lacks_copy_rate},
      ChangeKind{"bandwidth", "Kernels far below the rate of copies", &find_slow_kernels,
                 &first_of<lacks_copy_rate, lacks_bytes>},
      ChangeKind{"attention", "Attention as one kernel", &find_attention},
      ChangeKind{"normalization", "Normalization as part of a product beside it", &find_normalizations,
                 &first_of<is_of_inference_only, lacks_shapes>},
      ChangeKind{"epilogue", "What follows a product as part of its kernel", &find_epilogues},
      ChangeKind{"projection", "Attention and the product of its inputs as one kernel", &find_projections,
                 &first_of<is_of_inference_only, lacks_rates, lacks_shapes>},
      ChangeKind{"mlp", "Two products of short rows as one kernel", &find_mlps,
                 &first_of<is_of_inference_only, lacks_rates, lacks_shapes>},
      ChangeKind{"fusion", "Fusion of elementwise, normalization and layout kernels", &find_fusions},
      ChangeKind{"layout", "Copies that only reorder", &find_layouts},
      ChangeKind{"optimizer", "The optimizer as one kernel", &find_optimizers},
      ChangeKind{"input", "Batches that are ready in time", &find_input_waits, &lacks_input_ranges},
      ChangeKind{"wait", "Steps in which the host does not wait for the GPU", &find_waits},
      ChangeKind{"graph", "Launches as a CUDA graph", &find_graphs},
      ChangeKind{"overlap", "Kernels that start while those before them end", &find_overlaps,
                 &first_of<lacks_capability, lacks_rates>}};
  return kKinds;
}

bool can_overlap_kernels(const RunInfo& run) {
  constexpr int kHopper = 9;  // compute capability from which kernels can be launched before their inputs are there
  return !run.gpus.empty() &&
         std::ranges::all_of(run.gpus, [](const GpuInfo& gpu) { return gpu.compute_major >= kHopper; });
}

bool is_training(const Work& work) {
  return std::ranges::any_of(work.streams(), [](const WorkStream& stream) {
    return std::ranges::any_of(stream.items, [](const WorkItem& item) {
      return item.kind == OperationKind::kOptimizer ||
             (item.operation != nullptr && item.operation->phase == "backward");
    });
  });
}

bool is_product(const WorkItem& item) { return item.kind == OperationKind::kGemm && !item.is_part; }

bool is_of_library(const WorkItem& item) { return is_product(item) || item.kind == OperationKind::kConv; }

std::size_t end_of_product(const std::vector<WorkItem>& items, std::size_t product) {
  std::size_t end = product + 1;
  while (end < items.size() && items[end].is_part)
    ++end;
  return end;
}

std::optional<ProductShape> single_product(const WorkItem& item) {
  if (!is_product(item) || item.operation == nullptr) return std::nullopt;
  const std::optional<ProductShape> shape = product_of(*item.what);
  return shape && shape->batch == 1 ? shape : std::nullopt;
}

bool is_pointwise(OperationKind kind) {
  return kind == OperationKind::kElementwise || kind == OperationKind::kLayout || kind == OperationKind::kNorm ||
         kind == OperationKind::kSoftmaxLoss;
}

Scaled& add_place(const std::vector<const WorkItem*>& chain, const WorkItem& kept, Change& change) {
  Scaled& place = change.scaled.emplace_back(Scaled{.op = kept.ref, .is_of_library = is_of_library(kept)});
  for (const WorkItem* item : chain) {
    change.evidence.push_back(item->ref);
    if (item != &kept) (item->is_part ? place.beside : place.instead_of).push_back(item->ref);
  }
  return place;
}

Scaled& take_over(const std::vector<const WorkItem*>& chain, const WorkItem& kept,
                  const std::vector<const WorkItem*>& needed, Change& change) {
  Scaled& place = change.scaled.emplace_back(Scaled{.op = kept.ref, .is_of_library = is_of_library(kept)});
  for (const WorkItem* item : chain) {
    change.evidence.push_back(item->ref);
    if (item == &kept) continue;
    const bool is_needed = std::ranges::find(needed, item) != needed.end();
    (is_needed ? place.instead_of : place.beside).push_back(item->ref);
  }
  return place;
}

std::string names_of(const std::vector<const WorkItem*>& items) {
  constexpr std::size_t kLongest = 36;  // of a name; libraries put whole configurations into them
  std::string names;
  for (std::size_t i = 0; i < items.size();) {
    std::size_t end = i;
    while (end < items.size() && items[end]->kernel == items[i]->kernel)
      ++end;
    if (!names.empty()) names += " + ";
    if (end - i > 1) names += fmt::format("{} x ", end - i);
    names += items[i]->kernel.substr(0, kLongest);
    if (items[i]->kernel.size() > kLongest) names += "…";
    i = end;
  }
  return names;
}

std::string times_per_step(std::size_t places, const Work& work) {
  const double times = static_cast<double>(places) / work.rank_steps();
  if (times == 1) return "once a step";
  return format_number(times) + " times a step";
}

std::vector<Change> Grouped::take(const Work& work, std::string_view kind) {
  const auto time_of = [&](const Entry& entry) {
    std::int64_t ns = 0;
    for (const OpRef& ref : entry.change.evidence)
      ns += work.graph.ranks[ref.rank].ops[ref.op].duration_ns;
    return ns;
  };
  std::vector<std::pair<std::int64_t, std::size_t>> order;
  for (std::size_t i = 0; i < entries_.size(); ++i)
    order.emplace_back(-time_of(entries_[i]), i);
  std::ranges::stable_sort(order);
  std::vector<Change> changes;
  for (const auto& [ns, index] : order) {
    Change change = std::move(entries_[index].change);
    change.kind = kind;
    change.id = fmt::format("{}-{}", kind, changes.size() + 1);
    change.title += fmt::format(" ({})", times_per_step(entries_[index].places, work));
    changes.push_back(std::move(change));
  }
  entries_.clear();
  return changes;
}

}  // namespace swinscope
