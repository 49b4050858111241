#include "analyzer/importers/import.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <memory>
#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include "analyzer/base/memory_limit.h"
#include "analyzer/importers/counting_sink.h"
#include "analyzer/importers/job.h"
#include "analyzer/importers/open.h"
#include "analyzer/importers/recorders_file.h"
#include "store/error.h"
#include "store/private_file.h"
#include "store/reader.h"
#include "store/utf8.h"
#include "store/writer.h"

namespace swinscope {
namespace fs = std::filesystem;
namespace {

// Writes each process of an input to an unfinished file of its own; ranks are known only when all was read.
class FolderSink : public TraceSink {
 public:
  explicit FolderSink(fs::path folder) : folder_(std::move(folder)) {}

  RecordSink& add_process() override {
    paths_.push_back(folder_ / fmt::format(".importing-{}-{}.db", getpid(), paths_.size()));
    fs::remove(paths_.back());  // of an import that was killed
    return *writers_.emplace_back(std::make_unique<TraceWriter>(paths_.back(), WriteMode::kImport));
  }

  void remove_last_process() override { leave_out_from(size() - 1); }

  std::size_t size() const { return writers_.size(); }
  TraceWriter& writer(std::size_t process) { return *writers_[process]; }
  // Forgets the processes from this one on.
  void leave_out_from(std::size_t process) {
    writers_.resize(process);
    paths_.resize(process);
  }
  void leave_out(std::size_t process) { writers_[process].reset(); }
  // Moves what was written for a process into the file of another.
  void move_into(std::size_t to, std::size_t process, const RecordShift& shift) {
    writers_[process]->finish();
    ShiftingSink shifting(*writers_[to], shift);
    TraceFile(paths_[process]).read(shifting);
    writers_[process].reset();
    fs::remove(paths_[process]);
  }

 private:
  fs::path folder_;
  std::vector<fs::path> paths_;
  std::vector<std::unique_ptr<TraceWriter>> writers_;
};

bool is_of_run(const fs::path& file) {
  const std::string name = file.filename().string();
  const bool is_trace = (name.starts_with("rank") || name.starts_with("record.")) && file.extension() == ".db";
  return name == "run.json" || is_trace || is_recorders_file(file);
}

bool holds_traces(const fs::path& folder) {
  std::error_code ignored;
  return std::any_of(fs::directory_iterator(folder, ignored), fs::directory_iterator(),
                     [](const auto& entry) { return is_of_run(entry.path()); });
}

// Removes the folder again when it was made for this import and nothing came into it.
class NewFolder {
 public:
  explicit NewFolder(const fs::path& folder) : folder_(folder) {
    std::error_code ignored;
    existed_ = fs::exists(folder, ignored);
  }
  NewFolder(const NewFolder&) = delete;
  NewFolder& operator=(const NewFolder&) = delete;
  NewFolder(NewFolder&&) = delete;
  NewFolder& operator=(NewFolder&&) = delete;
  ~NewFolder() {
    std::error_code ignored;  // a folder that is not empty stays
    if (!existed_) fs::remove(folder_, ignored);
  }

