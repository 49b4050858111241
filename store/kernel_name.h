// The short form of a kernel's name: what the column shortName holds, and what tables show.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace swinscope {

// The base name: no return type, namespaces, template arguments and parameters. Also of a linker symbol.
//   "void at::native::(anonymous namespace)::foo<4, float>(int)" -> "foo"
std::string short_kernel_name(std::string_view name);

// Whether a name is a linker symbol of C++ ("_ZN…"), which some recorders give instead of the name.
constexpr bool is_mangled(std::string_view name) { return name.starts_with("_Z"); }

// The name that a linker symbol stands for; the symbol itself where it cannot be told, such as when it was cut off.
std::string demangled_kernel_name(std::string_view symbol);

// What a linker symbol spells out, also of one that is cut off or newer than the demangler: the function's name, the
// namespaces around it, and the identifiers of its template arguments.
struct SymbolIdentifiers {
  std::string base;
  std::vector<std::string> scopes;
  std::vector<std::string> arguments;
};
SymbolIdentifiers symbol_identifiers(std::string_view symbol);

}  // namespace swinscope
