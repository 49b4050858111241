#include "options/manual.h"

#include <algorithm>
#include <map>
#include <utility>

namespace swinscope {
namespace {

// With fewer, an option is described where it is used.
constexpr int kSeveral = 5;

std::string escaped(const std::string& text) {
  std::string out;
  for (const char letter : text) {
    if (letter == '\\') {
      out += "\\e";
      continue;
    }
    if (letter == '-') out += '\\';
    out += letter;
  }
  // A line that begins with one of these would be a request.
  return out.rfind('.', 0) == 0 || out.rfind('\'', 0) == 0 ? "\\&" + out : out;
}

std::string bold(const std::string& text) { return "\\fB" + escaped(text) + "\\fR"; }

// What stands for the value: "N", "NUMBER", "a|b".
std::string shown_value(const Option& option) {
  const std::vector<std::string> values = option.values();
  std::string joined;
  for (const std::string& value : values)
    joined += (joined.empty() ? "" : "|") + value;
  if (!values.empty()) return bold(joined);
  const std::string type = option.value_name();
  const std::string name = type == "INT" || type == "UINT" ? "N" : type == "FLOAT" ? "NUMBER" : type;
  return "\\fI" + escaped(name) + "\\fR";
}

std::vector<std::string> names_of(const Option& option) {
  std::vector<std::string> names = option.short_names();
  const std::vector<std::string> more = option.long_names();
  names.insert(names.end(), more.begin(), more.end());
  return names;
}

// Its tag: "-o, --output TEXT".
std::string tag(const Option& option) {
  if (option.is_positional()) return bold(option.name());
  std::string text;
  for (const std::string& name : names_of(option))
    text += (text.empty() ? "" : ", ") + bold(name);
  return option.takes_value() ? text + " " + shown_value(option) : text;
}

std::string entry(const Option& option) {
  std::string text = ".TP\n" + tag(option) + "\n" + escaped(option.description());
  if (!option.variable().empty()) text += " (variable " + bold(option.variable()) + ")";
  return text + "\n";
}

using Counts = std::map<std::string, int>;  // by entry

bool is_help(const Option& option) { return !option.is_positional() && option.long_names().front() == "--help"; }

Counts count_entries(const Program& program) {
  Counts counts;
  for (const auto& command : program.commands()) {
    for (const Option& option : command->options())
      ++counts[entry(option)];
  }
  return counts;
}

std::string part_of(const Command& command, const Counts& counts, std::vector<std::string>& shared) {
  std::string own;
  std::string more;
  for (const Option& option : command.options()) {
    if (is_help(option)) continue;
    const std::string text = entry(option);
    if (counts.at(text) < kSeveral) {
      own += text;
      continue;
    }
    more += (more.empty() ? "" : ", ") + bold(option.is_positional() ? option.name() : option.long_names().front());
    if (std::find(shared.begin(), shared.end(), text) == shared.end()) shared.push_back(text);
  }
  std::string part = ".SS " + command.name() + "\n" + escaped(command.description()) + ".\n" + own;
  if (!more.empty()) part += ".PP\nAlso " + more + ": see below.\n";
  return part;
}

}  // namespace

std::string options_manual(const Program& program) {
  const Counts counts = count_entries(program);
  std::vector<std::string> shared;
  std::string text;
  for (const auto& command : program.commands())
    text += part_of(*command, counts, shared);
  if (shared.empty()) return text;
  text += ".SS Options of several commands\n";
  for (const std::string& one : shared)
    text += one;
  return text;
}

}  // namespace swinscope
