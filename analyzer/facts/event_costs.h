// What kernels cost: FLOPs, bytes and precision of the annotated operation that launched one, and no other. What an
// operation costs that launched several cannot be told apart, so none of these has a cost.
#pragma once

#include <vector>

#include "analyzer/facts/operations.h"

namespace swinscope {

class EventCosts {
 public:
  // Nothing has a cost.
  EventCosts() = default;
  // `operations`, of the rank, must outlive it.
  EventCosts(const Rank& rank, const RankOperations& operations);

  // nullptr: not known.
  const OperationPayload* of(EventIndex gpu_event) const { return costs_.empty() ? nullptr : costs_[gpu_event]; }

 private:
  std::vector<const OperationPayload*> costs_;  // by GPU event
};

}  // namespace swinscope
