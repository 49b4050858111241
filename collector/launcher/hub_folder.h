// The folders in memory through which `record` and the processes of its command find each other:
//
//   /dev/shm/swinscope-UID-NAMESPACE-PID-TICKS-XXXXXX   may be passed through, not listed
//     r-KEY   the segments, the user's alone; SWINSCOPE_RINGS
//     n-KEY   notes, which anyone who knows the name may leave: a process that has become another user
#pragma once

#include <filesystem>
#include <optional>

namespace swinscope {

struct HubFolder {
  std::filesystem::path base;
  std::filesystem::path rings;
  std::filesystem::path notes;
};

// Without /dev/shm within `fallback`. Nothing where that is not possible either.
std::optional<HubFolder> make_hub_folder(const std::filesystem::path& fallback);

// Those of this user whose recorders were killed. Programs that still run keep what they have mapped.
void remove_abandoned_hub_folders();

}  // namespace swinscope
