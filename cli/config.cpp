// Settings from files. They become the defaults of the options, so that SWINSCOPE_* and the command line win over them;
// CLI11's own reading of files would win over the environment.
#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/command.h"
#include "store/error.h"

namespace swinscope::cli {
namespace {

namespace fs = std::filesystem;

// The user's file first, so that the one in the working directory wins.
std::vector<fs::path> config_files() {
  const char* config_home = std::getenv("XDG_CONFIG_HOME");
  const char* home = std::getenv("HOME");
  std::vector<fs::path> files;
  if (config_home != nullptr && *config_home != '\0') {
    files.push_back(fs::path(config_home) / "swinscope" / "config.toml");
  } else if (home != nullptr) {
    files.push_back(fs::path(home) / ".config" / "swinscope" / "config.toml");
  }
  files.emplace_back(".swinscope.toml");
  std::error_code ignored;
  files.erase(
      std::remove_if(files.begin(), files.end(), [&](const fs::path& f) { return !fs::is_regular_file(f, ignored); }),
      files.end());
  return files;
}

[[noreturn]] void refuse(const fs::path& file, const std::string& what, const std::string& cause = {}) {
  throw Error(
      ErrorKind::kUsage, fmt::format("{}: {}", file.string(), what), cause,
      "write `option = value`, for one sub-command below its [name]; `swinscope analyze --help` lists the options");
}

void set_default(const fs::path& file, CLI::Option& option, const CLI::ConfigItem& item) {
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
void apply(const fs::path& file, CLI::App& app, const CLI::ConfigItem& item) {
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

bool is_section_mark(const CLI::ConfigItem& item) { return item.name == "++" || item.name == "--"; }

}  // namespace

void apply_config_files(CLI::App& app) {
  for (const fs::path& file : config_files()) {
    try {
      for (const CLI::ConfigItem& item : CLI::ConfigTOML().from_file(file.string())) {
        if (!is_section_mark(item)) apply(file, app, item);
      }
    } catch (const CLI::Error& error) {
      refuse(file, "cannot be read", error.what());
    }
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
