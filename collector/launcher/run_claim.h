// Taking a run folder: any number of recorders, of one host or several, may record into one.
//
// Each recorder adds a file of its own (run_piece.h), complete from the first moment and without replacing another: the
// file is written beside and linked to its name, which fails where the name is taken. A recorder that finds others in
// the folder is one of them, and records beside them, when one of these holds:
//   - one of them is alive, or was after this process began (same host);
//   - it has a rank of the same job: the launcher's name for the job and the world size are the same; where the name is
//     not unique, or there is none, both also began within ten minutes of each other. A job in which this rank has
//     ended before is an earlier one, unless the launcher has restarted the rank since.
// Else what is there is a run that has ended: it is refused, or replaced with `force`. So `force` never touches a
// recording that is going on.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <vector>

#include "collector/launcher/recorder_id.h"
#include "collector/launcher/run_piece.h"

namespace swinscope {

// Whether a recorder that began at `start_utc_ns` at `place` records beside the ones in the folder. `alive`: whether a
// piece's recorder is at work.
bool joins(const std::vector<RunPiece>& pieces, const RecorderId& recorder, const JobPlace& place,
           std::int64_t start_utc_ns, const std::function<bool(const RunPiece&)>& alive);

// Throws Error (kUsage) while anybody records into the folder: for those that would replace what is in it.
void refuse_while_recorded(const std::filesystem::path& folder);

class RunClaim {
 public:
  // Makes the folder where it is missing and adds this recorder, whose file gets `text`. Throws Error: kUsage when a
  // run that has ended is in the folder, kFailure when nothing can be written there.
  RunClaim(std::filesystem::path folder, const RecorderId& recorder, const JobPlace& place, const std::string& text,
           bool force);

  // This recorder's file.
  const std::filesystem::path& file() const { return file_; }
  // The recorders that were in the folder before; empty for the first one.
  const std::vector<RunPiece>& others() const { return others_; }
  // Whether another recorder is at work there now.
  bool has_living_others() const;
  // Tells hosts that cannot see this process that it is at work; now and then is often enough (kBeatNs).
  void beat(std::int64_t now_ns);
  // Nothing ran: removes the file and a folder that was made for it and is empty.
  void withdraw();

 private:
  void take(const RecorderId& recorder, const JobPlace& place, const std::string& text, bool force);

  std::filesystem::path folder_;
  std::filesystem::path file_;
  std::vector<RunPiece> others_;
  std::int64_t next_beat_ns_ = 0;
  bool is_new_folder_ = false;
};

}  // namespace swinscope
