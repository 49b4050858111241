#include "store/shell.h"

#include <algorithm>
#include <cctype>
#include <string_view>

namespace swinscope {
namespace {

bool needs_no_quotes(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
         std::string_view("-_./=:,+@%").find(c) != std::string_view::npos;
}

}  // namespace

std::string shell_word(const std::string& text) {
  if (!text.empty() && std::all_of(text.begin(), text.end(), needs_no_quotes)) return text;
  std::string word = "'";
  for (const char c : text) {
    if (c == '\'') {
      word += "'\\''";
    } else {
      word += c;
    }
  }
  return word + "'";
}

std::string path_argument(const std::string& path) {
  return shell_word(!path.empty() && path.front() == '-' ? "./" + path : path);
}

}  // namespace swinscope
