// What a rank tells the others about itself, as a small JSON file.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>

#include "workloads/process_identity.h"
#include "workloads/rank_info.h"

namespace swinscope {

// What all ranks must agree on, by name: model, image size, steps, ...
using RankConfiguration = std::map<std::string, std::string>;

struct RankCard {
  int rank = 0;
  int size = 0;
  std::string host;     // for messages and connections
  std::string machine;  // machine_identity()
  ProcessIdentity process;
  std::string cpus;  // the CPUs that the process may use, as text
  RankGpu gpu;
  RankConfiguration configuration;
};

// The card of this process.
RankCard make_card(const RankInfo& info, const RankConfiguration& configuration);

// "rank 2 of 4 (host n1, process 4711)", and the number of its GPU where it has one
std::string describe(const RankCard& card);

std::string to_text(const RankCard& card);
// Nothing for a text that is no card.
std::optional<RankCard> parse_card(const std::string& text);

// A reader sees the old content or the new one, nothing between. Throws WorkloadError (kFailure).
void write_file_atomically(const std::filesystem::path& path, const std::string& content);
// Fails, returning false, when the file exists.
bool write_new_file(const std::filesystem::path& path, const std::string& content);
// Nothing when the file does not exist or cannot be read.
std::optional<std::string> read_small_file(const std::filesystem::path& path);

}  // namespace swinscope