 private:
  const fs::path& folder_;
  bool existed_ = false;
};

void prepare_folder(const fs::path& folder, bool force) {
  make_private_folder(folder);
  if (!force && holds_traces(folder)) {
    throw Error(ErrorKind::kUsage, fmt::format("{}: the folder already holds a run", folder.string()), {},
                "give another folder with -o, or --force to replace the run");
  }
}

void remove_old_run(const fs::path& folder) {
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    if (is_of_run(entry.path())) fs::remove(entry.path());
  }
}

void write_run_json(const fs::path& folder, const ImportResult& result) {
  nlohmann::ordered_json json;
  json["schema"] = "swinscope.run/1";
  json["kind"] = "import";
  for (const ImportedFile& file : result.files) {
    json["ranks"].push_back({{"rank", file.rank}, {"file", file.path.filename().string()}, {"source", file.source}});
  }
  json["warnings"] = result.warnings;
  // The names of the inputs are bytes of any kind.
  replace_private_file(folder / "run.json", json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
}

// Everything that was read, before ranks are known.
struct Reading {
  std::vector<FileProcess> processes;
  std::vector<fs::path> sources;  // of each process
};

void read_input(const fs::path& file, bool of_folder, FolderSink& sink, Reading& reading, ImportResult& result,
                const std::atomic<bool>* cancel) {
  const std::size_t before = sink.size();
  std::optional<Error> failure;
  const std::function<void(std::uint64_t)> watch = [&file, memory = MemoryLimit()](std::uint64_t) {
    memory.check(file.string());
  };
  CountingSink counting(sink, watch);
  ImportReport report;
  try {
    report = read_trace_file(file, counting, cancel);
  } catch (const Error& error) {
    failure = error;
  }
  std::vector<FileProcess> processes = counting.seen();
  const std::string foreign = of_folder ? why_foreign(file, failure, processes) : std::string();
  if (!foreign.empty()) {
    result.warnings.push_back(fmt::format("{}: left out, it is no trace ({})", file.string(), foreign));
    return sink.leave_out_from(before);
  }
  if (failure) throw Error(*failure);
  for (FileProcess& process : processes) {
    process.file = file;
    reading.processes.push_back(std::move(process));
    reading.sources.push_back(file);
  }
  result.warnings.insert(result.warnings.end(), report.warnings.begin(), report.warnings.end());
  result.corrupt |= report.corrupt;
}

// rank<N>.db; a further process of a rank is named like one that was recorded.
fs::path final_path(const fs::path& folder, const RunInfo& run, const std::set<fs::path>& taken) {
  fs::path path = folder / fmt::format("rank{}.db", run.rank);
  for (int n = 0; taken.contains(path); ++n) {
    path = folder /
           fmt::format("rank{}.{}.{}.{}.db", run.rank, run.host.empty() ? "host" : run.host, pid_of(run.global_pid), n);
  }
  return path;
}

void finish_files(const fs::path& folder, bool force, FolderSink& sink, const Reading& reading, ImportResult& result) {
  const Job job = settle_job(reading.processes);
  std::ranges::copy(job.notes, std::back_inserter(result.warnings));
  std::vector<FileProcess> heads = reading.processes;
  for (std::size_t i = 0; i < heads.size(); ++i) {
    const Place& place = job.places[i];
    if (place.head == i) continue;
    if (place.twice) {
      sink.leave_out(i);
    } else {
      sink.move_into(place.head, i, join_windows(heads[place.head], reading.processes[i], place.offset_ns));
    }
  }
  std::set<fs::path> taken;
  for (std::size_t i = 0; i < heads.size(); ++i) {
    if (job.places[i].head != i) continue;
    RunInfo& run = heads[i].run;
    run.rank = job.places[i].rank;
    if (run.source_file.empty()) run.source_file = replace_invalid_utf8(reading.sources[i].filename().string());
    sink.writer(i).set_run(run);
    const fs::path path = final_path(folder, run, taken);
    taken.insert(path);
    sink.writer(i).finish_as(path, force);
    result.files.push_back({path, reading.sources[i].string(), run.rank});
  }
}

void refuse_independent_files(const std::vector<std::pair<fs::path, bool>>& files) {
  std::vector<fs::path> paths;
  paths.reserve(files.size());
  for (const auto& [file, of_folder] : files)
    paths.push_back(file);
  const std::vector<fs::path> runs = independent_runs_of(paths);
  if (runs.empty()) return;
  throw Error(
      ErrorKind::kUsage, fmt::format("the inputs are {} independent runs, not one job", runs.size()),
      fmt::format("{} and {} are of different programs or times, and nothing says that they are ranks of one job",
                  runs[0].string(), runs[1].string()),
      "import each run into a folder of its own");
}

}  // namespace

ImportResult import_traces(const std::vector<fs::path>& inputs, const fs::path& folder, bool force,
                           const std::atomic<bool>* cancel) {
  ImportResult result;
  std::vector<std::pair<fs::path, bool>> files;  // and whether it was found in a folder
  for (const fs::path& input : inputs) {
    std::error_code none;
    refuse_independent_runs(input);
    for (const fs::path& file : trace_files(input, &result.warnings))
      files.emplace_back(file, fs::is_directory(input, none));
  }
  if (inputs.size() > 1) refuse_independent_files(files);
  const NewFolder new_folder(folder);
  prepare_folder(folder, force);

  FolderSink sink(folder);
  Reading reading;
  for (const auto& [file, of_folder] : files)
    read_input(file, of_folder, sink, reading, result, cancel);
  if (reading.processes.empty()) {
    throw Error(ErrorKind::kInput, fmt::format("{}: a folder without traces", inputs.front().string()),
                result.warnings.empty() ? std::string() : result.warnings.back(), "give a run folder or a trace file");
  }
  if (force) remove_old_run(folder);
  finish_files(folder, force, sink, reading, result);
  write_run_json(folder, result);
  return result;
}

}  // namespace swinscope
