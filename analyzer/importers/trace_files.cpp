#include "analyzer/importers/trace_files.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <set>
#include <string_view>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "analyzer/base/byte_source.h"
#include "analyzer/base/tar_members.h"
#include "analyzer/importers/named_path.h"
#include "analyzer/importers/ranks.h"
#include "analyzer/importers/recorders_file.h"
#include "analyzer/importers/run_place.h"

namespace swinscope {
namespace fs = std::filesystem;
namespace {

enum class Format { kSqlite, kGzip, kTar, kJson, kEmpty, kPointer, kUnknown };

Format sniff(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    throw Error(ErrorKind::kInput, fmt::format("{}: cannot be read", path.string()), std::strerror(errno),
                "check the path and its permissions");
  }
  std::array<char, TarMembers::kBlockBytes> head{};
  file.read(head.data(), head.size());
  const std::string_view text(head.data(), static_cast<std::size_t>(file.gcount()));
  constexpr std::string_view kSqliteMagic("SQLite format 3\0", 16);
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  if (text.empty()) return Format::kEmpty;
  if (text.starts_with(kSqliteMagic)) return Format::kSqlite;
  if (text.starts_with("\x1F\x8B")) return Format::kGzip;
  if (TarMembers::is_tar(text)) return Format::kTar;
  if (text.starts_with("version https://git-lfs")) return Format::kPointer;
  std::string_view json = text.starts_with(kByteOrderMark) ? text.substr(kByteOrderMark.size()) : text;
  const auto trim = [&] {
    while (!json.empty() && std::isspace(static_cast<unsigned char>(json.front())) != 0)
      json.remove_prefix(1);
  };
  trim();
  while (json.empty() && (file.read(head.data(), head.size()).gcount() > 0)) {
    json = std::string_view(head.data(), static_cast<std::size_t>(file.gcount()));
    trim();
  }
  return !json.empty() && (json.front() == '{' || json.front() == '[') ? Format::kJson : Format::kUnknown;
}

bool is_report(const fs::path& path) {
  return path.extension() == ".nsys-rep" || path.extension() == ".qdrep" || path.extension() == ".qdstrm";
}

// A pipe can be read once, and opening a trace reads it several times.
void refuse_pipe(const fs::path& path) {
  std::error_code none;
  const fs::file_status status = fs::status(path, none);
  if (fs::is_regular_file(status) || !fs::exists(status)) return;
  throw Error(ErrorKind::kInput, fmt::format("{}: a pipe or device, not a file", path.string()),
              "a trace is read more than once", "save it to a file and give its name");
}

[[noreturn]] void refuse_report(const fs::path& path) {
  throw Error(ErrorKind::kInput, fmt::format("{}: a report of Nsight Systems that is not exported", path.string()),
              "only nsys itself reads this format",
              fmt::format("`nsys export --type sqlite {}`, then give the .sqlite file", path.string()));
}

bool has_trace_name(const fs::path& path) {
  const std::string name = path.filename().string();
  constexpr std::array<std::string_view, 5> kSuffixes = {".db", ".sqlite", ".sqlite3", ".json", ".json.gz"};
  constexpr std::array<std::string_view, 3> kOurs = {"run.json", "experiment.json", "point.json"};
  // Hidden files are conversions that were cut off.
  return name.front() != '.' && std::ranges::find(kOurs, name) == kOurs.end() &&
         std::ranges::any_of(
             kSuffixes, [&](std::string_view suffix) { return name.size() > suffix.size() && name.ends_with(suffix); });
}

std::vector<fs::path> traces_in(const fs::path& folder) {
  std::error_code error;
  std::vector<fs::path> files;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
    if (!entry.is_regular_file(error) || !has_trace_name(entry.path())) continue;
    refuse_link_out(entry.path());
    if (!is_recorders_file(entry.path())) files.push_back(entry.path());
  }
  if (error) {
    throw Error(ErrorKind::kInput, fmt::format("{}: cannot be listed", folder.string()), error.message(),
                "check the permissions of the folder");
  }
  std::ranges::sort(files, natural_less, [](const fs::path& file) { return file.filename().string(); });
  return files;
}

void leave_out_compressed(std::vector<fs::path>& files, std::vector<std::string>* notes) {
  const std::set<fs::path> all(files.begin(), files.end());
  std::erase_if(files, [&](const fs::path& file) {
    if (file.extension() != ".gz") return false;
    const fs::path plain = fs::path(file).replace_extension();
    if (!all.contains(plain)) return false;
    if (notes != nullptr) {
      notes->push_back(fmt::format("{}: left out, {} is beside it", file.string(), plain.filename().string()));
    }
    return true;
  });
}

// The folder of the run that is shown of an experiment or a point; what is neither is itself. No step is taken twice,
// whatever the files name.
fs::path run_folder(const fs::path& path, std::vector<std::string>* notes) {
  std::error_code ignored;
  const auto note = [&](const std::string& text) {
    if (notes != nullptr) notes->push_back(text);
  };
  fs::path folder = path;
  if (const fs::path point = largest_point(path); !point.empty()) {
    note(fmt::format("{}: an experiment; its point with the most GPUs or ranks, {}, is shown", path.string(),
                     point.filename().string()));
    folder = point;
  }
  fs::path run = run_of_point(folder);
  if (run.empty() || !fs::is_directory(run, ignored)) return folder;
  note(fmt::format("{}: a point of an experiment; its run {} is shown", folder.string(), run.filename().string()));
  return run;
}

