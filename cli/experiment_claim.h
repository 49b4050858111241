// Which experiment a folder belongs to: what its runs were made with, so that a command goes on in it only where its
// runs would be of the same kind.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "analyzer/experiment/experiment.h"
#include "cli/launcher_line.h"

namespace swinscope::cli {

// The launcher, the environment variables that change what a program does (CUDA_VISIBLE_DEVICES, NCCL_*, OMP_*, …), and
// a hash of the contents of the program and of the files among its arguments. Files that a program writes (logs,
// traces) and what it opens by itself are not looked at; of files above 256 MiB, size and time of change stand for the
// contents.
std::map<std::string, std::string> made_with(const Experiment& experiment, const Launcher& launcher, bool cpus_only);

// Takes experiment.folder for the experiment (its points, mode, command and made_with). How steps are found, and the
// notes, are taken over where the same is asked for. Runs that are there and of the same kind are kept. Throws
// Error(kUsage) where those of a point differ, naming what does, unless `force`: then the measured points in the folder
// are removed, and nothing else.
void claim_folder(Experiment& experiment, bool force);

}  // namespace swinscope::cli
