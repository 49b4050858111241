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

void set_default(const std::string& file, CLI::Option& option, const CLI::ConfigItem& item) {
  const bool takes_several = option.get_items_expected_max() > 1 && !option.get_allow_extra_args();  // --class
  if (item.inputs.size() != 1 && !takes_several) refuse(file, fmt::format("{} takes one value", item.name));
  // Of several each is a line: a default is one value.
  const std::string value = fmt::format("{}", fmt::join(item.inputs, "\n"));
  try {
    option.run_callback_for_default()->default_val(value);
  } catch (const CLI::Error& error) {
    refuse(file, fmt::format("{} = {}", item.name, value), error.what());
  }
}

// An option below [name] is that of the sub-command; above all sections, of every sub-command that has it.
void apply(const std::string& file, CLI::App& app, const CLI::ConfigItem& item) {
  bool known = false;
  for (CLI::App* command : app.get_subcommands({})) {
    if (!item.parents.empty() && (item.parents.size() > 1 || item.parents.front() != command->get_name())) continue;
    CLI::Option* option = command->get_option_no_throw("--" + item.name);
    if (option == nullptr) continue;
    known = true;
    set_default(file, *option, item);
  }
  if (!known) refuse(file, fmt::format("there is no option '{}'", item.fullname()));
}

bool is_option_of_any(CLI::App& app, const CLI::ConfigItem& item) {
  const auto commands = app.get_subcommands({});
  return std::any_of(commands.begin(), commands.end(), [&](const CLI::App* command) {
    const bool is_meant = item.parents.empty() || item.parents.front() == command->get_name();
    return is_meant && command->get_option_no_throw("--" + item.name) != nullptr;
  });
}

// The sub-command that it is for; empty: all of them, or one that does not exist.
std::string section_of(const CLI::App& app, const CLI::ConfigItem& item) {
  const auto commands = app.get_subcommands([](const CLI::App*) { return true; });
  const bool is_section = item.parents.size() == 1 && std::any_of(commands.begin(), commands.end(), [&](const auto* c) {
                            return c->get_name() == item.parents.front();
                          });
  return is_section ? item.parents.front() : "";
}

bool is_section_mark(const CLI::ConfigItem& item) { return item.name == "++" || item.name == "--"; }

}  // namespace

ConfigFiles::ConfigFiles(CLI::App& app) {
  // The user's file first, so that the one in the working folder wins.
  read(user_file(), app, false);
  read(kFolderFile, app, true);
}

void ConfigFiles::read(const std::string& file, CLI::App& app, bool only_looks) {
  std::error_code none;
  if (file.empty() || !fs::is_regular_file(file, none)) return;
  std::vector<CLI::ConfigItem> items;
  try {
    items = CLI::ConfigTOML().from_file(file);
  } catch (const CLI::Error& error) {
    mistakes_.push_back({"", {ErrorKind::kUsage, fmt::format("{}: cannot be read", file), error.what(), kConfigHint}});
  }
  for (const CLI::ConfigItem& item : items) {
    if (is_section_mark(item)) continue;
    try {
      if (only_looks && is_option_of_any(app, item) && !is_look(item.name)) {
        ignored_.push_back(
            {section_of(app, item),
             fmt::format("{}: {} is ignored: the file of a folder sets how things look, and nothing else; "
                         "write it into {}",
                         file, item.fullname(), user_file())});
        continue;
      }
      apply(file, app, item);
    } catch (const Error& error) {
      mistakes_.push_back({section_of(app, item), error});
    }
  }
}

void ConfigFiles::report(const CLI::App& app) const {
  const auto chosen = app.get_subcommands();
  const std::string command = chosen.empty() ? "" : chosen.front()->get_name();
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

void refuse_wrong_variables(const CLI::App& app) {
  for (const CLI::App* command : app.get_subcommands()) {
    for (const CLI::Option* option : command->get_options()) {
      const std::string variable = option->get_envname();
      const char* const value = variable.empty() ? nullptr : std::getenv(variable.c_str());
      if (option->count() > 0 || value == nullptr || *value == '\0') continue;
      throw Error(ErrorKind::kUsage, fmt::format("{}={}", variable, value),
                  fmt::format("{} does not take this value", option->get_name()),
                  fmt::format("`swinscope {} --help` says what it takes", command->get_name()));
    }
  }
}

}  // namespace swinscope::cli
