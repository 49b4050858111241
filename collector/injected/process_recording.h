// The recording of one process: its segment read into its trace file, piece by piece, by whoever calls; `record` for
// the processes of its command, a thread of the library for one that nobody records from outside.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "collector/base/drop_note.h"
#include "collector/base/source.h"
#include "collector/nvtx/nvtx_source.h"
#include "collector/sampling/thread_cpu.h"
#include "collector/segment/segment.h"
#include "store/writer.h"

namespace swinscope {

struct RecordingOptions {
  std::filesystem::path folder;
  std::int64_t utc_offset_ns = 0;
  double sample_hz = 10;
  std::int64_t max_bytes = 0;                  // of the file; 0: no limit
  bool rotates = false;                        // at that size the oldest events go, else the file ends
  std::int64_t flush_period_ns = 200'000'000;  // commits at least this often
  std::size_t backlog_bytes = 0;               // see NvtxSource
  std::uint32_t pid = 0;                       // as this process sees it; 0: this process
  std::string process_name;                    // empty: asked of /proc
  std::vector<NamedValue> environment;         // of the machine; the process's own variables come from its segment
};

// Calls come from one thread at a time.
class ProcessRecording {
 public:
  // Takes the file's name. A folder that takes no file makes it count everything as lost.
  ProcessRecording(const SegmentView& segment, RecordingOptions options);
  ProcessRecording(const ProcessRecording&) = delete;
  ProcessRecording& operator=(const ProcessRecording&) = delete;
  ProcessRecording(ProcessRecording&&) = delete;
  ProcessRecording& operator=(ProcessRecording&&) = delete;
  ~ProcessRecording() = default;

  // Takes some of what has come, and commits when it is time. True when there is more.
  bool work();
  // work(), and commits.
  void flush_now();
  // The process has ended, and has used so much CPU time. Before finish().
  void ended(std::int64_t now_ns, std::int64_t cpu_ns) { thread_cpu_.ended(now_ns, cpu_ns); }
  // Takes what is left and completes the file. `is_over`: the process has ended, nothing more will come.
  void finish(bool is_over);

  // What could not be stored, where no file can tell. After finish().
  std::vector<DropInfo> untold();
  std::uint32_t pid() const { return pid_of(global_pid_); }

 private:
  void claim_file();
  void open_file();
  bool poll();
  void flush();
  void failed(const std::string& reason);
  void check_size();
  void end_file();
  void rotate();
  void discard();
  RunInfo describe();
  void update_run(bool complete);
  // Runs an action that writes; returns whether it succeeded.
  template <typename Action>
  bool attempt(Action action);

  RecordingOptions options_;
  SegmentView segment_;
  std::uint64_t global_pid_;
  NvtxSource nvtx_;
  ThreadCpuSource thread_cpu_;
  std::vector<Source*> sources_;

  std::filesystem::path path_;  // empty: the folder takes no file
  std::unique_ptr<TraceWriter> writer_;
  std::unique_ptr<DropNote> note_;
  bool is_open_ = false;
  bool needs_roll_back_ = false;
  bool is_full_ = false;                // of max_bytes
  std::vector<DropInfo> rotated_out_;   // no more in the file
  std::vector<DropInfo> rotating_out_;  // with the next flush
  bool is_done_ = false;
  std::string failure_;
  RunInfo run_;                  // facts that do not change
  std::optional<RunInfo> said_;  // as last written
  std::int64_t next_flush_ns_ = 0;
  std::int64_t flush_period_ns_;
  std::int64_t cpu_ns_ = 0;  // of the thread that works
};

}  // namespace swinscope
