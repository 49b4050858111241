#include "collector/launcher/run_piece.h"

#include <algorithm>
#include <memory>

#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

#include "collector/base/clock.h"
#include "collector/base/proc_files.h"
#include "store/error.h"
#include "store/private_file.h"

namespace swinscope {
namespace fs = std::filesystem;
namespace {

// Values of a JSON document by path, as SQLite reads them: it is here anyway.
class JsonValues {
 public:
  explicit JsonValues(const std::string& json) {
    sqlite3* db = nullptr;
    const int opened = sqlite3_open_v2(":memory:", &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, nullptr);
    db_.reset(db);
    if (opened != SQLITE_OK) return;
    query_ = prepare("SELECT json_extract(?1, ?2)", json);
    each_ = prepare("SELECT json_extract(value, ?2) FROM json_each(?1, ?3)", json);
  }

  // Nothing where the document is none, or has no such value or null.
  std::optional<std::string> text(const char* path) {
    if (query_ == nullptr) return std::nullopt;
    sqlite3_bind_text(query_.get(), 2, path, -1, SQLITE_TRANSIENT);
    std::optional<std::string> found;
    if (sqlite3_step(query_.get()) == SQLITE_ROW) found = column(query_.get());
    sqlite3_reset(query_.get());
    return found;
  }
  // The value of each element of an array.
  std::vector<std::string> texts(const char* array, const char* path) {
    std::vector<std::string> found;
    if (each_ == nullptr) return found;
    sqlite3_bind_text(each_.get(), 2, path, -1, SQLITE_TRANSIENT);
    sqlite3_bind_text(each_.get(), 3, array, -1, SQLITE_TRANSIENT);
    while (sqlite3_step(each_.get()) == SQLITE_ROW) {
      if (const auto value = column(each_.get())) found.push_back(*value);
    }
    sqlite3_reset(each_.get());
    return found;
  }
  std::optional<std::int64_t> number(const char* path) {
    const std::optional<std::string> value = text(path);
    return value ? parse_integer(*value) : std::nullopt;
  }

 private:
  struct Close {
    void operator()(sqlite3* db) const { sqlite3_close_v2(db); }
    void operator()(sqlite3_stmt* query) const { sqlite3_finalize(query); }
  };
  using Query = std::unique_ptr<sqlite3_stmt, Close>;

  Query prepare(const char* sql, const std::string& json) {
    sqlite3_stmt* query = nullptr;
    if (sqlite3_prepare_v2(db_.get(), sql, -1, &query, nullptr) != SQLITE_OK) return nullptr;
    sqlite3_bind_text(query, 1, json.data(), static_cast<int>(json.size()), SQLITE_TRANSIENT);
    return Query(query);
  }
  static std::optional<std::string> column(sqlite3_stmt* row) {
    const auto* const value = reinterpret_cast<const char*>(sqlite3_column_text(row, 0));
    return value == nullptr ? std::nullopt : std::optional<std::string>(value);
  }

  std::unique_ptr<sqlite3, Close> db_;
  Query query_;
  Query each_;
};

std::int64_t modified_ns(const struct stat& info) {
  return std::int64_t{info.st_mtim.tv_sec} * 1'000'000'000 + info.st_mtim.tv_nsec;
}

RecorderId recorder_of(JsonValues& json) {
  RecorderId recorder;
  recorder.host = json.text("$.host").value_or("");
  recorder.boot = json.text("$.recorder.boot").value_or("");
  recorder.pid_namespace = static_cast<std::uint64_t>(json.number("$.recorder.pid_namespace").value_or(0));
  recorder.pid = json.number("$.recorder.pid").value_or(0);
  recorder.start_ticks = json.number("$.recorder.start_ticks").value_or(0);
  return recorder;
}

JobPlace place_of(JsonValues& json) {
  JobPlace place;
  if (const auto rank = json.number("$.job.rank")) place.rank = static_cast<std::int32_t>(*rank);
  place.world_size = static_cast<std::int32_t>(json.number("$.job.world_size").value_or(0));
  place.job = json.text("$.job.name").value_or("");
  place.is_unique = json.number("$.job.is_unique").value_or(0) != 0;
  place.restarts = static_cast<std::int32_t>(json.number("$.job.restarts").value_or(0));
  return place;
}

}  // namespace

bool is_piece_name(std::string_view name) {
  constexpr std::string_view kBegin = "run.";
  constexpr std::string_view kEnd = ".json";
  return name == "run.json" || (name.size() > kBegin.size() + kEnd.size() && name.substr(0, kBegin.size()) == kBegin &&
                                name.substr(name.size() - kEnd.size()) == kEnd);
}

bool RunPiece::is_alive(std::int64_t now_there_ns) const {
  if (!is_recording || end_utc_ns) return false;
  if (recorder.is_visible()) return recorder.is_running();
  struct stat info = {};
  return stat(file.c_str(), &info) == 0 && now_there_ns - modified_ns(info) < kLeaseNs;
}

RunPiece read_run_piece(const fs::path& file) {
  constexpr std::size_t kMost = std::size_t{16} << 20U;
  RunPiece piece;
  piece.file = file;
  std::error_code none;
  if (!fs::is_regular_file(fs::symlink_status(file, none))) return piece;
  JsonValues json(read_small_file(file.string(), kMost));
  if (json.text("$.schema") != "swinscope.run/1") return piece;
  piece.recorder = recorder_of(json);
  piece.is_recording = piece.recorder.pid > 0;
  piece.place = place_of(json);
  piece.window = json.text("$.window").value_or("");
  piece.start_utc_ns = json.number("$.start_utc_ns").value_or(0);
  piece.end_utc_ns = json.number("$.end_utc_ns");
  piece.trace_files = json.texts("$.ranks", "$.file");
  return piece;
}

std::vector<RunPiece> read_run_pieces(const fs::path& folder) {
  std::vector<RunPiece> pieces;
  for (const std::string& name : names_in(folder.string())) {
    if (!is_piece_name(name)) continue;
    RunPiece piece = read_run_piece(folder / name);
    // A trace of another program may have such a name, too.
    if (piece.is_recording || name == "run.json") pieces.push_back(std::move(piece));
  }
  std::sort(pieces.begin(), pieces.end(), [](const RunPiece& a, const RunPiece& b) { return a.file < b.file; });
  return pieces;
}

std::int64_t file_system_now_ns(const fs::path& folder) {
  try {
    const fs::path probe = write_beside(folder / "now", "");
    struct stat info = {};
    const bool is_known = stat(probe.c_str(), &info) == 0;
    unlink(probe.c_str());
    if (is_known) return modified_ns(info);
  } catch (const Error&) {
    return clock_ns(CLOCK_REALTIME);
  }
  return clock_ns(CLOCK_REALTIME);
}

}  // namespace swinscope
