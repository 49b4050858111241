// The file by which a recorder takes part in a run: run.json of the first one in the folder, run.<host>.<pid>.<n>.json
// of each further one. Schema swinscope.run/1. All of them together describe the run.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "collector/launcher/recorder_id.h"

namespace swinscope {

struct RunPiece {
  std::filesystem::path file;
  bool is_recording = false;  // it says who records; not so for imports, foreign or damaged files
  RecorderId recorder;
  JobPlace place;
  std::string window;  // when CUDA is recorded: window_text()
  std::int64_t start_utc_ns = 0;
  std::optional<std::int64_t> end_utc_ns;  // none while it goes on, and when the recorder was killed
  std::vector<std::string> trace_files;    // names, of the ranks; known once it has ended

  // Whether its recorder is at work: by its process where this host can see it; elsewhere by the time of the file,
  // which a recorder at work touches (kBeatNs). `now_there_ns` is the time now on the clock of that file system (UTC).
  bool is_alive(std::int64_t now_there_ns) const;
};

// How often a recorder touches its file, and how long it counts as alive without that.
inline constexpr std::int64_t kBeatNs = 10'000'000'000;
inline constexpr std::int64_t kLeaseNs = 60'000'000'000;

bool is_piece_name(std::string_view file_name);

// Of the folder, by name. What cannot be read is there with is_recording == false.
std::vector<RunPiece> read_run_pieces(const std::filesystem::path& folder);
RunPiece read_run_piece(const std::filesystem::path& file);

// The time that the file system of the folder would give to a file that is written now (UTC); that of this host where
// nothing can be written there.
std::int64_t file_system_now_ns(const std::filesystem::path& folder);

}  // namespace swinscope