// Where the traces are, when they are not in the folder itself.
std::vector<std::string> subfolders_with_traces(const fs::path& folder) {
  std::set<std::string> found;
  std::error_code error;
  constexpr int kDeepest = 3;
  auto entry = fs::recursive_directory_iterator(folder, fs::directory_options::skip_permission_denied, error);
  for (; !error && entry != fs::recursive_directory_iterator(); entry.increment(error)) {
    if (entry.depth() >= kDeepest) entry.disable_recursion_pending();
    std::error_code none;
    if (entry.depth() > 0 && entry->is_regular_file(none) && has_trace_name(entry->path()))
      found.insert(entry->path().parent_path().string());
  }
  std::vector<std::string> names(found.begin(), found.end());
  std::ranges::sort(names, natural_less);
  return names;
}

bool holds_report(const fs::path& folder) {
  std::error_code error;
  return std::any_of(fs::directory_iterator(folder, error), fs::directory_iterator(),
                     [](const fs::directory_entry& entry) { return is_report(entry.path()); });
}

[[noreturn]] void refuse_folder(const fs::path& folder) {
  std::error_code none;
  if (fs::exists(folder / "experiment.json", none)) {
    throw Error(ErrorKind::kUsage, fmt::format("{}: an experiment without runs", folder.string()),
                "no point of it has been measured", "run its `swinscope scale` command again: it goes on");
  }
  std::string cause = "it has no .db, .sqlite, .json or .json.gz file";
  std::string hint = "give a run folder or a trace file";
  if (const auto subfolders = subfolders_with_traces(folder); !subfolders.empty()) {
    constexpr std::size_t kMost = 4;
    std::string list;
    for (std::size_t i = 0; i < std::min(kMost, subfolders.size()); ++i)
      list += fmt::format("{}{}", i == 0 ? "" : ", ", subfolders[i]);
    cause = fmt::format("its traces are in {} subfolder{}: {}{}", subfolders.size(), subfolders.size() == 1 ? "" : "s",
                        list, subfolders.size() > kMost ? ", …" : "");
    hint = fmt::format("give one of them, such as {}", subfolders.front());
  } else if (holds_report(folder)) {
    cause = "it has reports of Nsight Systems, which only nsys itself reads";
    hint = "`nsys export --type sqlite FILE` for each, then give the .sqlite files";
  }
  throw Error(ErrorKind::kInput, fmt::format("{}: a folder without traces", folder.string()), cause, hint);
}

// Whether the whole of a file is JSON; not looked at beyond the size of any metadata.
bool is_whole_json(const fs::path& path) {
  constexpr std::size_t kMost = std::size_t{16} << 20;
  std::string text(kMost, '\0');
  ByteSource source(path);
  std::size_t size = 0;
  for (std::size_t more = 1; more > 0 && size < text.size(); size += more)
    more = source.read(std::span(text).subspan(size));
  return size < kMost && *source.damage() == '\0' &&
         nlohmann::json::accept(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(size));
}

}  // namespace

bool is_recorders_file(const fs::path& path) {
  const std::string name = path.filename().string();
  if (!name.starts_with("run.") || !name.ends_with(".json")) return false;
  constexpr std::string_view kBegin = R"({"schema": "swinscope.run/)";
  std::ifstream file(path, std::ios::binary);
  std::string head(kBegin.size(), '\0');
  file.read(head.data(), static_cast<std::streamsize>(head.size()));
  return head == kBegin;
}

bool is_trace_database(const fs::path& path) {
  refuse_pipe(path);
  switch (sniff(path)) {
    case Format::kSqlite:
      return true;
    case Format::kGzip:
    case Format::kTar:
    case Format::kJson:
      return false;
    case Format::kEmpty:
      throw Error(ErrorKind::kInput, fmt::format("{}: the file is empty", path.string()),
                  "recording or copying it has failed", "record or copy it again");
    case Format::kPointer:
      throw Error(ErrorKind::kInput, fmt::format("{}: a Git LFS pointer, not the trace itself", path.string()),
                  "the repository was cloned without its large files", "`git lfs pull` fetches them");
    case Format::kUnknown:
      break;
  }
  if (is_report(path)) refuse_report(path);
  throw Error(ErrorKind::kInput, fmt::format("{}: not a trace", path.string()),
              "it is no SQLite file, no JSON and no gzip file",
              "give a swinscope trace, an Nsight Systems .sqlite export or a PyTorch trace (.json, .json.gz)");
}

std::vector<fs::path> trace_files(const fs::path& path, std::vector<std::string>* notes) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (!fs::exists(status)) {
    throw Error(ErrorKind::kInput, fmt::format("{}: no such file or folder", path.string()), {},
                "check the path; `swinscope import` and `swinscope record` make run folders");
  }
  if (!fs::is_directory(status)) return {path};
  const fs::path folder = run_folder(path, notes);
  std::vector<fs::path> files = traces_in(folder);
  if (files.empty()) refuse_folder(folder);
  leave_out_compressed(files, notes);
  return files;
}

std::string why_foreign(const fs::path& path, const std::optional<Error>& error,
                        const std::vector<FileProcess>& processes) {
  const auto says_something = [](const FileProcess& process) {
    return process.records > 0 || !process.run.gpus.empty() || process.run.world_size > 0;
  };
  if (!error && std::ranges::any_of(processes, says_something)) return {};
  try {
    if (is_trace_database(path) || !is_whole_json(path)) return {};
  } catch (const Error&) {
    return {};
  }
  if (!error) return "there are no events in it";
  return error->cause().empty() ? "JSON of another kind" : error->cause();
}

}  // namespace swinscope
