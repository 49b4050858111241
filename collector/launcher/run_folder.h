// The folder of a run: made before, brought into order after.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "collector/launcher/recorder_id.h"
#include "store/records.h"

namespace swinscope {

class FileOwner;

// Files in the folder that are of a run, by name: what recorders and the processes below them write, and nothing else.
std::vector<std::filesystem::path> files_of_run(const std::filesystem::path& folder);

// The trace file of one process.
struct RunFile {
  std::string name;
  std::int32_t rank = 0;
  std::int32_t world_size = 0;
  std::int64_t pid = 0;
  bool has_events = false;
  bool complete = false;  // the process finished it; otherwise it was killed, or replaced by exec
  std::vector<DropInfo> drops;
  std::vector<NamedValue> collector;  // how its recording went
};

// Finishes the files of the ranks in a folder whose processes have ended, by name. Files that hold nothing (killed
// before the recording began) are removed; what cannot be read or finished, and files of processes in `alive`, are left
// as they are. Each of these is said to `report`, as is a folder without any file, unless that `is_explained`.
// With an owner only its files are looked at (collector/launcher/file_owner.h).
std::vector<RunFile> finish_run_files(const std::filesystem::path& folder, const std::set<std::int64_t>& alive,
                                      const std::function<void(const std::string&)>& report,
                                      const FileOwner* owner = nullptr, bool is_explained = false);

// What was lost or left out, a line for each.
void report_run_files(const std::vector<RunFile>& files, const std::function<void(const std::string&)>& report);

// The sentence for a program, process or rank that runs, or ran, unrecorded.
std::string could_not_be_recorded(const std::string& why);

// A recorder's file (run_piece.h), schema swinscope.run/1.
struct RunDescription {
  std::vector<std::string> command;
  RecorderId recorder;
  JobPlace place;      // of the recorder; that of the ranks below it is in their files
  std::string window;  // when CUDA is recorded: window_text()
  std::int64_t start_utc_ns = 0;
  std::optional<std::int64_t> end_utc_ns;  // none while the run goes on
  std::optional<int> exit_status;
  std::optional<std::int64_t> cpu_ns;  // of all processes
  std::string process_file;            // of the launcher
  std::vector<RunFile> files;
  std::vector<std::string> warnings;
};
std::string run_json(const RunDescription& run);
// Replaces a recorder's file in one step; on a full disk, overwrites it. Throws Error.
void write_run_json(const std::filesystem::path& file, const RunDescription& run);

}  // namespace swinscope
