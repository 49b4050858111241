// `report --quality FILE.csv`: how good the results of an experiment's points are.
//
// The first line names a factor that was swept and the measure, "precision,top-1 [%]"; each line below is a value of
// the factor and what was measured, a decimal number: "fp8,77.2". Several lines with one value are repeats.
#pragma once

#include <filesystem>

#include "analyzer/experiment/quality.h"

namespace swinscope::cli {

// Throws Error(kInput), naming line and text, for whatever is not understood; nothing is guessed.
Quality read_quality(const std::filesystem::path& path);

}  // namespace swinscope::cli
