#include <algorithm>
#include <charconv>

#include "advisor/candidates/candidates.h"

namespace swinscope {
namespace {

// Of PyTorch's: "void at::native::(anonymous
// namespace)::multi_tensor_apply_kernel<…FusedOptimizerTensorListMetadata…>".
bool is_fused(const WorkItem& item) {
  return item.full_name.find("FusedAdam") != std::string_view::npos ||
         item.full_name.find("FusedOptimizer") != std::string_view::npos;
}

// Of the first input of one of PyTorch's operators, "[[768,3072],[768,3072]]"; 0: not recorded, or a list of tensors.
double elements_of(std::string_view dims) {
  if (!dims.starts_with("[[") || dims.starts_with("[[[")) return 0;
  double elements = 1;
  std::string_view first = dims.substr(2, dims.find(']') - 2);
  while (!first.empty()) {
    std::int64_t size = 0;
    const auto [end, error] = std::from_chars(first.data(), first.data() + first.size(), size);
    if (error != std::errc() || size < 0) return 0;
    elements *= static_cast<double>(size);
    first.remove_prefix(static_cast<std::size_t>(end - first.data()));
    if (first.starts_with(',')) first.remove_prefix(1);
  }
  return elements;
}

// Parameters that the chain updates, where its operators tell: each has one division that is added to it. 0: not known.
double parameters_of(const std::vector<const WorkItem*>& chain) {
  double parameters = 0;
  for (const WorkItem* item : chain)
    if (item->operation != nullptr && item->operation->path.ends_with("aten::addcdiv_"))
      parameters += elements_of(item->operation->dims);
  return parameters;
}

// AdamW in 32 bits: parameter, gradient and two moments are read, all but the gradient written.
void set_time(const Work& work, const std::vector<const WorkItem*>& chain, Scaled& place) {
  constexpr double kBytes = 7 * 4;
  const double parameters = parameters_of(chain);
  if (parameters > 0 && work.copy_rate() > 0) {
    const double ns = work.bytes_ns(kBytes * parameters);
    place.times = NewTimes{{2 * ns, 1.25 * ns, ns}, {2 * ns, 1.25 * ns, ns}};  // its state keeps its width
    return;
  }
  std::int64_t total_ns = 0;
  for (const WorkItem* item : chain)
    total_ns += item->duration_ns;
  const double total =
      static_cast<double>(total_ns) / static_cast<double>(std::max<std::int64_t>(1, chain.front()->duration_ns));
  place.factor = {total / 2, total / 3, total / 4};
}

// What else a fused optimizer's step launches: its counters, and what it does to the gradients before.
void add_rest(const std::vector<const WorkItem*>& chain, const WorkItem& kept, Grouped& found) {
  Change& change = found.of("rest", [] {
    Change made;
    made.title = "Let the fused optimizer do what other kernels of its step do";
    made.why = "the optimizer is fused, and launches more kernels beside: for counters, scales or clipping";
    made.assumptions = {"of their time 15 % (0 to 50 %) stays, in the fused kernel"};
    return made;
  });
  add_place(chain, kept, change).share = kOfFused;
}

}  // namespace

std::vector<Change> find_optimizers(const Work& work) {
  constexpr std::size_t kFew = 4;  // that is a fused optimizer already
  Grouped found;
  for (const WorkStream& stream : work.streams()) {
    const std::vector<WorkItem>& items = stream.items;
    const auto is_part = [](const WorkItem& item) {
      return item.kind == OperationKind::kOptimizer ||
             (item.operation != nullptr && item.operation->phase == "optimizer" && is_pointwise(item.kind));
    };
    for (std::size_t begin = 0; begin < items.size();) {
      if (!is_part(items[begin])) {
        ++begin;
        continue;
      }
      std::vector<const WorkItem*> chain;
      while (begin < items.size() && is_part(items[begin]))
        chain.push_back(&items[begin++]);
      if (const auto fused = std::ranges::find_if(chain, [](const WorkItem* item) { return is_fused(*item); });
          fused != chain.end()) {
        const WorkItem& kept = **fused;
        std::erase_if(chain, [&](const WorkItem* item) { return item != &kept && is_fused(*item); });
        if (chain.size() > kFew + 1) add_rest(chain, kept, found);
        continue;
      }
      if (chain.size() <= kFew) continue;
      Change& change = found.of("optimizer", [] {
        Change made;
        made.title = "One fused kernel for the optimizer's step";
        made.why =
            "an optimizer that works through its parameters one operation after the other reads and writes each "
            "of them for every operation";
        made.assumptions = {
            "AdamW operation by operation moves each parameter's state 21 times, fused 7 times: at 80 % (50 to 100 %) "
            "of "
            "the rate of copies where the sizes are known, else a third of the time (a quarter to a half)"};
        return made;
      });
      set_time(work, chain, add_place(chain, *chain.front(), change));
    }
  }
  return found.take(work, "optimizer");
}

}  // namespace swinscope
