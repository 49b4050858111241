// Where a run stands: what the files around it say of it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

namespace swinscope {

// The steps of warm-up of the experiment whose point the run belongs to (its folder holds point.json, the one above it
// experiment.json); nothing for any other run.
std::optional<std::int64_t> warmup_of_experiment(const std::filesystem::path& run);

// The traced run beside a timing run of an experiment's point; empty where there is none.
std::filesystem::path traced_run_beside(const std::filesystem::path& run);

}  // namespace swinscope
