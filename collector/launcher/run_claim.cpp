#include "collector/launcher/run_claim.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <map>

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "collector/base/clock.h"
#include "collector/base/process_stat.h"
#include "collector/launcher/run_folder.h"
#include "store/error.h"
#include "store/private_file.h"

namespace swinscope {
namespace fs = std::filesystem;
namespace {

// Ranks of one job begin together.
constexpr std::int64_t kTogetherNs = 600'000'000'000;

// While it lives, no other recorder decides about the folder. The kernel releases it with the process. Some network
// file systems have no such locks, and a stopped process may hold one: then the decision is taken without.
class FolderLock {
 public:
  explicit FolderLock(const fs::path& folder) : file_(open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
    constexpr int kTries = 500;
    constexpr int kWaitMs = 10;
    for (int i = 0; file_ >= 0 && i < kTries; ++i) {
      if (flock(file_, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) return;
      poll(nullptr, 0, kWaitMs);
    }
  }
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;
  FolderLock(FolderLock&&) = delete;
  FolderLock& operator=(FolderLock&&) = delete;
  ~FolderLock() {
    if (file_ >= 0) close(file_);
  }

 private:
  int file_;
};

using FileIdentity = std::pair<dev_t, ino_t>;

FileIdentity identity_of(const fs::path& file) {
  struct stat info = {};
  return lstat(file.c_str(), &info) == 0 ? FileIdentity{info.st_dev, info.st_ino} : FileIdentity{};
}

// Only the very files that were looked at: without a lock another recorder may have put its own in their place.
void remove_run(const std::map<fs::path, FileIdentity>& files) {
  for (const auto& [file, identity] : files) {
    if (identity_of(file) != identity || unlink(file.c_str()) == 0 || errno == ENOENT) continue;
    throw Error(ErrorKind::kFailure, fmt::format("{}: cannot be removed", file.string()), std::strerror(errno),
                "give another folder with -o");
  }
}

// Names `from` also `to`, unless there is such a file: false then.
bool link_new(const fs::path& from, const fs::path& to) {
  if (link(from.c_str(), to.c_str()) == 0) return true;
  if (errno == EEXIST) return false;
  // File systems without hard links: whoever creates the name has it.
  const int file = create_private_file(to);
  if (file < 0 && errno == EEXIST) return false;
  if (file >= 0) close(file);
  if (file >= 0 && rename(from.c_str(), to.c_str()) == 0) return true;
  throw Error(ErrorKind::kFailure, fmt::format("{}: cannot be written", to.string()), std::strerror(errno),
              "check the free space and the permissions of the folder");
}

// The first of run.json, run.<host>.<pid>.0.json, ... that is free.
fs::path add_piece(const fs::path& folder, const RecorderId& recorder, const std::string& text) {
  constexpr int kMost = 100'000;
  const fs::path written = write_beside(folder / "run.json", text);
  fs::path taken;
  try {
    for (int n = -1; n < kMost && taken.empty(); ++n) {
      const fs::path name =
          folder / (n < 0 ? "run.json" : fmt::format("run.{}.{}.{}.json", recorder.host, recorder.pid, n));
      if (link_new(written, name)) taken = name;
    }
  } catch (...) {
    unlink(written.c_str());
    throw;
  }
  unlink(written.c_str());
  if (taken.empty()) throw Error(ErrorKind::kFailure, fmt::format("{}: no name is left", folder.string()));
  return taken;
}

bool is_same_job(const RunPiece& piece, const JobPlace& place, std::int64_t start_utc_ns) {
  if (!place.rank || !piece.place.rank) return false;
  if (place.world_size != piece.place.world_size || place.job != piece.place.job) return false;
  if (!place.job.empty() && place.is_unique && piece.place.is_unique) return true;
  return place.world_size > 1 && std::abs(piece.start_utc_ns - start_utc_ns) < kTogetherNs;
}

// The latest that it can be: the kernel cuts it to its tick. A run that ended in the same one is an earlier run.
std::int64_t process_start_utc_ns(const RecorderId& recorder) {
  return monotonic_start_ns(static_cast<std::uint64_t>(recorder.start_ticks) + 1) + measure_utc_offset_ns();
}

}  // namespace

bool joins(const std::vector<RunPiece>& pieces, const RecorderId& recorder, const JobPlace& place,
           std::int64_t start_utc_ns, const std::function<bool(const RunPiece&)>& alive) {
  bool is_rank_of_it = false;
  bool is_earlier_job = false;
  for (const RunPiece& piece : pieces) {
    if (!piece.is_recording) continue;
    if (alive(piece)) return true;
    // Clocks of different hosts do not tell who was first.
    if (piece.end_utc_ns && piece.recorder.host == recorder.host && *piece.end_utc_ns >= start_utc_ns) return true;
    if (!is_same_job(piece, place, start_utc_ns)) continue;
    is_rank_of_it = true;
    if (piece.place.rank == place.rank && piece.place.restarts >= place.restarts) is_earlier_job = true;
  }
  return is_rank_of_it && !is_earlier_job;
}

void refuse_while_recorded(const fs::path& folder) {
  const std::vector<RunPiece> pieces = read_run_pieces(folder);
  if (pieces.empty()) return;
  const std::int64_t now_there_ns = file_system_now_ns(folder);
  for (const RunPiece& piece : pieces) {
    if (!piece.is_alive(now_there_ns)) continue;
    throw Error(ErrorKind::kUsage, fmt::format("{}: a recording is going on there", folder.string()),
                fmt::format("process {} on {} records into it", piece.recorder.pid, piece.recorder.host),
                "wait until it has ended, or give another folder with -o");
  }
}

RunClaim::RunClaim(fs::path folder, const RecorderId& recorder, const JobPlace& place, const std::string& text,
                   bool force)
    : folder_(std::move(folder)), is_new_folder_(make_private_folder(folder_)) {
  try {
    take(recorder, place, text, force);
  } catch (...) {
    if (is_new_folder_) rmdir(folder_.c_str());
    throw;
  }
}

void RunClaim::take(const RecorderId& recorder, const JobPlace& place, const std::string& text, bool force) {
  const FolderLock lock(folder_);
  std::map<fs::path, FileIdentity> old;
  for (const fs::path& file : files_of_run(folder_))
    old.emplace(file, identity_of(file));
  std::vector<RunPiece> pieces = read_run_pieces(folder_);
  const std::int64_t now_there_ns = pieces.empty() ? 0 : file_system_now_ns(folder_);
  const auto alive = [&](const RunPiece& piece) { return piece.is_alive(now_there_ns); };
  if (joins(pieces, recorder, place, process_start_utc_ns(recorder), alive)) {
    others_ = std::move(pieces);
  } else if (!force && !old.empty()) {
    throw Error(ErrorKind::kUsage, fmt::format("{}: the folder already holds a run", folder_.string()),
                fmt::format("it has {}", old.begin()->first.filename().string()),
                "give another folder with -o, or --force to replace the run");
  } else {
    remove_run(old);
  }
  file_ = add_piece(folder_, recorder, text);
}

bool RunClaim::has_living_others() const {
  const std::vector<RunPiece> pieces = read_run_pieces(folder_);
  if (pieces.size() < 2) return false;
  const std::int64_t now_there_ns = file_system_now_ns(folder_);
  return std::any_of(pieces.begin(), pieces.end(), [&](const RunPiece& piece) {
    return piece.file.filename() != file_.filename() && piece.is_alive(now_there_ns);
  });
}

void RunClaim::beat(std::int64_t now_ns) {
  if (now_ns < next_beat_ns_) return;
  next_beat_ns_ = now_ns + kBeatNs;
  utimensat(AT_FDCWD, file_.c_str(), nullptr, AT_SYMLINK_NOFOLLOW);
}

void RunClaim::withdraw() {
  unlink(file_.c_str());
  if (is_new_folder_) rmdir(folder_.c_str());
}

}  // namespace swinscope
