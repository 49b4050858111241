// What of the wait and transfer of each matched collective no kernel of its device hides: the exposed wait and transfer
// of time_breakdown.h, told apart by collective. They sum, over the collectives of a device, to that device's
// exposed_wait_ns and, but for copies between GPUs, exposed_wire_ns: where two collectives wait (transfer) at once the
// time is that of the one that began first, and where one waits while another transfers it is wait.
#pragma once

#include <cstdint>
#include <vector>

#include "analyzer/analyses/collective_waits.h"
#include "analyzer/facts/collectives.h"
#include "analyzer/facts/scope.h"
#include "analyzer/trace/trace.h"

namespace swinscope {

struct CollectiveExposure {
  std::int64_t wait_ns = 0;
  std::int64_t transfer_ns = 0;
};

// By collective, by member.
std::vector<std::vector<CollectiveExposure>> collective_exposure(const Trace& trace, const RunScope& scope,
                                                                 const std::vector<Collective>& collectives,
                                                                 const CollectiveWaits& waits);

}  // namespace swinscope
