// Experiments as users name them.
#pragma once

#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "analyzer/experiment.h"
#include "analyzer/platforms.h"

namespace swinscope::cli {

// The experiment at a path, or those of the folder there. Throws Error(kInput) where there is none.
std::vector<Experiment> read_experiments(const std::string& path);

// --beside KEY…
void add_beside(CLI::App& command, std::vector<std::string>& keys);
std::vector<PublishedResult> find_all_published(const std::vector<std::string>& keys);

}  // namespace swinscope::cli
