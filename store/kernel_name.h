// The short form of a kernel's name: what the column shortName holds, and what tables show.
#pragma once

#include <string>
#include <string_view>

namespace swinscope {

// The base name: no return type, namespaces, template arguments and parameters.
//   "void at::native::(anonymous namespace)::foo<4, float>(int)" -> "foo"
std::string short_kernel_name(std::string_view demangled);

}  // namespace swinscope
