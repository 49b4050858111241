// `join --timing FILE.csv`: step times measured elsewhere.
//
// The first line names the columns, in any order: `gpus`, and the step time with its unit, one of step_s, step_ms,
// step_us, step_ns. Each line below is one repeat: a whole number of GPUs and a positive decimal number. Empty lines
// are passed over, and so is white space around a value.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <vector>

namespace swinscope::cli {

// Step times in ns by number of GPUs, in the order of the file. Throws Error(kInput), naming line and text, for
// whatever is not understood; nothing is guessed.
std::map<int, std::vector<std::int64_t>> read_timing(const std::filesystem::path& path);

}  // namespace swinscope::cli
