#include "collector/launcher/file_owner.h"

#include <optional>
#include <utility>

#include "store/database.h"
#include "store/error.h"
#include "store/records.h"

namespace swinscope {
namespace fs = std::filesystem;
namespace {

struct Writer {
  std::string mark;                 // of the recorder above it; empty: not known
  std::optional<std::int64_t> pid;  // none: not known
};

// A log beside a trace is copied to be read: not where that would take long.
constexpr std::uintmax_t kMostCopied = std::uintmax_t{64} << 20U;

Writer writer_of(const fs::path& trace) {
  Writer writer;
  std::error_code none;
  const bool has_log = fs::exists(trace.string() + "-wal", none);
  const std::uintmax_t size = fs::file_size(trace, none);
  if (none || size == 0 || (has_log && size > kMostCopied)) return writer;
  try {
    Database db = Database::open_untrusted(trace);
    if (db.has_table("SWINSCOPE_ENVIRONMENT")) {
      Statement mark = db.prepare("SELECT value FROM SWINSCOPE_ENVIRONMENT WHERE name = 'env.SWINSCOPE_RECORDER'");
      if (mark.step()) writer.mark = mark.text(0);
    }
    if (db.has_table("SWINSCOPE_RUN")) {
      Statement run = db.prepare("SELECT globalPid FROM SWINSCOPE_RUN");
      if (run.step()) writer.pid = pid_of(static_cast<std::uint64_t>(run.integer(0)));
    }
  } catch (const Error&) {
    return {};  // who wrote it is not known
  }
  return writer;
}

}  // namespace

FileOwner::FileOwner(const fs::path& folder, const RunClaim& claim, std::string mark, std::set<std::int64_t> pids)
    : mark_(std::move(mark)), pids_(std::move(pids)) {
  const std::vector<RunPiece> pieces = read_run_pieces(folder);
  const std::int64_t now_there_ns = pieces.size() < 2 ? 0 : file_system_now_ns(folder);
  for (const RunPiece& piece : pieces) {
    if (piece.file.filename() == claim.file().filename()) continue;
    is_only_one_ = false;
    finished_by_others_.insert(piece.trace_files.begin(), piece.trace_files.end());
    if (!piece.is_alive(now_there_ns)) continue;
    has_living_others_ = true;
    living_marks_.insert(piece.recorder.mark());
  }
}

bool FileOwner::owns(const fs::path& trace) const {
  if (is_only_one_) return true;
  if (finished_by_others_.count(trace.filename().string()) != 0) return false;
  if (!has_living_others_) return true;
  const Writer writer = writer_of(trace);
  if (!writer.mark.empty()) return writer.mark == mark_ || living_marks_.count(writer.mark) == 0;
  return writer.pid && pids_.count(*writer.pid) != 0;
}

}  // namespace swinscope
