// The timeline in a SQLite file: a finished recording of ours, or an entry of the cache. What is read may have been
// written by anyone: nothing of it is believed without a check.
#pragma once

#include <atomic>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

#include "analyzer/timeline/timeline.h"
#include "store/database.h"

namespace swinscope {

// Of the SWINSCOPE_TIMELINE_* tables. Another version is as good as none.
inline constexpr int kTimelineVersion = 3;  // since the numbers in names of ranges are kept apart

// Replaces the timeline of the file, in one transaction. The tables must exist. Throws Error.
void write_timeline(Database& db, const Timeline& timeline, std::string_view source,
                    const std::atomic<bool>* cancel = nullptr);

// What the timeline of a file of ours is made from: how many rows the event tables hold.
std::string event_tables(Database& db);

// Reads a stored timeline.
class TimelineFile {
 public:
  // Throws Error when the file cannot be opened. `cancel` may be null.
  TimelineFile(std::filesystem::path path, const std::atomic<bool>* cancel);

  // Whether it holds a timeline of this version made from `source`; other sources are tried in vain.
  bool holds(std::string_view source);
  std::string event_tables() { return swinscope::event_tables(db_); }

  // Both throw Error(kInput) when the timeline is damaged, Error(kInterrupted) when cancelled. preview() comes first.
  Timeline preview();
  // `on_progress` is called with the part that is read, from 0 to 1, on any thread, one call at a time.
  Timeline complete(int threads, const std::function<void(double)>& on_progress);

 private:
  struct StoredLane {
    TimelineLane head;  // key and label, no events
    std::uint64_t events = 0;
    std::int64_t first_chunk = 0;
    std::int64_t chunks = 0;
  };

  void read_names();
  void read_processes();
  std::vector<TimelineLane> read_lanes();
  TimelineLane read_events(Database& db, const StoredLane& stored) const;
  std::vector<std::size_t> largest_first() const;
  [[noreturn]] void damaged(const char* what) const;

  std::filesystem::path path_;
  const std::atomic<bool>* cancel_;
  Database db_;
  std::uintmax_t file_size_ = 0;
  Timeline shell_;  // all but the lanes
  std::vector<StoredLane> lanes_;
};

}  // namespace swinscope
