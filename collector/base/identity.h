// Who a recorded process is, and the name of its trace file.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "store/records.h"

namespace swinscope {

struct RankIdentity {
  std::int32_t rank = 0;        // 0 when nobody says
  std::int32_t world_size = 0;  // 0: unknown
  bool is_given = false;        // somebody says
};

// Looks a variable up; null when it is not set.
using Lookup = const char* (*)(const char* name, const void* context);

// From the variables of torchrun, Open MPI, PMIx and SLURM, in this order; values that are no numbers do not count.
RankIdentity rank_from(Lookup lookup, const void* context = nullptr);
RankIdentity rank_from_environment();
// From "NAME=value" strings.
RankIdentity rank_from(const std::vector<std::string>& environment);

std::string host_name();

// Creates, empty, the first of these files that does not exist (O_EXCL, so that no two processes get the same):
// rank<N>.db, then rank<N>.<host>.<pid>.<n>.db with n = 0, 1, …; for kNoRank record.db and record.<host>.<pid>.<n>.db.
// Throws Error when the folder cannot be written.
std::filesystem::path claim_trace_file(const std::filesystem::path& folder, std::int32_t rank, const std::string& host,
                                       std::uint32_t pid);

}  // namespace swinscope
