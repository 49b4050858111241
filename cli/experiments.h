// Experiments as users name them.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "analyzer/experiment/experiment.h"
#include "analyzer/experiment/platforms.h"
#include "cli/command.h"
#include "options/options.h"

namespace swinscope::cli {

// The experiment at a path, or those of the folder there. Throws Error(kInput) where there is none.
std::vector<Experiment> read_experiments(const std::string& path);

// The experiment in a folder on the standard output, whatever `options` say of a file, and its warnings.
void show_experiment(const std::filesystem::path& folder, CommonOptions options);

// --beside KEY…
void add_beside(Command& command, std::vector<std::string>& keys);
std::vector<PublishedResult> find_all_published(const std::vector<std::string>& keys);

}  // namespace swinscope::cli
