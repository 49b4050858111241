// The layers of a PyTorch trace: which operators ran in which module, told by how their ranges nest on a thread.
//
//   layer      an operator (domain torch.cpu_op) with no other one around it, up to the module that it runs in; and
//   each
//              module (`nn.Module: X_0` of the profiler with stacks)
//   path       the modules around it, outer ones first, and its name, with '.' between them
//   forward    has a number in autograd's sequence, or a module around it
//   backward   evaluates a node of the autograd graph. It is named as the operator that made the node: the last one of
//              the forward pass with its number. Several nodes may come from one operator.
//   optimizer  within PyTorch's own annotation Optimizer.*
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/trace/torch_costs.h"
#include "analyzer/trace/trace.h"

namespace swinscope {

enum class TorchPhase : std::uint8_t { kNone, kForward, kBackward, kOptimizer };
// "" for none.
std::string_view phase_name(TorchPhase phase);

struct TorchLayers {
  static constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();
  struct Call {
    EventIndex range = kNoEvent;
    std::uint64_t global_tid = 0;
    std::uint32_t path = 0;       // into `paths`
    std::uint32_t outer = kNone;  // the call around it, into `calls`
    TorchPhase phase = TorchPhase::kNone;
    bool is_module = false;
    OperationKind operation = OperationKind::kUnknown;
    std::string_view precision = {};  // of the first operator within it whose inputs' types were recorded
  };
  // A matrix product or convolution within a call, or the call itself.
  struct Product {
    EventIndex range = kNoEvent;
    std::uint64_t global_tid = 0;
    std::uint32_t call = kNone;
    const OperationPayload* what = nullptr;
  };
  std::vector<std::string> paths;
  std::vector<Call> calls;        // by thread, then by start; outer ones first
  std::vector<Product> products;  // in the same order
};

// No calls where the rank has no operators. O(n) in its ranges where each thread's are in order. `costs` owns what the
// products are.
TorchLayers torch_layers(const Trace& trace, const Rank& rank, TorchCosts& costs);

}  // namespace swinscope
