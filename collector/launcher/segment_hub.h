// `record`'s side of the segments: a folder in memory where the processes of the command make them, and threads that
// read them into the trace files, while the processes run and when they have ended.
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include <sys/types.h>

#include "collector/launcher/segment_reader.h"
#include "store/records.h"

namespace swinscope {

struct HubOptions {
  std::filesystem::path folder;  // of the run
  std::string mark;              // of this recorder, which its files carry (collector/launcher/file_owner.h)
  std::int64_t utc_offset_ns = 0;
  double sample_hz = 10;
  std::int64_t max_bytes = 0;
  bool rotates = false;
};

class SegmentHub {
 public:
  // Makes the folder, and clears away those of recorders that were killed. `is_active()` is false where there is none:
  // processes then write by themselves. Threads are started by start(). `report` is called by finish() only.
  explicit SegmentHub(HubOptions options);
  SegmentHub(const SegmentHub&) = delete;
  SegmentHub& operator=(const SegmentHub&) = delete;
  SegmentHub(SegmentHub&&) = delete;
  SegmentHub& operator=(SegmentHub&&) = delete;
  ~SegmentHub();

  bool is_active() const { return !rings_.empty(); }
  // For the processes, as SWINSCOPE_RINGS.
  const std::filesystem::path& rings() const { return rings_; }
  // After the command has been started: raises this process's limit of descriptors.
  void start();

  // A process has ended and nobody has waited for it yet.
  void process_ends(pid_t pid);
  // No process is left but those in `alive`, which are recorded no further and taken out of it. Completes all files and
  // says what could not be recorded; returns how many processes that are.
  std::size_t finish(std::set<std::int64_t>& alive, const std::function<void(const std::string&)>& report);

 private:
  void run();
  void find_segments();
  void open_segment(const std::filesystem::path& path);
  void look_at_processes();
  void look_for_room() const;
  void provide_spares() const;
  SegmentWorker& least_busy();
  std::vector<std::string> read_notes() const;

  HubOptions options_;
  std::filesystem::path base_;
  std::filesystem::path rings_;
  std::filesystem::path notes_;
  std::vector<NamedValue> environment_;
  std::atomic<bool> stop_ = false;
  std::thread thread_;  // finds segments, and processes that have ended

  // The thread's; after it has ended, finish()'s.
  std::set<std::string> known_;
  std::vector<std::shared_ptr<SegmentReader>> readers_;
  std::vector<std::unique_ptr<SegmentWorker>> workers_;

  std::mutex mutex_;  // of what main tells
  std::map<pid_t, ProcessEnd> ends_;
};

}  // namespace swinscope
