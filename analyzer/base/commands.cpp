#include "analyzer/base/commands.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <tuple>

#include <fmt/format.h>

namespace swinscope {
namespace {

// A positional word, or an option with the values behind it.
struct Group {
  std::string option;  // empty: positional
  std::string text;
  bool operator==(const Group&) const = default;
  bool operator<(const Group& other) const { return std::tie(option, text) < std::tie(other.option, other.text); }
};

bool is_option(const std::string& word) {
  return word.size() > 1 && word[0] == '-' && word.find_first_of("0123456789.") != 1;
}

// "--level=eager" is "--level eager".
std::vector<Group> groups_of(const std::vector<std::string>& command) {
  std::vector<Group> groups;
  for (const std::string& word : command) {
    if (is_option(word)) {
      const std::size_t equals = word.find('=');
      groups.push_back({word.substr(0, equals), word.substr(0, equals)});
      if (equals != std::string::npos) groups.back().text += " " + word.substr(equals + 1);
    } else if (!groups.empty() && !groups.back().option.empty()) {
      groups.back().text += " " + word;
    } else {
      groups.push_back({"", word});
    }
  }
  return groups;
}

bool says_where(const Group& group) {
  constexpr std::array<std::string_view, 5> kOutputs = {"-o", "--output", "--out", "--checkpoint", "--log-dir"};
  return std::ranges::find(kOutputs, group.option) != kOutputs.end();
}

std::string program_name(const std::string& word) { return word.substr(word.rfind('/') + 1); }

// What the work is: positional words, the program without its folder, and the options that name it.
std::vector<std::string> task_words(const std::vector<std::string>& command) {
  constexpr std::array<std::string_view, 9> kNames = {"--model", "--task",   "--arch",    "--architecture", "-a",
                                                      "--data",  "--config", "--dataset", "--image"};
  std::vector<std::string> task;
  for (const Group& group : groups_of(command)) {
    if (group.option.empty()) task.push_back(program_name(group.text));
    if (std::ranges::find(kNames, group.option) != kNames.end()) task.push_back(group.text);
  }
  return task;
}

std::multiset<std::string> task_of(const std::vector<std::string>& command) {
  const std::vector<std::string> words = task_words(command);
  return {words.begin(), words.end()};
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words)
    text += (text.empty() ? "" : " ") + word;
  return text;
}

}  // namespace

std::vector<std::string> split_command(std::string_view line) {
  std::vector<std::string> words;
  bool in_word = false;
  char quote = '\0';
  for (std::size_t i = 0; i < line.size(); ++i) {
    char c = line[i];
    if (quote == '\0' && c == ' ') {
      in_word = false;
      continue;
    }
    if (!in_word) words.emplace_back();
    in_word = true;
    if (c == quote) {
      quote = '\0';
    } else if (quote == '\0' && (c == '\'' || c == '"')) {
      quote = c;
    } else {
      if (c == '\\' && quote != '\'' && i + 1 < line.size()) c = line[++i];
      words.back() += c;
    }
  }
  return words;
}

std::vector<std::string> telling_parts(const std::vector<std::vector<std::string>>& commands) {
  std::vector<std::vector<Group>> all;
  std::map<Group, std::size_t> uses;
  for (const std::vector<std::string>& command : commands) {
    all.push_back(groups_of(command));
    const std::set<Group> own(all.back().begin(), all.back().end());
    for (const Group& group : own)
      ++uses[group];
  }
  std::vector<std::string> parts;
  for (const std::vector<Group>& groups : all) {
    std::string& part = parts.emplace_back();
    for (const Group& group : groups) {
      if (says_where(group) || uses[group] == commands.size()) continue;
      part += (part.empty() ? "" : " ") + group.text;
    }
  }
  return parts;
}

bool are_unlike_tasks(const std::vector<std::string>& a, const std::vector<std::string>& b) {
  return !a.empty() && !b.empty() && task_of(a) != task_of(b);
}

std::string difference_text(const std::string& name, const std::vector<std::string>& command,
                            const std::string& base_name, const std::vector<std::string>& base_command) {
  const std::vector<std::string> parts = telling_parts({base_command, command});
  const auto named = [](const std::string& part) {
    return part.empty() ? "nothing beside" : fmt::format("`{}`", part);
  };
  return fmt::format("{} has {}, {} (the base) has {}", name, named(parts[1]), base_name, named(parts[0]));
}

std::string task_text(const std::vector<std::string>& command) { return joined(task_words(command)); }

std::string batch_text(const std::vector<std::string>& command) {
  std::vector<std::string> words;
  for (const Group& group : groups_of(command)) {
    const bool is_short = group.option == "-b" || group.option == "--bs";
    if (is_short || group.option.find("batch") != std::string::npos) words.push_back(group.text);
  }
  return joined(words);
}

}  // namespace swinscope
