#include "collector/launcher/run_folder.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "collector/base/capture_window.h"
#include "collector/base/drop_note.h"
#include "collector/base/proc_files.h"
#include "collector/base/text.h"
#include "collector/launcher/file_owner.h"
#include "collector/launcher/nccl_collectives.h"
#include "collector/launcher/nccl_operations.h"
#include "store/database.h"
#include "store/error.h"
#include "store/private_file.h"
#include "store/recovery.h"

namespace swinscope {
namespace fs = std::filesystem;
namespace {

bool starts_with(std::string_view text, std::string_view prefix) { return text.substr(0, prefix.size()) == prefix; }
bool ends_with(std::string_view text, std::string_view suffix) {
  return text.size() >= suffix.size() && text.substr(text.size() - suffix.size()) == suffix;
}

// A trace and what may lie beside it, by what follows the trace's name.
constexpr std::array<const char*, 5> kTraceSuffixes = {"", "-wal", "-shm", "-journal", "-drops"};

bool is_rank_file(std::string_view name) { return starts_with(name, "rank") && ends_with(name, ".db"); }

bool is_drop_note(std::string_view name) { return starts_with(name, "rank") && ends_with(name, ".db-drops"); }

bool belongs_to_run(std::string_view name) {
  // What a recorder that was killed has not renamed.
  const bool is_unfinished = starts_with(name, ".run.") && ends_with(name, ".tmp");
  if (name == "run.json" || name == kTriggerFile || is_unfinished) return true;
  return (starts_with(name, "rank") || starts_with(name, "record")) &&
         std::any_of(kTraceSuffixes.begin(), kTraceSuffixes.end(),
                     [&](const char* suffix) { return ends_with(name, std::string(".db") + suffix); });
}

std::vector<fs::path> files_in(const fs::path& folder, bool (*is_wanted)(std::string_view)) {
  std::vector<fs::path> files;
  for (const std::string& name : names_in(folder.string())) {
    if (is_wanted(name)) files.push_back(folder / name);
  }
  std::sort(files.begin(), files.end());
  return files;
}

// Whether one of the living processes writes the file, or may: it does not say yet whose it is. An empty one is a name
// that was taken, and no more: a process that is about to write there makes the file anew.
bool may_be_written(const fs::path& file, const std::set<std::int64_t>& alive) {
  if (alive.empty()) return false;
  std::error_code ignored;
  if (fs::file_size(file, ignored) == 0) return false;
  Database db = Database::open_untrusted(file);
  if (!db.has_table("SWINSCOPE_RUN")) return true;
  Statement run = db.prepare("SELECT globalPid FROM SWINSCOPE_RUN");
  return !run.step() || alive.count(pid_of(static_cast<std::uint64_t>(run.integer(0)))) != 0;
}

void report_drops(const fs::path& trace, const std::function<void(const std::string&)>& report) {
  for (const DropInfo& drop : DropNote::read(trace)) {
    report(fmt::format("{}: {} lost: {}: {}", trace.filename().string(), drop.count, drop.what, drop.reason));
  }
}

void remove_trace(const fs::path& path) {
  std::error_code ignored;
  for (const char* suffix : kTraceSuffixes)
    fs::remove(path.string() + suffix, ignored);
}

std::string why(const Error& error) {
  return error.cause().empty() ? std::string(error.what()) : fmt::format("{} ({})", error.what(), error.cause());
}

}  // namespace

std::vector<fs::path> files_of_run(const fs::path& folder) {
  std::vector<fs::path> files = files_in(folder, belongs_to_run);
  for (const RunPiece& piece : read_run_pieces(folder)) {
    if (piece.is_recording && piece.file.filename() != "run.json") files.push_back(piece.file);
  }
  return files;
}

std::string could_not_be_recorded(const std::string& why) { return fmt::format("could not be recorded: {}", why); }

namespace {

// The agent of torchrun looks for GPUs before it starts the ranks: it belongs to none, and has recorded nothing, but
// has the name of the first one. Its CPU time is in the launcher's file.
void remove_bystanders(const fs::path& folder, std::vector<RunFile>& files) {
  const auto has_rank = [&](const RunFile& bystander) {
    return std::any_of(files.begin(), files.end(), [&](const RunFile& file) {
      return file.rank == bystander.rank && file.world_size > 0 && file.has_events;
    });
  };
  const auto is_bystander = [&](const RunFile& file) {
    return file.world_size == 0 && !file.has_events && file.drops.empty() && has_rank(file);
  };
  std::vector<RunFile> kept;
  std::error_code ignored;
  for (const RunFile& file : files) {
    if (is_bystander(file)) {
      fs::remove(folder / file.name, ignored);
    } else {
      kept.push_back(file);
    }
  }
  const std::size_t removed = files.size() - kept.size();
  files = std::move(kept);
  if (removed == 0) return;
  // The first process of a rank gets the name that is free now; its workers came later.
  std::sort(files.begin(), files.end(), [](const RunFile& a, const RunFile& b) { return a.pid < b.pid; });
  for (RunFile& file : files) {
    const std::string plain = fmt::format("rank{}.db", file.rank);
    if (file.world_size == 0 || !file.has_events || fs::exists(folder / plain, ignored)) continue;
    fs::rename(folder / file.name, folder / plain, ignored);
    if (!ignored) file.name = plain;
  }
  std::sort(files.begin(), files.end(), [](const RunFile& a, const RunFile& b) { return a.name < b.name; });
}

void join_collectives(const fs::path& path, const std::function<void(const std::string&)>& report) {
  try {
    const NcclSummary nccl = add_nccl_collectives(path);
    const NcclOperations operations = join_nccl_operations(path);
    if (operations.told > 0 && operations.joined < operations.kernels)
      report(fmt::format("{}: of {} kernels of NCCL, what its plugin says of them is known for {}",
                         path.filename().string(), operations.kernels, operations.joined));
    if (std::max(nccl.joined, operations.joined) >= nccl.kernels) return;
    report(fmt::format("{}: of {} kernels of NCCL, communicator and bytes are known for {}", path.filename().string(),
                       nccl.kernels, nccl.joined));
  } catch (const Error& error) {
    report(fmt::format("{}: kernels of NCCL have no communicator and bytes: {}", path.filename().string(), why(error)));
  }
}

}  // namespace

std::vector<RunFile> finish_run_files(const fs::path& folder, const std::set<std::int64_t>& alive,
                                      const std::function<void(const std::string&)>& report, const FileOwner* owner,
                                      bool is_explained) {
  std::vector<fs::path> traces = files_in(folder, is_rank_file);
  std::vector<fs::path> notes = files_in(folder, is_drop_note);
  if (owner != nullptr) {
    std::erase_if(traces, [&](const fs::path& trace) { return !owner->owns(trace); });
    if (!owner->is_alone()) notes.clear();  // of traces that are not there, nothing tells whose they were
  }
  if (traces.empty() && notes.empty() && !is_explained) {
    report(
        "no call of NVTX or CUDA was recorded: no process of the command made one, or none could load the recorder's "
        "library; only the processes were recorded");
  }
  std::vector<RunFile> files;
  for (const fs::path& path : traces) {
    try {
      if (may_be_written(path, alive)) {
        report(fmt::format("{}: its process still runs, or may; the file is left as it is", path.filename().string()));
        continue;
      }
      std::optional<TraceFileSummary> finished = finish_trace_file(path, DropNote::read(path));
      if (!finished) {
        report(fmt::format("{}: its process ended before anything was recorded", path.filename().string()));
        report_drops(path, report);
        remove_trace(path);
        continue;
      }
      TraceFileSummary& summary = *finished;
      std::error_code ignored;
      fs::remove(DropNote::path_for(path), ignored);
      join_collectives(path, report);
      files.push_back({path.filename().string(), summary.rank, summary.world_size, pid_of(summary.global_pid),
                       summary.has_events, summary.complete, std::move(summary.drops), std::move(summary.collector)});
    } catch (const Error& error) {
      report(fmt::format("{}: not finished: {}", path.filename().string(), why(error)));
      report_drops(path, report);
    }
  }
  // The disk was full before the trace could even begin.
  for (const fs::path& note : notes) {
    const fs::path trace = note.string().substr(0, note.string().rfind('-'));
    std::error_code ignored;
    if (fs::exists(trace, ignored)) continue;
    report_drops(trace, report);
    fs::remove(note, ignored);
  }
  remove_bystanders(folder, files);
  return files;
}

void report_run_files(const std::vector<RunFile>& files, const std::function<void(const std::string&)>& report) {
  for (const RunFile& file : files) {
    for (const NamedValue& fact : file.collector) {
      if (fact.name == kCudaActivity && fact.value.starts_with(kNotRecorded))
        report(fmt::format("{}: CUDA activity was {}; ranges and CPU times are in the file", file.name, fact.value));
    }
    if (!file.complete)
      report(fmt::format("{}: its process was cut off; what it had emitted by then is in the file", file.name));
    for (const DropInfo& drop : file.drops) {
      report(fmt::format("{}: {} lost: {}: {}", file.name, drop.count, drop.what, drop.reason));
    }
  }
}

namespace {

// Writes the members of a JSON object or the elements of an array, one after the other.
class JsonList {
 public:
  JsonList(std::string& json, char open, char close) : json_(json), close_(close) { json_ += open; }
  JsonList(const JsonList&) = delete;
  JsonList& operator=(const JsonList&) = delete;
  JsonList(JsonList&&) = delete;
  JsonList& operator=(JsonList&&) = delete;
  ~JsonList() { json_ += close_; }

