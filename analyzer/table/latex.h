// Tables for LaTeX, with the rules of booktabs.
#pragma once

#include <string>
#include <string_view>

#include "analyzer/table/table.h"

namespace swinscope {

// Text that LaTeX prints as it stands, whatever is in it; signs that are not ASCII need the engine's UTF-8 (any since
// 2018), but for those that its standard fonts lack, which become the nearest that they have.
std::string escape_latex(std::string_view text);

// A tabular, or a longtable of more rows than a page holds, to be put into a document as it is: title and definition
// are in a comment above it, with the packages that it needs. Without the columns that are details; numbers stand to
// the right, as people read them.
std::string latex_table(const Table& table);

}  // namespace swinscope
