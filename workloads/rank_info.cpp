#include "workloads/rank_info.h"

#include <array>
#include <cctype>
#include <charconv>
#include <cstdlib>
#include <cstring>

#include <fmt/format.h>
#include <unistd.h>

#include "workloads/error.h"
#include "workloads/process_identity.h"

namespace swinscope {
namespace {

struct Launcher {
  const char* name;
  const char* rank;
  const char* size;
  const char* local_rank;
};

constexpr std::array kLaunchers = {
    Launcher{"torchrun", "RANK", "WORLD_SIZE", "LOCAL_RANK"},
    Launcher{"Open MPI", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK"},
    Launcher{"Slurm", "SLURM_PROCID", "SLURM_NTASKS", "SLURM_LOCALID"},
};

[[noreturn]] void refuse(const std::string& what, const std::string& cause) {
  throw WorkloadError(WorkloadErrorKind::kUsage, what, cause,
                      "start ranks by torchrun, mpirun or srun, or unset the variables to run alone");
}

int parse_number(const char* variable, const char* text) {
  int value = 0;
  const char* end = text + std::strlen(text);
  const auto [rest, error] = std::from_chars(text, end, value);
  if (error != std::errc() || rest != end || value < 0) {
    refuse(fmt::format("{}='{}' is not a rank or a number of ranks", variable, text), {});
  }
  return value;
}

// What launchers tell all ranks of a job and no other job. A worker's parent and session are its own under torchrun.
constexpr std::array kJobVariables = {"SLURM_JOB_ID",        "SLURM_STEP_ID",
                                      "PMIX_NAMESPACE",      "OMPI_MCA_ess_base_jobid",
                                      "TORCHELASTIC_RUN_ID", "TORCHELASTIC_RESTART_COUNT",
                                      "MASTER_ADDR",         "MASTER_PORT"};

}  // namespace

const char* process_environment(const char* name) { return std::getenv(name); }

RankInfo discover_rank(const Environment& environment) {
  for (const Launcher& launcher : kLaunchers) {
    const char* rank = environment(launcher.rank);
    const char* size = environment(launcher.size);
    if (rank == nullptr && size == nullptr) continue;
    if (rank == nullptr || size == nullptr) {
      refuse(fmt::format("{} is set and {} is not", rank == nullptr ? launcher.size : launcher.rank,
                         rank == nullptr ? launcher.rank : launcher.size),
             fmt::format("both come from {}", launcher.name));
    }
    RankInfo info;
    info.rank = parse_number(launcher.rank, rank);
    info.size = parse_number(launcher.size, size);
    info.launcher = launcher.name;
    const char* local_rank = environment(launcher.local_rank);
    info.local_rank = local_rank == nullptr ? info.rank : parse_number(launcher.local_rank, local_rank);
    if (info.rank >= info.size) {
      refuse(fmt::format("{}={} is not below {}={}", launcher.rank, info.rank, launcher.size, info.size), {});
    }
    return info;
  }
  return {};
}

std::string launch_key(const Environment& environment) {
  std::string key;
  for (const char* variable : kJobVariables) {
    const char* value = environment(variable);
    if (value != nullptr) key += fmt::format("-{}", value);
  }
  if (key.empty()) {
    const ProcessIdentity leader = identity_of(::getsid(0));
    key = fmt::format("-session-{}-{}", leader.pid, leader.start_ticks);
  }
  for (char& letter : key) {
    const bool plain = std::isalnum(static_cast<unsigned char>(letter)) != 0 || letter == '-' || letter == '.';
    if (!plain) letter = '_';
  }
  return key.substr(1);
}

}  // namespace swinscope
