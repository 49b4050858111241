#include "cli/experiment_claim.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <fstream>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include "cli/experiment_runner.h"
#include "collector/base/environment.h"
#include "collector/base/proc_files.h"
#include "collector/launcher/command.h"
#include "collector/launcher/run_claim.h"
#include "store/error.h"
#include "store/private_file.h"

extern char** environ;  // NOLINT(readability-redundant-declaration): POSIX leaves the declaration to the program

namespace swinscope::cli {
namespace fs = std::filesystem;
namespace {

using Facts = std::map<std::string, std::string>;

// What a fact that is not there is called.
constexpr const char* kNotSet = "not set";
// Begins the keys of files.
constexpr std::string_view kContents = "contents of ";

// FNV-1a, 64 bits: tells an edited file from the one before, which is all that is asked.
std::string content_hash(const fs::path& path) {
  constexpr std::uint64_t kBasis = 0xcbf29ce484222325;
  constexpr std::uint64_t kPrime = 0x100000001b3;
  std::uint64_t hash = kBasis;
  std::ifstream file(path, std::ios::binary);
  std::vector<char> block(std::size_t{1} << 16U);
  while (file) {
    file.read(block.data(), static_cast<std::streamsize>(block.size()));
    for (std::streamsize i = 0; i < file.gcount(); ++i)
      hash = (hash ^ static_cast<unsigned char>(block[static_cast<std::size_t>(i)])) * kPrime;
  }
  return fmt::format("{:016x}", hash);
}

std::string fingerprint(const fs::path& path) {
  constexpr std::uintmax_t kLargest = std::uintmax_t{256} << 20U;
  std::error_code error;
  const std::uintmax_t size = fs::file_size(path, error);
  if (error) return "unreadable";
  if (size <= kLargest) return content_hash(path);
  return fmt::format("{} bytes of {}", size, fs::last_write_time(path, error).time_since_epoch().count());
}

bool is_written_by_programs(const fs::path& path) {
  constexpr std::array<std::string_view, 6> kWritten = {".log", ".out", ".err", ".csv", ".db", ".sqlite"};
  return std::ranges::find(kWritten, path.extension().string()) != kWritten.end();
}

// The program, and the files among its arguments, also as --option=FILE.
std::vector<fs::path> program_files(const std::vector<std::string>& command) {
  std::vector<fs::path> files;
  try {
    files.push_back(find_command(command.front()));
  } catch (const CommandError&) {
    // A script that its launcher runs; it is among the words.
  }
  for (const std::string& word : command) {
    for (const std::string& text : {word, word.substr(word.find('=') + 1)}) {
      std::error_code ignored;
      const bool is_known = std::ranges::find(files, fs::path(text)) != files.end();
      if (!text.empty() && !is_known && fs::is_regular_file(text, ignored) && !is_written_by_programs(text))
        files.emplace_back(text);
    }
  }
  return files;
}

// Variables that change what a program does. What a scheduler sets is another with each job, and what only says how
// swinscope prints changes no run.
bool changes_runs(std::string_view name) {
  constexpr std::array<std::string_view, 9> kOther = {"SLURM_",
                                                      "OMPI_",
                                                      "SWINSCOPE_FORMAT",
                                                      "SWINSCOPE_COLOR",
                                                      "SWINSCOPE_NAMES",
                                                      "SWINSCOPE_DEFINITION",
                                                      "SWINSCOPE_PROGRESS",
                                                      "MASTER_",
                                                      "SWINSCOPE_COLLECTOR"};
  const bool is_other = std::ranges::any_of(kOther, [&](std::string_view prefix) { return name.starts_with(prefix); });
  const bool is_rank = name == "RANK" || name == "LOCAL_RANK" || name == "WORLD_SIZE" || name == "LOCAL_WORLD_SIZE";
  return is_listed_variable(name) && !is_other && !is_rank;
}

// "batch was 256, is 128" for each key whose values differ.
void add_differences(const Facts& was, const Facts& is, std::vector<std::string>& differences) {
  Facts keys = was;
  keys.insert(is.begin(), is.end());
  const auto value = [](const Facts& facts, const std::string& key) {
    const auto fact = facts.find(key);
    return fact == facts.end() ? std::string(kNotSet) : fact->second;
  };
  for (const auto& [key, ignored] : keys) {
    // A file that was not there, or belongs to another point, was no part of the runs.
    const bool is_file = key.starts_with(kContents);
    if (value(was, key) == value(is, key) || (is_file && (!was.contains(key) || !is.contains(key)))) continue;
    std::string difference = is_file ? fmt::format("{} has changed", key.substr(kContents.size()))
                                     : fmt::format("{} was {}, is {}", key, value(was, key), value(is, key));
    if (std::ranges::find(differences, difference) == differences.end()) differences.push_back(std::move(difference));
  }
}

std::string filled_text(const std::vector<std::string>& command, const ExperimentPoint& point) {
  Facts values = point.factors;
  values["gpus"] = std::to_string(point.gpus());
  values["out"] = "{out}";  // another one for each run
  try {
    return shell_text(fill_in(command, values));
  } catch (const Error&) {
    return shell_text(command);  // an older command, with a placeholder that this one has not
  }
}

bool has_runs(const fs::path& folder) {
  std::error_code ignored;
  if (!fs::is_regular_file(folder / "point.json", ignored)) return false;
  const ExperimentPoint point = read_point(folder);
  return !point.timing.empty() || !point.tracing.empty();
}

bool needs_launches(const std::string& step) { return step == text_of({StepSource::kLaunches, {}}); }

// Of the runs that are there and would be taken over.
std::vector<std::string> differences_to(const Experiment& there, const Experiment& wanted) {
  std::vector<std::string> differences;
  for (const ExperimentPoint& point : wanted.points) {
    if (!has_runs(point.folder)) continue;
    const ExperimentPoint measured = read_point(point.folder);
    if (there.made_with.empty()) return {"what its runs were made with is not recorded"};
    add_differences({{"mode", there.mode}}, {{"mode", wanted.mode}}, differences);
    add_differences(measured.factors, point.factors, differences);
    // A command that differs by the factors alone has been said.
    if (there.command != wanted.command) {
      add_differences({{"command", filled_text(there.command, measured)}},
                      {{"command", filled_text(wanted.command, point)}}, differences);
    }
    add_differences(there.made_with, wanted.made_with, differences);
    // Its timing runs recorded CUDA's launches, or those that are wanted would.
    if (needs_launches(there.step) != needs_launches(wanted.step_asked))
      add_differences({{"--step", there.step_asked}}, {{"--step", wanted.step_asked}}, differences);
  }
  return differences;
}

// Points are folders directly below the experiment's; others, which `join` took from elsewhere, are not ours.
void remove_points(const fs::path& folder) {
  std::vector<fs::path> measured;
  std::error_code ignored;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, ignored)) {
    for (const fs::directory_entry& run : fs::directory_iterator(entry.path(), ignored))
      refuse_while_recorded(run.path());  // of a point that has no point.json yet, too
    if (fs::is_regular_file(entry.path() / "point.json", ignored)) measured.push_back(entry.path());
  }
  for (const fs::path& point : measured)
    fs::remove_all(point, ignored);
  fs::remove(folder / "experiment.json", ignored);
}

}  // namespace

