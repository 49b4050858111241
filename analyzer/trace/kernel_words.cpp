#include "analyzer/trace/kernel_words.h"

#include <algorithm>
#include <cctype>

#include "store/kernel_name.h"

namespace swinscope {
namespace {

bool is_lower(char c) { return std::islower(static_cast<unsigned char>(c)) != 0; }
bool is_upper(char c) { return std::isupper(static_cast<unsigned char>(c)) != 0; }
bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }
bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; }
bool is_identifier(char c) { return is_word(c) || c == '_'; }

bool begins_word(std::string_view text, std::size_t i) {
  if (i == 0 || !is_word(text[i - 1])) return true;
  if (is_digit(text[i]) != is_digit(text[i - 1])) return true;
  if (!is_upper(text[i])) return false;
  // "LayerNorm", and "RMSNorm": of a run of capitals the last one belongs to what follows.
  return is_lower(text[i - 1]) || (i + 1 < text.size() && is_lower(text[i + 1]));
}

// Calls part(begin, end) for each part of the text between separators.
template <typename Part>
bool any_part(std::string_view text, char separator, Part part) {
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(separator, begin), text.size());
    if (part(text.substr(begin, end - begin))) return true;
    begin = end + 1;
  }
  return false;
}

// Goes through a demangled name once.
class NameScanner {
 public:
  explicit NameScanner(std::string_view name) : name_(name) {}

  KernelWords scan() {
    while (at_ < name_.size()) {
      if (skip_unnamed()) continue;
      const char c = name_[at_];
      if (depth_ == 0 && (c == '(' || name_.substr(at_, 2) == " [")) break;  // the parameters, or a suffix
      if (c == '(') {
        skip_parentheses();
      } else if (is_identifier(c)) {
        read_identifier();
      } else {
        read_mark(c);
      }
    }
    parts_.base.add(base_);
    return std::move(parts_);
  }

 private:
  // "(anonymous namespace)" and, as Nsight Systems writes it, "<unnamed>".
  bool skip_unnamed() {
    for (const std::string_view unnamed : {"(anonymous namespace)", "<unnamed>"}) {
      if (name_.substr(at_, unnamed.size()) != unnamed) continue;
      at_ += unnamed.size();
      return true;
    }
    return false;
  }

  // Parameters of a function among the template arguments, or the type of a value: "(int)512".
  void skip_parentheses() {
    int open = 0;
    do {
      open += name_[at_] == '(' ? 1 : name_[at_] == ')' ? -1 : 0;
      ++at_;
    } while (open > 0 && at_ < name_.size());
  }

  void read_identifier() {
    std::size_t end = at_;
    while (end < name_.size() && is_identifier(name_[end]))
      ++end;
    const std::string_view identifier = name_.substr(at_, end - at_);
    at_ = end;
    if (depth_ > 0) {
      parts_.arguments.add(identifier);
    } else {
      base_ += identifier;
    }
  }

  void read_mark(char c) {
    const bool is_arrow = c == '>' && name_[at_ - (at_ > 0 ? 1 : 0)] == '-';
    if (c == '<') {
      ++depth_;
    } else if (c == '>' && depth_ > 0 && !is_arrow) {
      --depth_;
    } else if (depth_ == 0 && c == ' ') {
      parts_ = {};  // what stood before was the return type
      base_.clear();
    } else if (depth_ == 0 && c == ':') {
      parts_.scope.add(base_);
      base_.clear();
    } else if (depth_ == 0) {
      base_ += '_';  // no C++: "/mlp/fc1/Gemm"
    }
    ++at_;
  }

  std::string_view name_;
  std::size_t at_ = 0;
  int depth_ = 0;  // of template arguments
  std::string base_;
  KernelWords parts_;
};

}  // namespace

void Words::add(std::string_view identifier) {
  for (std::size_t i = 0; i < identifier.size(); ++i) {
    if (!is_word(identifier[i])) continue;
    text_ += static_cast<char>(std::tolower(static_cast<unsigned char>(identifier[i])));
    starts_ += begins_word(identifier, i) ? '1' : '0';
  }
}

bool Words::match(std::string_view pattern) const {
  return any_part(pattern, '|', [this](std::string_view alternative) {
    return !any_part(alternative, '&', [this](std::string_view term) { return !has_term(term); });
  });
}

bool Words::has_term(std::string_view term) const {
  const bool whole = term.starts_with('=');
  const bool first = whole || term.starts_with('^');
  if (first) term.remove_prefix(1);
  const bool open_front = term.starts_with('*');
  if (open_front) term.remove_prefix(1);
  const bool open_back = term.ends_with('*');
  if (open_back) term.remove_suffix(1);
  for (std::size_t at = text_.find(term); at != std::string::npos; at = text_.find(term, at + 1)) {
    if (first && at > 0) return false;
    const std::size_t end = at + term.size();
    const bool begins = open_front || starts_[at] == '1';
    const bool ends = end == text_.size() || open_back || (!whole && starts_[end] == '1');
    if (begins && ends) return true;
  }
  return false;
}

KernelWords kernel_words(std::string_view name) {
  if (!is_mangled(name)) return NameScanner(name).scan();
  const std::string demangled = demangled_kernel_name(name);
  if (!is_mangled(demangled)) return NameScanner(demangled).scan();
  const SymbolIdentifiers symbol = symbol_identifiers(name);
  KernelWords parts;
  parts.base.add(symbol.base);
  for (const std::string& identifier : symbol.scopes)
    parts.scope.add(identifier);
  for (const std::string& identifier : symbol.arguments)
    parts.arguments.add(identifier);
  return parts;
}

}  // namespace swinscope
