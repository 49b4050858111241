// Which of the trace files in a run folder are for this recorder to finish, when several record into it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <set>
#include <string>

#include "collector/launcher/run_claim.h"

namespace swinscope {

class FileOwner {
 public:
  // `pids`: the processes that this recorder has seen below itself.
  FileOwner(const std::filesystem::path& folder, const RunClaim& claim, std::string mark, std::set<std::int64_t> pids);

  // Files that processes of this recorder wrote, and those that nobody else will finish: of recorders that were killed.
  bool owns(const std::filesystem::path& trace) const;
  // Nobody else is at work in the folder.
  bool is_alone() const { return !has_living_others_; }

 private:
  std::string mark_;
  std::set<std::int64_t> pids_;
  std::set<std::string> finished_by_others_;  // file names
  std::set<std::string> living_marks_;
  bool is_only_one_ = true;
  bool has_living_others_ = false;
};

}  // namespace swinscope
