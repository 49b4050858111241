// Shares as users write them.
#pragma once

#include <string>
#include <string_view>

namespace swinscope::cli {

// "5%", "5": 0.05. Throws Error(kUsage) that names the option.
double share_of(std::string_view option, const std::string& text);

}  // namespace swinscope::cli
