#include "store/kernel_name.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <memory>

#include <cxxabi.h>

namespace swinscope {
namespace {

bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }

// Index of the ')' that closes the '(' at `open`, or the name's last one.
std::size_t closing_parenthesis(std::string_view name, std::size_t open) {
  int depth = 0;
  for (std::size_t i = open; i < name.size(); ++i) {
    if (name[i] == '(') ++depth;
    if (name[i] == ')' && --depth == 0) return i;
  }
  return name.size() - 1;
}

// Index behind the matching '>' of the '<' at `open`, or npos. What stands in parentheses compares: "((8)>(0))".
std::size_t skip_template_arguments(std::string_view name, std::size_t open) {
  int depth = 0;
  for (std::size_t i = open; i < name.size(); ++i) {
    if (name[i] == '(') i = closing_parenthesis(name, i);
    if (name[i] == '<') ++depth;
    if (name[i] == '>' && i > 0 && name[i - 1] != '-' && --depth == 0) return i + 1;
  }
  return std::string_view::npos;
}

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  for (std::size_t i = text.find(from); i != std::string::npos; i = text.find(from, i + to.size()))
    text.replace(i, from.size(), to);
}

std::string demangle(const std::string& symbol) {
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> text(abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &status),
                                                         &std::free);
  return text == nullptr ? std::string() : std::string(text.get());
}

// AMD's symbols of kernel descriptors end so.
std::string_view without_descriptor_suffix(std::string_view symbol) {
  symbol = symbol.substr(0, symbol.find(' '));
  if (symbol.ends_with(".kd")) symbol.remove_suffix(3);
  return symbol;
}

// Reads the identifiers of a symbol from left to right and passes over all else.
class SymbolScanner {
 public:
  explicit SymbolScanner(std::string_view symbol) : symbol_(symbol) {}

  SymbolIdentifiers scan() {
    SymbolIdentifiers found;
    std::vector<std::string> function;  // what stands before the first template argument
    bool in_arguments = false;
    for (at_ = 2; at_ < symbol_.size();) {
      const char c = symbol_[at_];
      if (is_digit(c)) {
        std::string identifier = read_identifier();
        const bool is_anonymous = identifier.starts_with("_GLOBAL__N_");
        if (!identifier.empty() && !is_anonymous) (in_arguments ? found.arguments : function).push_back(identifier);
      } else if (c == 'I' && !function.empty()) {
        in_arguments = true;
        ++at_;
      } else if (c == 'E' && !in_arguments && !function.empty()) {
        break;  // the parameters follow
      } else {
        skip();
      }
    }
    if (function.empty()) return found;
    found.base = std::move(function.back());
    function.pop_back();
    found.scopes = std::move(function);
    return found;
  }

 private:
  // <length><text>; what is left of it in a symbol that was cut off.
  std::string read_identifier() {
    std::size_t length = 0;
    for (; at_ < symbol_.size() && is_digit(symbol_[at_]); ++at_)
      length = std::min<std::size_t>(length * 10 + static_cast<std::size_t>(symbol_[at_] - '0'), symbol_.size());
    std::string identifier(symbol_.substr(at_, length));
    at_ += identifier.size();
    return identifier;
  }

  void skip_to(char end) {
    while (at_ < symbol_.size() && symbol_[at_] != end)
      ++at_;
    ++at_;
  }

  // Numbers that are no lengths: literals (Li256E), substitutions (S1_), types of a width (DF16_, DF16b).
  void skip() {
    const char c = symbol_[at_];
    const char next = at_ + 1 < symbol_.size() ? symbol_[at_ + 1] : '\0';
    if (c == 'L' && std::islower(static_cast<unsigned char>(next)) != 0) {
      skip_to('E');
    } else if ((c == 'S' || c == 'T') && (next == '_' || is_digit(next) || (c == 'S' && std::isupper(next) != 0))) {
      skip_to('_');
    } else if (c == 'D' && next == 'F') {
      at_ += 2;
      while (at_ < symbol_.size() && is_digit(symbol_[at_]))
        ++at_;
      ++at_;
    } else {
      ++at_;
    }
  }

  std::string_view symbol_;
  std::size_t at_ = 0;
};

std::string base_name(std::string_view demangled) {
  constexpr std::string_view kAnonymous = "(anonymous namespace)";
  std::string base;
  std::size_t i = 0;
  while (i < demangled.size()) {
    const char c = demangled[i];
    if (demangled.substr(i, kAnonymous.size()) == kAnonymous) {
      i += kAnonymous.size();
    } else if (c == '(') {
      break;  // the parameters
    } else if (c == '<') {
      const std::size_t end = skip_template_arguments(demangled, i);
      if (end == std::string_view::npos) break;
      i = end;
    } else if (c == ' ' || c == ':') {
      // What stood before was a return type or a namespace, unless only a suffix such as " [clone .kd]" follows.
      if (c == ' ' && i + 1 < demangled.size() && demangled[i + 1] == '[') break;
      base.clear();
      ++i;
    } else {
      base += c;
      ++i;
    }
  }
  return base.empty() ? std::string(demangled) : base;
}

}  // namespace

std::string demangled_kernel_name(std::string_view symbol) {
  if (!is_mangled(symbol)) return std::string(symbol);
  const std::string plain(without_descriptor_suffix(symbol));
  // The demanglers of today's compilers do not know the 16-bit types of AMD's, or take them for others. Types without
  // a number stand in for them, so that the numbers of the symbol's back references stay right.
  std::string known = plain;
  replace_all(known, "DF16_", "Dh");
  replace_all(known, "DF16b", "Du");
  std::string name = demangle(known);
  if (known != plain) replace_all(name, "char8_t", "__bf16");
  return name.empty() ? std::string(symbol) : name;
}

SymbolIdentifiers symbol_identifiers(std::string_view symbol) {
  return is_mangled(symbol) ? SymbolScanner(symbol).scan() : SymbolIdentifiers{};
}

std::string short_kernel_name(std::string_view name) {
  if (!is_mangled(name)) return base_name(name);
  const std::string demangled = demangled_kernel_name(name);
  if (!is_mangled(demangled)) return base_name(demangled);
  std::string base = symbol_identifiers(name).base;
  return base.empty() ? std::string(name) : base;
}

}  // namespace swinscope
