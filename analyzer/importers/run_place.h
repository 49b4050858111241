// Where a run stands: what the files around it say of it. All but the last throw Error (kInput) where these name what
// is not below their folder (see named_path.h).
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

#include "analyzer/trace/step_rule.h"

namespace swinscope {

// The steps of warm-up of the experiment whose point the run belongs to (its folder holds point.json, the one above it
// experiment.json); nothing for any other run.
std::optional<std::int64_t> warmup_of_experiment(const std::filesystem::path& run);

// How the steps of the experiment's runs are found; kAnnotated for any other run, and where what is stored is no rule.
StepRule step_rule_of_experiment(const std::filesystem::path& run);

// The run of a point that says the most: the traced one, else its first repeat. Empty where the folder is no point, or
// one without runs.
std::filesystem::path run_of_point(const std::filesystem::path& folder);

// The point of an experiment with the most GPUs that has a run; empty where there is none, or no experiment.
std::filesystem::path largest_point(const std::filesystem::path& experiment);

// The folder that holds the files of a run, which may be named by one of them, its point or its experiment.
std::filesystem::path run_folder_of(const std::filesystem::path& path);

// The traced run beside a timing run of an experiment's point; empty where there is none, or none below the folder.
std::filesystem::path traced_run_beside(const std::filesystem::path& run);

}  // namespace swinscope
