// The last thing that a recording does.
#pragma once

#include <atomic>
#include <filesystem>
#include <vector>

namespace swinscope::cli {

// Stores in each of these trace files, which nobody writes any more, the timeline that the viewer opens it with, and
// the summary by which its rank is compared with others. A file for which that fails is as good as before, and is said
// on stderr unless quiet; nothing is thrown. Stops soon after `cancel` (may be null) is true.
void store_timelines(const std::vector<std::filesystem::path>& files, bool quiet, const std::atomic<bool>* cancel);
// In all trace files of a run that is finished.
void store_timelines(const std::filesystem::path& run, bool quiet, const std::atomic<bool>* cancel);

}  // namespace swinscope::cli
