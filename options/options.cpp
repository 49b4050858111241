// The only source that includes CLI11; tests/unit/house/ sees to that.
#include "options/options.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <sstream>

#include <CLI/CLI.hpp>

namespace swinscope {
namespace {

// The validator by which values() finds again what one_of() was given.
constexpr const char* kOneOf = "one of";

// The words of CLI11's own checks for numbers differ between its versions.
template <typename T, typename Judge>
auto check_of(const Judge& judge) {
  return [judge](const std::string& text) {
    T value{};
    if (!CLI::detail::lexical_cast(text, value) || std::isnan(static_cast<double>(value)))
      return text + " is no number";
    const std::string wrong = judge(value);
    return wrong.empty() ? wrong : text + wrong;
  };
}

std::string wrong_size(double value, bool is_enough) {
  if (!is_enough) return " is too small";
  return std::isfinite(value) ? "" : " is too large";
}

std::vector<Option> options_of(CLI::App& app) {
  std::vector<Option> options;
  for (CLI::Option* option : app.get_options())
    options.emplace_back(option);
  return options;
}

}  // namespace

Option Option::required() const { return Option(option_->required()); }

Option Option::one_of(const std::vector<std::string>& values) const {
  return Option(option_->check(CLI::IsMember(values), kOneOf));
}

Option Option::also_called(const std::string& word, const std::string& meant) const {
  return Option(
      option_->transform([word, meant](const std::string& given) { return given == word ? meant : given; }, ""));
}

template <typename T>
Option Option::within(T low, T high) const {
  std::ostringstream range;
  range << low << " to " << high;
  const auto judge = [low, high, shown = range.str()](T value) {
    return value >= low && value <= high ? "" : " is not in the range " + shown;
  };
  return Option(option_->check(check_of<T>(judge), range.str()));
}

Option Option::positive() const {
  return Option(
      option_->check(check_of<double>([](double value) { return wrong_size(value, value > 0); }), "POSITIVE"));
}

Option Option::not_negative() const {
  return Option(
      option_->check(check_of<double>([](double value) { return wrong_size(value, value >= 0); }), "NONNEGATIVE"));
}

Option Option::size_in_bytes() const { return Option(option_->transform(CLI::AsSizeValue(false))); }

Option Option::separated_by(char mark) const { return Option(option_->delimiter(mark)); }

Option Option::one_word_each() const { return Option(option_->allow_extra_args(false)); }

Option Option::excludes(Option other) const { return Option(option_->excludes(other.option_)); }

Option Option::variable(const std::string& name) const { return Option(option_->envname(name)); }

Option Option::description(const std::string& text) const { return Option(option_->description(text)); }

Option Option::group(const std::string& title) const { return Option(option_->group(title)); }

Option Option::value_name(const std::string& name) const { return Option(option_->type_name(name)); }

Option Option::show_default() const { return Option(option_->capture_default_str()); }

void Option::set_default(const std::string& value) const try {
  option_->run_callback_for_default()->default_val(value);
} catch (const CLI::Error& error) {
  throw OptionError(error.what());
}

bool Option::is_given() const { return option_->count() > 0; }

bool Option::takes_value() const { return option_->get_items_expected_max() > 0; }

bool Option::is_one_word_each() const {
  return option_->get_items_expected_max() > 1 && !option_->get_allow_extra_args();
}

std::string Option::name() const { return option_->get_name(); }

std::string Option::text() const { return option_->count() > 0 ? option_->results().back() : std::string(); }

std::string Option::variable() const { return option_->get_envname(); }

std::vector<std::string> Option::long_names() const {
  std::vector<std::string> names;
  for (const std::string& name : option_->get_lnames())
    names.push_back("--" + name);
  return names;
}

std::vector<std::string> Option::short_names() const {
  std::vector<std::string> names;
  for (const std::string& name : option_->get_snames())
    names.push_back("-" + name);
  return names;
}

bool Option::is_positional() const { return option_->get_positional(); }

std::string Option::description() const { return option_->get_description(); }

std::string Option::value_name() const {
  const std::string shown = option_->get_type_name();
  return shown.substr(0, shown.find(':'));
}

std::vector<std::string> Option::values() const try {
  const std::string shown = option_->get_validator(kOneOf)->get_description();  // "{table,json}"
  return CLI::detail::split(shown.substr(1, shown.size() - 2), ',');
} catch (const CLI::OptionNotFound&) {
  return {};
}

template <typename T>
Option Command::option(const std::string& names, T& value, const std::string& description) {
  return Option(app_.add_option(names, value, description));
}

Option Command::flag(const std::string& names, bool& value, const std::string& description) {
  return Option(app_.add_flag(names, value, description));
}

void Command::set_footer(const std::string& text) { app_.footer(text); }

void Command::accept_any_words() { app_.allow_extras(); }

const std::string& Command::name() const { return app_.get_name(); }

std::string Command::description() const { return app_.get_description(); }

std::vector<Option> Command::options() const { return options_of(app_); }

std::optional<Option> Command::find(const std::string& name) const {
  CLI::Option* const found = app_.get_option_no_throw(name);
  return found == nullptr ? std::nullopt : std::optional(Option(found));
}

Option Command::get(const std::string& name) const { return Option(app_.get_option(name)); }

void Command::remove(const std::string& name) { app_.remove_option(app_.get_option(name)); }

Program::Program(const std::string& name, const std::string& description)
    : app_(std::make_unique<CLI::App>(description, name)) {
  app_->require_subcommand(1);
}

Program::~Program() = default;

void Program::set_version(const std::string& text) { app_->set_version_flag("-V,--version", text); }

void Program::set_footer(const std::string& text) { app_->footer(text); }

const std::string& Program::name() const { return app_->get_name(); }

Command& Program::add_command(const std::string& name, const std::string& description) {
  commands_.push_back(std::make_unique<Command>(*app_->add_subcommand(name, description)));
  return *commands_.back();
}

std::vector<Option> Program::options() const { return options_of(*app_); }

const Command* Program::chosen() const {
  const auto named = app_->get_subcommands();
  if (named.empty()) return nullptr;
  const auto is_named = [&](const auto& command) { return command->name() == named.front()->get_name(); };
  return std::find_if(commands_.begin(), commands_.end(), is_named)->get();
}

bool Program::parse(const std::vector<std::string>& words) {
  try {
    app_->parse(std::vector<std::string>(words.rbegin(), words.rend()));
    return true;
  } catch (const CLI::ParseError& error) {
    // --help and --version end in such an error too.
    if (error.get_exit_code() != 0) throw OptionError(error.what());
    app_->exit(error);
    return false;
  }
}

std::vector<Setting> read_settings(const std::string& file) try {
  std::vector<Setting> settings;
  for (const CLI::ConfigItem& item : CLI::ConfigTOML().from_file(file)) {
    const bool is_section_mark = item.name == "++" || item.name == "--";
    if (!is_section_mark) settings.push_back({item.parents, item.name, item.inputs, item.fullname()});
  }
  return settings;
} catch (const CLI::Error& error) {
  throw OptionError(error.what());
}

// CLI11 2.4 leaves quotes where they are, which 2.1 removes, and neither knows them within a word.
std::vector<std::string> split_words(const std::string& line) {
  std::vector<std::string> words;
  bool is_in_word = false;
  char quote = '\0';
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (quote == '\0' && std::isspace(static_cast<unsigned char>(c)) != 0) {
      is_in_word = false;
      continue;
    }
    if (!is_in_word) words.emplace_back();
    is_in_word = true;
    if (quote != '\0' && c == quote) {
      quote = '\0';
    } else if (quote == '\0' && (c == '\'' || c == '"')) {
      quote = c;
    } else if (c == '\\' && quote != '\'' && i + 1 < line.size()) {
      words.back() += line[++i];
    } else {
      words.back() += c;
    }
  }
  if (quote != '\0') throw OptionError(std::string("a ") + quote + " is not closed");
  return words;
}

template Option Option::within(int, int) const;
template Option Option::within(std::int64_t, std::int64_t) const;
template Option Option::within(double, double) const;

template Option Command::option(const std::string&, std::string&, const std::string&);
template Option Command::option(const std::string&, std::filesystem::path&, const std::string&);
template Option Command::option(const std::string&, int&, const std::string&);
template Option Command::option(const std::string&, std::int64_t&, const std::string&);
template Option Command::option(const std::string&, std::uint64_t&, const std::string&);
template Option Command::option(const std::string&, double&, const std::string&);
template Option Command::option(const std::string&, std::optional<int>&, const std::string&);
template Option Command::option(const std::string&, std::optional<std::int64_t>&, const std::string&);
template Option Command::option(const std::string&, std::optional<std::uint64_t>&, const std::string&);
template Option Command::option(const std::string&, std::optional<double>&, const std::string&);
template Option Command::option(const std::string&, std::vector<std::string>&, const std::string&);
template Option Command::option(const std::string&, std::vector<int>&, const std::string&);
template Option Command::option(const std::string&, std::vector<std::int64_t>&, const std::string&);

}  // namespace swinscope
