#include "cli/share.h"

#include <charconv>
#include <cmath>

#include <fmt/format.h>

#include "store/error.h"

namespace swinscope::cli {

double share_of(std::string_view option, const std::string& text) {
  double percent = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), percent);
  const std::string_view rest(end, text.data() + text.size());
  if (error != std::errc() || (!rest.empty() && rest != "%") || !(percent >= 0) || !std::isfinite(percent)) {
    throw Error(ErrorKind::kUsage, fmt::format("{} {}: no share", option, text), {},
                fmt::format("give it in percent: {} 5%", option));
  }
  return percent / 100;
}

}  // namespace swinscope::cli
