// What a mistyped word was meant to be.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace swinscope::cli {

// The candidate that the fewest insertions, deletions, replacements and swaps of neighbours lead to from `word`; ""
// where it takes more than one of them for three letters.
std::string nearest(std::string_view word, const std::vector<std::string>& candidates);

}  // namespace swinscope::cli
