#include "collector/base/identity.h"

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string_view>

#include <fmt/format.h>
#include <unistd.h>

#include "collector/base/proc_files.h"
#include "store/error.h"
#include "store/private_file.h"

namespace swinscope {
namespace fs = std::filesystem;
namespace {

struct LauncherVariables {
  const char* rank;
  const char* world_size;
};
constexpr std::array<LauncherVariables, 4> kLaunchers = {{{"RANK", "WORLD_SIZE"},
                                                          {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
                                                          {"PMIX_RANK", "PMIX_SIZE"},
                                                          {"SLURM_PROCID", "SLURM_NTASKS"}}};

std::optional<std::int32_t> number_in(const char* text) {
  constexpr std::int64_t kMaxRank = 100'000'000;
  if (text == nullptr) return std::nullopt;
  const auto number = parse_integer(text);
  return number && *number >= 0 && *number <= kMaxRank ? std::optional(static_cast<std::int32_t>(*number))
                                                       : std::nullopt;
}

}  // namespace

RankIdentity rank_from(Lookup lookup, const void* context) {
  for (const LauncherVariables& launcher : kLaunchers) {
    const auto rank = number_in(lookup(launcher.rank, context));
    if (rank) return {*rank, number_in(lookup(launcher.world_size, context)).value_or(0), true};
  }
  return {};
}

RankIdentity rank_from_environment() {
  return rank_from([](const char* name, const void*) -> const char* { return std::getenv(name); });
}

RankIdentity rank_from(const std::vector<std::string>& environment) {
  const auto lookup = [](const char* name, const void* context) -> const char* {
    const std::size_t length = std::strlen(name);
    for (const std::string& variable : *static_cast<const std::vector<std::string>*>(context)) {
      if (variable.compare(0, length, name) == 0 && variable[length] == '=') return variable.c_str() + length + 1;
    }
    return nullptr;
  };
  return rank_from(lookup, &environment);
}

std::string host_name() {
  std::array<char, 256> name{};
  return gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "localhost";
}

fs::path claim_trace_file(const fs::path& folder, std::int32_t rank, const std::string& host, std::uint32_t pid) {
  constexpr int kMaxFiles = 100'000;  // of one process that calls exec again and again
  const std::string stem = rank == kNoRank ? "record" : fmt::format("rank{}", rank);
  for (int n = -1; n < kMaxFiles; ++n) {
    fs::path path = folder / (n < 0 ? fmt::format("{}.db", stem) : fmt::format("{}.{}.{}.{}.db", stem, host, pid, n));
    const int file = create_private_file(path);
    if (file >= 0) {
      close(file);
      return path;
    }
    if (errno != EEXIST) {
      throw Error(ErrorKind::kFailure, fmt::format("{}: cannot be created", path.string()), std::strerror(errno),
                  "check the folder, its permissions and the free space");
    }
  }
  throw Error(ErrorKind::kFailure, fmt::format("{}: no name is left for a trace file", folder.string()));
}

}  // namespace swinscope
