// How the CPU ranks of one launch find each other: through small files in a folder that all of them see. It needs no
// network service, and works before any connection exists.
//
//   <folder>/current            rank 0's invitation while ranks join: names the session
//   <folder>/<session>/rank3    a rank's card
//
// What a dead run left behind is never taken for a live one: the process that wrote the invitation must run or, on
// another machine, its counter must move.
#pragma once

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include "workloads/rank_card.h"
#include "workloads/rank_info.h"

namespace swinscope {

struct RendezvousOptions {
  std::filesystem::path folder;
  // The folder is this launch's own and is removed at the end.
  bool temporary = false;
  // How long to wait for all ranks to come.
  std::chrono::milliseconds patience = std::chrono::seconds(25);
  // As WatchOptions::standstill.
  std::chrono::milliseconds standstill = std::chrono::minutes(5);
};

// Where the ranks of one machine meet when no folder is given: one for this launch, below the system's temporary
// folder.
RendezvousOptions default_rendezvous(const Environment& environment = process_environment);

struct RankMeeting {
  RankInfo info;
  RendezvousOptions options;
  std::filesystem::path folder;  // of the session
  std::vector<RankCard> cards;   // by rank

  const RankCard& own() const { return cards[static_cast<std::size_t>(info.rank)]; }
  std::filesystem::path rank_file(int rank, const std::string& suffix = {}) const;
  bool one_machine() const;
  // How many ranks of this machine may use exactly the CPUs that this rank may use: they have to share them.
  int ranks_sharing_cpus() const;
};

// Removes what ranks of this machine that no longer run have left in a folder of meetings.
void remove_abandoned_sessions(const std::filesystem::path& folder);

// Waits for all ranks. Throws WorkloadError: kFailure naming the ranks that did not come or have died; kUsage naming
// the ranks that disagree with rank 0 and in what, or the rank that two processes claim to be.
RankMeeting meet_ranks(const RankInfo& info, const RankConfiguration& configuration, const RendezvousOptions& options);

}  // namespace swinscope