  std::string& next() {
    if (!first_) json_ += ", ";
    first_ = false;
    return json_;
  }
  std::string& member(std::string_view name) {
    next();
    append_json_string(json_, name);
    return json_ += ": ";
  }
  void text(std::string_view name, std::string_view value) { append_json_string(member(name), value); }
  void number(std::string_view name, std::int64_t value) { member(name) += std::to_string(value); }
  template <typename T>
  void optional(std::string_view name, const std::optional<T>& value) {
    member(name) += value ? std::to_string(*value) : "null";
  }
  void texts(std::string_view name, const std::vector<std::string>& values) {
    JsonList list(member(name), '[', ']');
    for (const std::string& value : values)
      append_json_string(list.next(), value);
  }

 private:
  std::string& json_;
  char close_;
  bool first_ = true;
};

}  // namespace

namespace {

void append_recorder(std::string& json, const RecorderId& recorder) {
  JsonList members(json, '{', '}');
  members.number("pid", recorder.pid);
  members.number("start_ticks", recorder.start_ticks);
  members.text("boot", recorder.boot);
  members.number("pid_namespace", static_cast<std::int64_t>(recorder.pid_namespace));
}

void append_place(std::string& json, const JobPlace& place) {
  JsonList members(json, '{', '}');
  members.optional("rank", place.rank);
  members.number("world_size", place.world_size);
  members.text("name", place.job);
  members.number("is_unique", place.is_unique ? 1 : 0);
  members.number("restarts", place.restarts);
}

}  // namespace

std::string run_json(const RunDescription& run) {
  std::string json;
  {
    JsonList all(json, '{', '}');
    all.text("schema", "swinscope.run/1");
    all.text("kind", "record");
    all.texts("command", run.command);
    all.text("host", run.recorder.host);
    all.text("window", run.window);
    append_recorder(all.member("recorder"), run.recorder);
    append_place(all.member("job"), run.place);
    all.number("start_utc_ns", run.start_utc_ns);
    all.optional("end_utc_ns", run.end_utc_ns);
    all.optional("exit_status", run.exit_status);
    all.optional("cpu_ns", run.cpu_ns);
    all.text("processes", run.process_file);
    {
      JsonList ranks(all.member("ranks"), '[', ']');
      for (const RunFile& file : run.files) {
        JsonList rank(ranks.next(), '{', '}');
        rank.number("rank", file.rank);
        rank.text("file", file.name);
        rank.number("pid", file.pid);
        rank.member("complete") += file.complete ? "true" : "false";
        std::int64_t lost = 0;
        for (const DropInfo& drop : file.drops)
          lost += drop.count;
        rank.number("drops", lost);
      }
    }
    all.texts("warnings", run.warnings);
  }
  return json + "\n";
}

namespace {

// Into the blocks that a file has already: a disk without a free one refuses all else.
bool overwrite(const fs::path& path, const std::string& text) {
  const int file = open(path.c_str(), O_WRONLY | O_NOFOLLOW | O_CLOEXEC);
  if (file < 0) return false;
  constexpr std::size_t kBlock = 512;  // the unit of st_blocks
  struct stat info = {};
  const bool fits = fstat(file, &info) == 0 && text.size() <= static_cast<std::size_t>(info.st_blocks) * kBlock;
  const bool written = fits && pwrite(file, text.data(), text.size(), 0) == static_cast<ssize_t>(text.size()) &&
                       ftruncate(file, static_cast<off_t>(text.size())) == 0;
  close(file);
  return written;
}

}  // namespace

void write_run_json(const fs::path& file, const RunDescription& run) {
  const std::string json = run_json(run);
  try {
    replace_private_file(file, json);
  } catch (const Error&) {
    if (!overwrite(file, json)) throw;
  }
}

}  // namespace swinscope
