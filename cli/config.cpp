// The defaults are set before the command line is read, so that SWINSCOPE_* and the command line win over them; CLI11's
// own reading of files would win over the environment.
#include "cli/config.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/command.h"
#include "store/error.h"

namespace swinscope::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char* kFolderFile = ".swinscope.toml";
constexpr std::uintmax_t kMostBytes = std::uintmax_t{1} << 20U;

// What the file of the working folder may set: how results are shown, and of which kind kernels are. No path, no
// permission to replace files, nothing that is run or recorded, and no selection, which would hide events unseen.
constexpr std::array<std::string_view, 14> kLooks = {"format", "color",     "names",      "top",     "sort",
                                                     "by",     "depth",     "definition", "by-rank", "class",
                                                     "quiet",  "operation", "progress",   "verbose"};

bool is_look(const std::string& name) { return std::find(kLooks.begin(), kLooks.end(), name) != kLooks.end(); }

// Empty when there is none.
std::string user_file() {
  const char* config_home = std::getenv("XDG_CONFIG_HOME");
  const char* home = std::getenv("HOME");
  if (config_home != nullptr && *config_home != '\0')
    return (fs::path(config_home) / "swinscope" / "config.toml").string();
  return home == nullptr ? "" : (fs::path(home) / ".config" / "swinscope" / "config.toml").string();
}

constexpr const char* kConfigHint =
    "write `option = value`, for one sub-command below its [name]; `swinscope analyze --help` lists the options";

[[noreturn]] void refuse(const std::string& file, const std::string& what, const std::string& cause = {}) {
  throw Error(ErrorKind::kUsage, fmt::format("{}: {}", file, what), cause, kConfigHint);
}

void set_default(const std::string& file, Option option, const Setting& setting) {
  if (setting.values.size() != 1 && !option.is_one_word_each()) {  // --class takes several
    refuse(file, fmt::format("{} takes one value", setting.name));
  }
  // Of several each is a line: a default is one value.
  const std::string value = fmt::format("{}", fmt::join(setting.values, "\n"));
  try {
    option.set_default(value);
  } catch (const OptionError& error) {
    refuse(file, fmt::format("{} = {}", setting.name, value), error.what());
  }
}

// An option below [name] is that of the sub-command; above all sections, of every sub-command that has it.
void apply(const std::string& file, const Program& program, const Setting& setting) {
  bool known = false;
  for (const auto& command : program.commands()) {
    const bool is_meant =
        setting.sections.empty() || (setting.sections.size() == 1 && setting.sections.front() == command->name());
    const std::optional<Option> option = command->find("--" + setting.name);
    if (!is_meant || !option) continue;
    known = true;
    set_default(file, *option, setting);
  }
  if (!known) refuse(file, fmt::format("there is no option '{}'", setting.full_name));
}

bool is_option_of_any(const Program& program, const Setting& setting) {
  return std::any_of(program.commands().begin(), program.commands().end(), [&](const auto& command) {
    const bool is_meant = setting.sections.empty() || setting.sections.front() == command->name();
    return is_meant && command->find("--" + setting.name);
  });
}

// The sub-command that it is for; empty: all of them, or one that does not exist.
std::string section_of(const Program& program, const Setting& setting) {
  const bool is_section = setting.sections.size() == 1 &&
                          std::any_of(program.commands().begin(), program.commands().end(),
                                      [&](const auto& command) { return command->name() == setting.sections.front(); });
  return is_section ? setting.sections.front() : "";
}

}  // namespace

ConfigFiles::ConfigFiles(const Program& program) {
  // The user's file first, so that the one in the working folder wins.
  read(user_file(), program, false);
  read(kFolderFile, program, true);
}

void ConfigFiles::read(const std::string& file, const Program& program, bool only_looks) {
  std::error_code none;
  if (file.empty() || !fs::is_regular_file(file, none)) return;
  std::vector<Setting> settings;
  try {
    if (fs::file_size(file, none) > kMostBytes) throw OptionError("it has more than 1 MiB");
    settings = read_settings(file);
  } catch (const OptionError& error) {
    mistakes_.push_back({"", {ErrorKind::kUsage, fmt::format("{}: cannot be read", file), error.what(), kConfigHint}});
  }
  for (const Setting& setting : settings) {
    try {
      if (only_looks && is_option_of_any(program, setting) && !is_look(setting.name)) {
        ignored_.push_back(
            {section_of(program, setting),
             fmt::format("{}: {} is ignored: the file of a folder sets how things look, and nothing else; "
                         "write it into {}",
                         file, setting.full_name, user_file())});
        continue;
      }
      apply(file, program, setting);
    } catch (const Error& error) {
      mistakes_.push_back({section_of(program, setting), error});
    }
  }
}

void ConfigFiles::report(const Program& program) const {
  const std::string command = program.chosen() == nullptr ? "" : program.chosen()->name();
  for (const Ignored& ignored : ignored_) {
    if (ignored.section.empty() || ignored.section == command) fmt::print(stderr, "warning: {}\n", ignored.warning);
  }
  // A program that is to run, runs.
  const bool goes_on = command == "doctor" || command == "record" || command == "launch";
  for (const Mistake& mistake : mistakes_) {
    if (!mistake.section.empty() && mistake.section != command) continue;
    if (!goes_on) throw mistake.error;
    const std::string& cause = mistake.error.cause();
    fmt::print(stderr, "warning: {}{}{}\n", mistake.error.what(), cause.empty() ? "" : ": ", cause);
  }
}

void refuse_wrong_variables(const Command& command) {
  for (const Option& option : command.options()) {
    const std::string variable = option.variable();
    const char* const value = variable.empty() ? nullptr : std::getenv(variable.c_str());
    if (option.is_given() || value == nullptr || *value == '\0') continue;
    throw Error(ErrorKind::kUsage, fmt::format("{}={}", variable, value),
                fmt::format("{} does not take this value", option.name()),
                fmt::format("`swinscope {} --help` says what it takes", command.name()));
  }
}

}  // namespace swinscope::cli
