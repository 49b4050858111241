// Opens the timeline of whatever a user names as RUN, without building the trace view where that can be avoided: a
// finished recording carries its timeline; of everything else a copy is kept in the user's cache.
#pragma once

#include <atomic>
#include <filesystem>
#include <functional>
#include <memory>
#include <string_view>

#include "analyzer/timeline/timeline.h"

namespace swinscope {

// Where timelines of foreign files are kept: $XDG_CACHE_HOME/swinscope or ~/.cache/swinscope; empty when there is
// neither.
std::filesystem::path timeline_cache_folder();

// Steers one load, which may run on any thread. The functions are called by the threads that load, one at a time, and
// must return soon; either may be left empty.
struct LoadControl {
  // Set by anyone at any time: the load ends with Error(kInterrupted) within a tenth of a second.
  std::atomic<bool> cancel = false;
  // `fraction` goes from 0 to 1 and never back; `phase` says what is being done ("reading rank0.db").
  std::function<void(double fraction, std::string_view phase)> on_progress;
  // A coarse timeline to draw meanwhile (Timeline::preview), once, when every file has one at hand.
  std::function<void(std::shared_ptr<const Timeline>)> on_preview;
  std::filesystem::path cache_folder = timeline_cache_folder();  // empty: no cache is read or written
  bool rebuild = false;                                          // read the events themselves, whatever is stored
  int threads = 2;
};

// Throws Error as open_trace() does, and Error(kInterrupted) when cancelled. A stored timeline that is damaged or does
// not belong to the file's content is as good as none.
std::shared_ptr<const Timeline> open_timeline(const std::filesystem::path& path, LoadControl& control);

// Stores the timeline of a finished recording in its file. Nothing is done for a file that holds it already, that has
// no events, or that is still being written (a log lies beside it). Throws Error.
void store_timeline(const std::filesystem::path& trace_file, const std::atomic<bool>* cancel = nullptr);

}  // namespace swinscope
