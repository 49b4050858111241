// The kinds of changes that the advisor knows, a file each, named like the optimizations of our own workloads that they
// predict. Each looks at the work of the measured steps and returns what it finds, one change for each place that has
// the same sequence of kernels; how much a change saves is found by replaying it.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "advisor/change.h"
#include "advisor/work.h"

namespace swinscope {

// Elementwise, normalization and layout kernels that follow each other on a stream: one kernel that reads and writes
// what lies outside. Its time: the longest of them, and a share of the others.
std::vector<Change> find_fusions(const Work& work);
// What follows a matrix product or convolution and works on its result element by element: part of the product's
// kernel.
std::vector<Change> find_epilogues(const Work& work);
// Product, softmax, product with what lies between: one kernel that keeps the scores on the chip.
std::vector<Change> find_attention(const Work& work);
// The same and the product that computes queries, keys and values: one kernel, in inference.
std::vector<Change> find_projections(const Work& work);
// Two products with elementwise work between, of short rows, in inference: one kernel.
std::vector<Change> find_mlps(const Work& work);
// Normalization of short rows behind or before a product, in inference: part of that product's kernel.
std::vector<Change> find_normalizations(const Work& work);
// Copies that only change the order of elements, between kernels that could address them.
std::vector<Change> find_layouts(const Work& work);
// Kernels that only move data, whose bytes are known, far below the rate of copies.
std::vector<Change> find_slow_kernels(const Work& work);
// Backward passes of interpolation that add by atomics: a gather at the rate of copies.
std::vector<Change> find_resampling(const Work& work);
// Many kernels of an optimizer: one for all parameters that reads and writes each once.
std::vector<Change> find_optimizers(const Work& work);
// Products (and, with 16 bits, what lies between) in fewer bits, by the GPU's measured rates.
std::vector<Change> find_precisions(const Work& work);
// The host's waits for the next batch.
std::vector<Change> find_input_waits(const Work& work);
// The host's waits for the GPU behind which it launches more.
std::vector<Change> find_waits(const Work& work);
// Launches one by one: a CUDA graph.
std::vector<Change> find_graphs(const Work& work);
// Kernels behind each other on a stream: each starts while the one before it ends (compute capability 9 and later).
std::vector<Change> find_overlaps(const Work& work);

struct ChangeKind {
  std::string_view key;    // "fusion"
  std::string_view title;  // "Fusion of elementwise, normalization and layout kernels"
  std::vector<Change> (*find)(const Work& work);
  // Why nothing can be said, where something is wanting that it needs; nullptr or "": nothing is.
  std::string_view (*lacks)(const Work& work) = nullptr;
};
std::span<const ChangeKind> change_kinds();

// Helpers of the kinds.
// Of its time what elementwise work takes as part of another kernel; by Estimate.
inline constexpr std::array<double, 3> kOfFused = {0.5, 0.15, 0};
bool can_overlap_kernels(const RunInfo& run);  // all of its GPUs, which are known, start one while another one ends
bool is_training(const Work& work);            // it has a backward pass, or an optimizer's step
bool is_product(const WorkItem& item);         // a matrix product, or the first kernel of one
// Of one that is no batch of products; nothing where its shape is not known.
std::optional<ProductShape> single_product(const WorkItem& item);
bool is_pointwise(OperationKind kind);  // reads and writes each element once: elementwise, layout, norm, softmax
// The kernels that sum the parts of the product at `product`, and where what follows them begins.
std::size_t end_of_product(const std::vector<WorkItem>& items, std::size_t product);
bool is_of_library(const WorkItem& item);  // a product or a convolution
// A place of a change: `kept`, one of the chain, does the work of all; sums of a product's parts need not be there.
Scaled& add_place(const std::vector<const WorkItem*>& chain, const WorkItem& kept, Change& change);
// As add_place(), but of the chain only `needed` has to be there when it is made: earlier changes may have taken the
// rest.
Scaled& take_over(const std::vector<const WorkItem*>& chain, const WorkItem& kept,
                  const std::vector<const WorkItem*>& needed, Change& change);
// "2 x MulFunctor + gelu": names of a sequence, repetitions once.
std::string names_of(const std::vector<const WorkItem*>& items);
// Of the steps of all ranks: "12 times a step".
std::string times_per_step(std::size_t places, const Work& work);

// Places with the same sequence of kernels become one change; `add` puts a place into it.
class Grouped {
 public:
  // The change of that sequence; made by `make` when it is the first place.
  template <typename Make>
  Change& of(const std::string& sequence, const Make& make) {
    for (Entry& entry : entries_)
      if (entry.sequence == sequence) return ++entry.places, entry.change;
    entries_.push_back({sequence, 1, make()});
    return entries_.back().change;
  }
  // By the time of the work that they are about, longest first; ids are "kind-1", … Titles get the count.
  std::vector<Change> take(const Work& work, std::string_view kind);

 private:
  struct Entry {
    std::string sequence;
    std::size_t places;
    Change change;
  };
  std::vector<Entry> entries_;
};

}  // namespace swinscope
