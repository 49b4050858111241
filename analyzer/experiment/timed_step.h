// The step of an experiment's point as its timing runs have it, in which nothing but steps was recorded, or as it was
// given to `join`.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

namespace swinscope {

// ns, the median over the timing runs of the point whose traced run this is; nothing where it is none, or its point has
// neither given times nor timing runs that can be read.
std::optional<std::int64_t> timed_step_beside(const std::filesystem::path& traced);

}  // namespace swinscope
