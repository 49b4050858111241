// `--trace LIST`: what a recording holds.
#pragma once

#include <string>

#include "collector/base/trace_options.h"
#include "options/options.h"

namespace swinscope::cli {

Option add_trace_option(Command& command, std::string& list, const std::string& of_what);

// Throws Error(kUsage) for a word that is none.
TraceOptions trace_options_of(const std::string& list);

}  // namespace swinscope::cli
