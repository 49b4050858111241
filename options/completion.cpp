#include "options/completion.h"

#include <cstdio>
#include <memory>

#include "options/manual.h"

namespace swinscope {
namespace {

using Words = std::vector<std::string>;

Words names_of(const Option& option) {
  Words names = option.short_names();
  const Words more = option.long_names();
  names.insert(names.end(), more.begin(), more.end());
  return names;
}

std::string join(const Words& words, const std::string& between) {
  std::string text;
  for (const std::string& word : words)
    text += (text.empty() ? "" : between) + word;
  return text;
}

// Within '…' of every shell: what ends the quote, and then what `special` names, behind a backslash.
std::string quoted(const std::string& text, const std::string& special = {}) {
  std::string out;
  for (const char letter : text) {
    if (letter == '\'') {
      out += "'\\''";
      continue;
    }
    if (special.find(letter) != std::string::npos) out += '\\';
    out += letter;
  }
  return out;
}

Words command_names(const Program& program) {
  Words names;
  for (const auto& command : program.commands())
    names.push_back(command->name());
  return names;
}

// Options in front, "RUN" and the like not.
std::vector<Option> named_options(const Command& command) {
  std::vector<Option> named;
  for (const Option& option : command.options()) {
    if (!option.is_positional()) named.push_back(option);
  }
  return named;
}

// "      --format) values='table json' ;;": what stands behind an option; "-" for a file's name.
std::string bash_values(const Command& command) {
  std::string lines;
  for (const Option& option : named_options(command)) {
    if (!option.takes_value()) continue;
    const Words values = option.values();
    lines += "        " + join(names_of(option), " | ") + ") values='" +
             quoted(values.empty() ? "-" : join(values, " ")) + "' ;;\n";
  }
  return lines.empty() ? lines : "      case $previous in\n" + lines + "      esac\n";
}

std::string bash_case(const Command& command) {
  Words names;
  for (const Option& option : named_options(command)) {
    for (const std::string& name : names_of(option))
      names.push_back(name);
  }
  Words plain;  // a positional word that is one of a few
  for (const Option& option : command.options()) {
    if (option.is_positional()) plain = option.values();
  }
  std::string text = "    " + command.name() + ")\n      options='" + join(names, " ") + "'\n";
  if (!plain.empty()) text += "      words='" + quoted(join(plain, " ")) + "'\n";
  return text + bash_values(command) + "      ;;\n";
}

std::string zsh_action(const Option& option) {
  const Words values = option.values();
  return values.empty() ? "_files" : "(" + join(values, " ") + ")";
}

// "'(-o --output)'{-o,--output}'[text]: :_files'".
std::string zsh_option(const Option& option) {
  const Words names = names_of(option);
  const std::string text = "[" + quoted(option.description(), "[]\\") + "]";
  const std::string action = option.takes_value() ? ": :" + quoted(zsh_action(option)) : "";
  if (names.size() == 1) return "'" + names.front() + text + action + "'";
  return "'(" + join(names, " ") + ")'{" + join(names, ",") + "}'" + text + action + "'";
}

std::string zsh_case(const Command& command) {
  std::string text = "        " + command.name() + ")\n          _arguments -S";
  std::string plain = "_files";
  for (const Option& option : command.options()) {
    if (option.is_positional())
      plain = zsh_action(option);
    else
      text += " \\\n            " + zsh_option(option);
  }
  return text + " \\\n            '*: :" + quoted(plain) + "'\n          ;;\n";
}

std::string fish_option(const std::string& start, const Option& option) {
  std::string line = start;
  for (const std::string& name : option.short_names())
    line += " -s " + name.substr(1);
  for (const std::string& name : option.long_names())
    line += " -l " + name.substr(2);
  const Words values = option.values();
  if (!values.empty())
    line += " -x -a '" + quoted(join(values, " ")) + "'";
  else if (option.takes_value())
    line += " -r";
  return line + " -d '" + quoted(option.description(), "\\") + "'\n";
}

}  // namespace

std::string bash_completion(const Program& program) {
  const std::string& name = program.name();
  std::string text =
      "# Completions of " + name + " for bash, written by `" + name + " completion bash`.\n_" + name + "() {\n" +
      R"(  local word=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]} command='' options='' words='' values='' i
  # --format=json is three words to bash.
  if [[ $word == '=' ]]; then
    word=''
  elif [[ $previous == '=' ]]; then
    previous=${COMP_WORDS[COMP_CWORD - 2]}
  fi
  for ((i = 1; i < COMP_CWORD; i++)); do
    [[ ${COMP_WORDS[i]} == -- ]] && return # the command line of another program
    case ${COMP_WORDS[i]} in
)" + "      " +
      join(command_names(program), " | ") +
      R"()
        command=${command:-${COMP_WORDS[i]}}
        ;;
    esac
  done
  case $command in
    '')
      options='--help --version'
      words='help )" +
      join(command_names(program), " ") + "'\n      ;;\n";
  for (const auto& command : program.commands())
    text += bash_case(*command);
  return text + R"(  esac
  if [[ $values == - ]]; then
    COMPREPLY=() # a file: by bash's own default
  elif [[ -n $values ]]; then
    COMPREPLY=($(compgen -W "$values" -- "$word"))
  elif [[ $word == -* ]]; then
    COMPREPLY=($(compgen -W "$options" -- "$word"))
  else
    COMPREPLY=($(compgen -W "$words" -- "$word"))
  fi
}
complete -o default -F _)" +
         name + " " + name + "\n";
}