Facts made_with(const Experiment& experiment, const Launcher& launcher, bool cpus_only) {
  Facts facts = {{"launcher", launcher.name}, {"--cpus-only", cpus_only ? "yes" : "no"}};
  if (!launcher.extra.empty()) facts["--launcher-args"] = shell_text(launcher.extra);
  for (char** variable = environ; variable != nullptr && *variable != nullptr; ++variable) {
    const std::string_view text = *variable;
    const std::size_t equals = text.find('=');
    if (equals != std::string_view::npos && changes_runs(text.substr(0, equals)))
      facts.emplace(text.substr(0, equals), text.substr(equals + 1));
  }
  for (const ExperimentPoint& point : experiment.points) {
    Facts values = point.factors;
    values["gpus"] = std::to_string(point.gpus());
    values["out"] = "{out}";
    for (const fs::path& file : program_files(fill_in(experiment.command, values)))
      facts.try_emplace(fmt::format("{}{}", kContents, file.string()), fingerprint(file));
  }
  return facts;
}

void claim_folder(Experiment& experiment, bool force) {
  const fs::path& folder = experiment.folder;
  try {
    make_private_folder(folder);
  } catch (const Error& error) {
    throw Error(ErrorKind::kUsage, fmt::format("{}: is no folder, and none can be made there", folder.string()),
                error.cause(), "give another folder with -o");
  }
  if (force) return remove_points(folder);
  if (!is_experiment(folder)) return;
  const Experiment there = read_experiment(folder);
  const std::vector<std::string> differences = differences_to(there, experiment);
  if (differences.empty()) {
    if (there.step_asked == experiment.step_asked) {
      experiment.step = there.step;
      experiment.notes = there.notes;
    }
    if (!experiment.price.is_given()) experiment.price = there.price;
    // The files of points that are not asked for this time may be the next time.
    for (const auto& fact : there.made_with) {
      if (fact.first.starts_with(kContents)) experiment.made_with.insert(fact);
    }
    return;
  }
  throw Error(ErrorKind::kUsage,
              fmt::format("{}: holds another experiment: {}", folder.string(), fmt::join(differences, "; ")),
              "its finished runs would stand beside runs of another kind",
              "give another folder with -o, or --force to remove its runs and measure again");
}

}  // namespace swinscope::cli
