#include "analyzer/import.h"

#include <algorithm>
#include <fstream>
#include <memory>
#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include "analyzer/open.h"
#include "store/error.h"
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
    const fs::path path = folder_ / fmt::format(".importing-{}-{}.db", getpid(), writers_.size());
    fs::remove(path);  // of an import that was killed
    return *writers_.emplace_back(std::make_unique<TraceWriter>(path, WriteMode::kImport));
  }

  void remove_last_process() override { writers_.pop_back(); }

  const std::vector<std::unique_ptr<TraceWriter>>& writers() const { return writers_; }

 private:
  fs::path folder_;
  std::vector<std::unique_ptr<TraceWriter>> writers_;
};

bool holds_traces(const fs::path& folder) {
  std::error_code ignored;
  return std::any_of(fs::directory_iterator(folder, ignored), fs::directory_iterator(), [](const auto& entry) {
    const std::string name = entry.path().filename().string();
    return name == "run.json" || (name.substr(0, 4) == "rank" && entry.path().extension() == ".db");
  });
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
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) {
    throw Error(ErrorKind::kFailure, fmt::format("{}: the folder cannot be created", folder.string()), error.message(),
                "give another folder with -o");
  }
  if (!force && holds_traces(folder)) {
    throw Error(ErrorKind::kUsage, fmt::format("{}: the folder already holds a run", folder.string()), {},
                "give another folder with -o, or --force to replace the run");
  }
}

void remove_old_run(const fs::path& folder) {
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    if (name == "run.json" || (name.substr(0, 4) == "rank" && entry.path().extension() == ".db")) {
      fs::remove(entry.path());
    }
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
  std::ofstream out(folder / "run.json");
  // The names of the inputs are bytes of any kind.
  out << json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) << '\n';
  out.close();
  if (!out) {
    throw Error(ErrorKind::kFailure, fmt::format("{}: cannot be written", (folder / "run.json").string()), {},
                "check the free space and the permissions of the folder");
  }
}

}  // namespace

ImportResult import_traces(const std::vector<fs::path>& inputs, const fs::path& folder, bool force,
                           const std::atomic<bool>* cancel) {
  std::vector<fs::path> files;
  for (const fs::path& input : inputs) {
    const std::vector<fs::path> found = trace_files(input);
    files.insert(files.end(), found.begin(), found.end());
  }
  const NewFolder new_folder(folder);
  prepare_folder(folder, force);

  ImportResult result;
  FolderSink sink(folder);
  std::vector<std::string> sources;
  for (const fs::path& file : files) {
    const ImportReport report = read_trace_file(file, sink, cancel);
    sources.resize(sink.writers().size(), file.string());
    result.warnings.insert(result.warnings.end(), report.warnings.begin(), report.warnings.end());
    result.corrupt |= report.corrupt;
  }
  if (force) remove_old_run(folder);
  std::set<int> claimed;
  bool clash = false;
  for (const auto& writer : sink.writers())
    clash |= !claimed.insert(writer->run().rank).second;
  if (clash) result.warnings.emplace_back("several inputs claim the same rank; ranks are numbered in input order");
  for (std::size_t i = 0; i < sink.writers().size(); ++i) {
    TraceWriter& writer = *sink.writers()[i];
    RunInfo run = writer.run();
    if (clash) run.rank = static_cast<int>(i);
    run.source_file = replace_invalid_utf8(fs::path(sources[i]).filename().string());
    writer.set_run(run);
    const fs::path path = folder / fmt::format("rank{}.db", run.rank);
    writer.finish_as(path, force);
    result.files.push_back({path, sources[i], run.rank});
  }
  write_run_json(folder, result);
  return result;
}

}  // namespace swinscope
