#include "collector/base/recorded_command.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>
#include <utility>

#include "collector/base/proc_files.h"

namespace swinscope {
namespace {

constexpr const char* kHidden = "***";

// The name of an option or of a variable: letters, digits and what joins words.
bool is_name(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '_' || c == '.';
  });
}

// scheme://user:password@host
void hide_password_of_address(std::string& argument) {
  const std::size_t scheme = argument.find("://");
  if (scheme == std::string::npos) return;
  const std::size_t begin = scheme + 3;
  const std::size_t at = argument.find_last_of('@', argument.find('/', begin));
  const std::size_t colon = argument.find(':', begin);
  if (at != std::string::npos && colon != std::string::npos && at > colon && at > begin)
    argument.replace(colon + 1, at - colon - 1, kHidden);
}

}  // namespace

bool names_a_secret(std::string_view name) {
  constexpr std::array<std::string_view, 12> kSecrets = {"token",      "secret",  "passw",     "passphrase",
                                                         "apikey",     "api-key", "api_key",   "authoriz",
                                                         "credential", "cookie",  "signature", "private-key"};
  std::string lower(name);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](char c) { return static_cast<char>(std::tolower(static_cast<unsigned char>(c))); });
  // How text is cut into tokens is no secret.
  if (lower.find("tokenize") != std::string::npos || lower.find("tokens") != std::string::npos) return false;
  return std::any_of(kSecrets.begin(), kSecrets.end(),
                     [&](std::string_view part) { return lower.find(part) != std::string::npos; });
}

std::vector<std::string> without_secrets(std::vector<std::string> arguments) {
  bool is_value = false;
  for (std::string& argument : arguments) {
    const bool is_option = argument.size() > 1 && argument.front() == '-';
    const std::size_t equals = argument.find('=');
    const std::string_view name = std::string_view(argument).substr(0, equals);
    if (is_value && !is_option) {
      argument = kHidden;
      is_value = false;
      continue;
    }
    is_value = false;
    if (is_name(name) && names_a_secret(name)) {
      if (equals != std::string::npos) argument.replace(equals + 1, std::string::npos, kHidden);
      is_value = is_option && equals == std::string::npos;
    }
    hide_password_of_address(argument);
  }
  return arguments;
}

std::string recorded_command(std::vector<std::string> arguments) {
  return shell_text(without_secrets(std::move(arguments)));
}

}  // namespace swinscope
