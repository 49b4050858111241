// The command lines of our programs: commands with options, their help, and what is wrong with the words that were
// given. CLI11 does the work, behind this header, since each source that includes it takes 30 s to compile.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace swinscope {

// A word, a default or a file is not as it has to be; what() says why.
class OptionError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// An option, flag or positional word of a command; valid as long as its program. What says more of it can be strung
// together.
class Option {
 public:
  explicit Option(CLI::Option* option) : option_(option) {}

  Option required() const;
  // What it takes. `within`, both ends included, is there for int, std::int64_t and double.
  Option one_of(const std::vector<std::string>& values) const;
  Option also_called(const std::string& word, const std::string& meant) const;  // another word for one of these
  template <typename T>
  Option within(T low, T high) const;
  Option positive() const;
  Option not_negative() const;
  Option size_in_bytes() const;  // "2G"
  Option separated_by(char mark) const;
  Option one_word_each() const;  // given several times, each with one word
  Option excludes(Option other) const;
  // An environment variable that stands for it where it is not given.
  Option variable(const std::string& name) const;
  // How help shows it.
  Option description(const std::string& text) const;
  Option group(const std::string& title) const;
  Option value_name(const std::string& name) const;
  Option show_default() const;

  // As if the value had been written in the program, and shown by help. Throws OptionError.
  void set_default(const std::string& value) const;

  bool is_given() const;
  bool takes_value() const;
  bool is_one_word_each() const;  // and takes several
  std::string name() const;       // as messages call it
  std::string variable() const;
  std::string text() const;                      // its value as it was given, also by a variable; "" where it was not
  std::vector<std::string> long_names() const;   // with their --
  std::vector<std::string> short_names() const;  // with their -
  bool is_positional() const;
  std::string description() const;
  std::string value_name() const;           // "TEXT", "INT"; what it may be is not said
  std::vector<std::string> values() const;  // those of one_of(); empty: any

 private:
  CLI::Option* option_;
};

// A sub-command.
class Command {
 public:
  explicit Command(CLI::App& app) : app_(app) {}
  Command(const Command&) = delete;
  Command& operator=(const Command&) = delete;
  Command(Command&&) = delete;
  Command& operator=(Command&&) = delete;
  ~Command() = default;

  // `names`: "-o,--output", or "RUN" for a positional word. `value` is what holds without the option, lives as long as
  // the program, and is a string, path or number, or a std::optional or std::vector of them (options.cpp lists them).
  template <typename T>
  Option option(const std::string& names, T& value, const std::string& description = {});
  Option flag(const std::string& names, bool& value, const std::string& description = {});
  void accept_any_words();
  void set_footer(const std::string& text);  // behind its options, in its help
  // What it does, once its words were read; returns the exit status.
  void does(std::function<int()> action) { action_ = std::move(action); }
  int run() const { return action_(); }

  const std::string& name() const;
  std::string description() const;
  std::vector<Option> options() const;
  // By one of its names: "--output", "RUN". `get` is for one that there is.
  std::optional<Option> find(const std::string& name) const;
  Option get(const std::string& name) const;
  void remove(const std::string& name);

 private:
  CLI::App& app_;
  std::function<int()> action_;
};

// A program of commands, of which one is to be given.
class Program {
 public:
  Program(const std::string& name, const std::string& description);
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;
  Program(Program&&) = delete;
  Program& operator=(Program&&) = delete;
  ~Program();

  void set_version(const std::string& text);  // for -V and --version
  void set_footer(const std::string& text);
  Command& add_command(const std::string& name, const std::string& description);

  const std::string& name() const;
  const std::vector<std::unique_ptr<Command>>& commands() const { return commands_; }
  std::vector<Option> options() const;  // before a command
  // The command that the words name; also of words that were refused. nullptr: none.
  const Command* chosen() const;

  // Gives the options their values. Returns whether a command is to run: not after --help and --version, for which it
  // prints. Throws OptionError for words that it refuses.
  bool parse(const std::vector<std::string>& words);

 private:
  std::unique_ptr<CLI::App> app_;
  std::vector<std::unique_ptr<Command>> commands_;
};

// A line of a TOML file: `name = values`, below [section].
struct Setting {
  std::vector<std::string> sections;  // of [a.b] two
  std::string name;
  std::vector<std::string> values;
  std::string full_name;  // "section.name"
};

// Throws OptionError.
std::vector<Setting> read_settings(const std::string& file);

// The words of a line as a shell splits it: ' and " keep spaces, a backslash the character behind it. Throws
// OptionError where a quote is not closed.
std::vector<std::string> split_words(const std::string& line);

}  // namespace swinscope
