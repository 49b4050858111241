#include "collector/launcher/recorder_id.h"

#include <cstdlib>

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "collector/base/proc_files.h"
#include "collector/base/process_stat.h"

namespace swinscope {
namespace {

const char* environment_variable(const char* name, const void*) { return std::getenv(name); }

}  // namespace

std::string RecorderId::mark() const { return fmt::format("{}.{}.{}", host, pid, start_ticks); }

bool RecorderId::is_visible() const {
  const RecorderId self = this_recorder();
  if (host != self.host) return false;
  const bool same_boot = boot.empty() || self.boot.empty() || boot == self.boot;
  const bool same_namespace = pid_namespace == 0 || self.pid_namespace == 0 || pid_namespace == self.pid_namespace;
  return same_boot && same_namespace;
}

bool RecorderId::is_running() const {
  const auto stat = read_process_stat(static_cast<pid_t>(pid));
  return stat && stat->state != 'Z' && static_cast<std::int64_t>(stat->start_ticks) == start_ticks;
}

RecorderId this_recorder() {
  RecorderId self;
  self.host = host_name();
  self.boot = read_line_of("/proc/sys/kernel/random/boot_id");
  struct stat info = {};
  if (stat("/proc/self/ns/pid", &info) == 0) self.pid_namespace = info.st_ino;
  self.pid = getpid();
  if (const auto stat = read_process_stat(getpid())) self.start_ticks = static_cast<std::int64_t>(stat->start_ticks);
  return self;
}

JobPlace job_place_from(Lookup lookup, const void* context) {
  const auto text = [&](const char* name) -> std::string {
    const char* const value = lookup(name, context);
    return value == nullptr ? "" : value;
  };
  JobPlace place;
  const RankIdentity identity = rank_from(lookup, context);
  if (!identity.is_given) return place;
  place.rank = identity.rank;
  place.world_size = identity.world_size;
  // The same order as that of the ranks: below srun, mpirun is the launcher that counts.
  if (const std::string run = text("TORCHELASTIC_RUN_ID"); !run.empty()) {
    place.job = fmt::format("torchrun {} {}:{}", run, text("MASTER_ADDR"), text("MASTER_PORT"));
    place.is_unique = run != "none";
    place.restarts = static_cast<std::int32_t>(parse_integer(text("TORCHELASTIC_RESTART_COUNT")).value_or(0));
  } else if (const std::string space = text("PMIX_NAMESPACE"); !space.empty()) {
    place.job = fmt::format("pmix {}", space);
    place.is_unique = true;
  } else if (const std::string job = text("SLURM_JOB_ID"); !job.empty() && !text("SLURM_STEP_ID").empty()) {
    place.job = fmt::format("slurm {}.{}", job, text("SLURM_STEP_ID"));
    place.is_unique = true;
  } else if (const std::string address = text("MASTER_ADDR"); !address.empty()) {
    place.job = fmt::format("{}:{}", address, text("MASTER_PORT"));
  }
  return place;
}

JobPlace job_place_from_environment() { return job_place_from(environment_variable); }

}  // namespace swinscope