std::string zsh_completion(const Program& program) {
  const std::string& name = program.name();
  std::string text = "#compdef " + name + "\n# Completions of " + name + " for zsh, written by `" + name +
                     " completion zsh`.\n_" + name + "() {\n" +
                     R"(  local curcontext=$curcontext state line
  typeset -A opt_args
  local -a commands=(
)";
  for (const auto& command : program.commands())
    text += "    '" + command->name() + ":" + quoted(command->description(), "\\:") + "'\n";
  text += R"(  )
  _arguments -C '(- *)'{-h,--help}'[Help]' '(- *)'{-V,--version}'[Version]' '1: :->command' '*:: :->arguments'
  case $state in
    command) _describe -t commands command commands ;;
    arguments)
      case $words[1] in
)";
  for (const auto& command : program.commands())
    text += zsh_case(*command);
  return text + "      esac\n      ;;\n  esac\n}\n_" + name + " \"$@\"\n";
}

std::string fish_completion(const Program& program) {
  const std::string& name = program.name();
  const std::string start = "complete -c " + name;
  std::string text = "# Completions of " + name + " for fish, written by `" + name + " completion fish`.\n";
  for (const auto& command : program.commands()) {
    text += start + " -n __fish_use_subcommand -f -a " + command->name() + " -d '" +
            quoted(command->description(), "\\") + "'\n";
  }
  for (const auto& command : program.commands()) {
    const std::string within = start + " -n '__fish_seen_subcommand_from " + command->name() + "'";
    for (const Option& option : command->options()) {
      if (!option.is_positional())
        text += fish_option(within, option);
      else if (!option.values().empty())
        text += within + " -f -a '" + quoted(join(option.values(), " ")) + "'\n";
    }
  }
  return text;
}

void add_completion(Program& program) {
  auto shell = std::make_shared<std::string>();
  Command& command =
      program.add_command("completion", "Print completions for a shell, or the options of the manual page");
  command.option("SHELL", *shell, "bash, zsh or fish; man: the section OPTIONS of the manual page, in roff")
      .one_of({"bash", "zsh", "fish", "man"})
      .required();
  command.does([&program, shell] {
    const std::string text = *shell == "bash"   ? bash_completion(program)
                             : *shell == "zsh"  ? zsh_completion(program)
                             : *shell == "fish" ? fish_completion(program)
                                                : options_manual(program);
    std::fputs(text.c_str(), stdout);
    return std::fflush(stdout) == 0 ? 0 : 1;
  });
}

}  // namespace swinscope
