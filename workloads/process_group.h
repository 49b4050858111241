// Ranks in several processes: they meet in a folder, connect (by Gloo between processors, see device_ranks.h for GPUs),
// and watch each other.
#pragma once

#include <functional>
#include <memory>

#include "workloads/communicator.h"
#include "workloads/rank_transport.h"
#include "workloads/rendezvous.h"

namespace swinscope {

class ProcessGroup : public Communicator {
 public:
  // Where this rank's share of the machine is known: see RankMeeting.
  virtual const RankMeeting& meeting() const = 0;
  // Tells the other ranks why this one ends, so that they name the cause. Called once the program knows it will fail.
  virtual void report_failure(const char* reason) noexcept = 0;
};

// Returns when all ranks are connected. Throws WorkloadError as meet_ranks() does, and kFailure when the Gloo module
// cannot be opened or a connection fails. Destroying the group without an exception in flight is leaving in order. The
// process ignores SIGPIPE from here on.
//
// A rank that is busy when another one dies is ended (exit status 1, with the message on stderr) if it does not come to
// a collective operation within 10 s.
std::unique_ptr<ProcessGroup> connect_ranks(const RankInfo& info, const RankConfiguration& configuration,
                                            const RendezvousOptions& options);

// The same for another kind of connection, which `open` makes once the ranks have met. `broken`, which may be called,
// tells whether a rank has failed meanwhile.
using OpenTransport =
    std::function<std::unique_ptr<RankTransport>(const RankMeeting& meeting, const std::function<bool()>& broken)>;
std::unique_ptr<ProcessGroup> connect_ranks(const RankInfo& info, const RankConfiguration& configuration,
                                            const RendezvousOptions& options, const OpenTransport& open);

}  // namespace swinscope
