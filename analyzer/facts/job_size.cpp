#include "analyzer/facts/job_size.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <map>
#include <set>
#include <string_view>
#include <tuple>

#include <fmt/format.h>

#include "analyzer/base/text.h"

namespace swinscope {
namespace {

// The number that the value begins with ("4" and "4,2": OpenMP's nested levels); 0 for none.
double leading_number(const std::string& value) {
  constexpr double kMost = 1e6;
  double number = 0;
  std::from_chars(value.data(), value.data() + value.size(), number);
  return number > 0 && number <= kMost ? number : 0;
}

double environment_number(const RunInfo& run, std::string_view name) {
  const auto fact = std::ranges::find(run.environment, name, &NamedValue::name);
  return fact == run.environment.end() ? 0 : leading_number(fact->value);
}

std::string_view uuid_of(const RunInfo& run, std::int32_t device) {
  const auto gpu = std::ranges::find(run.gpus, device, &GpuInfo::device);
  return gpu == run.gpus.end() ? std::string_view() : std::string_view(gpu->uuid);
}

// The devices with activity: by each rank, and as far as they can be told apart.
struct Devices {
  std::set<std::pair<std::int32_t, std::int32_t>> of_ranks;             // rank, device
  std::set<std::tuple<std::string_view, std::string_view, int>> known;  // by UUID, else by host and number
  bool have_uuids = true;
};

Devices devices_of(const Trace& trace) {
  Devices devices;
  for (const Rank& rank : trace.ranks) {
    for (const GpuLane& lane : rank.gpu_lanes) {
      devices.of_ranks.emplace(rank.run.rank, lane.device);
      const std::string_view uuid = uuid_of(rank.run, lane.device);
      devices.have_uuids = devices.have_uuids && !uuid.empty();
      devices.known.emplace(rank.run.host, uuid, uuid.empty() ? lane.device : 0);
    }
  }
  return devices;
}

struct Host {
  std::set<std::int32_t> ranks;
  double threads = 1;
  double cores = 0;
};

std::map<std::string, Host> hosts_of(const Trace& trace) {
  const bool counts_threads = !uses_gpus(trace);  // with GPUs they mostly wait
  std::map<std::string, Host> hosts;
  for (const Rank& rank : trace.ranks) {
    Host& host = hosts[rank.run.host];
    host.ranks.insert(rank.run.rank);
    if (counts_threads) host.threads = std::max(host.threads, environment_number(rank.run, "env.OMP_NUM_THREADS"));
    host.cores = std::max(host.cores, environment_number(rank.run, "cpu.cores_allowed"));
  }
  // Ranks that recorded nothing of themselves are known by their processes.
  for (const Launcher& launcher : trace.launchers) {
    for (const ProcessRecord& process : launcher.processes) {
      if (trace.ranks.empty() && process.rank >= 0) hosts[launcher.run.host].ranks.insert(process.rank);
    }
  }
  // A rank that is bound to a core of its own may use just that one; the launcher may use them all.
  for (const Launcher& launcher : trace.launchers) {
    const auto host = hosts.find(launcher.run.host);
    if (host == hosts.end()) continue;
    host->second.cores = std::max(host->second.cores, environment_number(launcher.run, "cpu.cores_allowed"));
  }
  return hosts;
}

}  // namespace

bool uses_gpus(const Trace& trace) {
  return std::ranges::any_of(trace.ranks,
                             [](const Rank& rank) { return !rank.gpu_lanes.empty() || !rank.cuda_activity().empty(); });
}

JobSize job_size(const Trace& trace) {
  std::set<std::int32_t> present;
  JobSize job;
  for (const Rank& rank : trace.ranks) {
    present.insert(rank.run.rank);
    job.ranks = std::max<std::int64_t>(job.ranks, rank.run.world_size);
  }
  const auto there = static_cast<std::int64_t>(present.size());
  job.ranks = std::max(job.ranks, there);
  job.has_gpus = uses_gpus(trace);
  const Devices devices = devices_of(trace);
  const auto known = static_cast<std::int64_t>(devices.known.size());
  const auto of_ranks = static_cast<std::int64_t>(devices.of_ranks.size());
  if (known == 0) {
    job.fewest = job.most = job.ranks;
  } else if (there < job.ranks) {
    job.fewest = job.ranks;  // of ranks that are missing nothing is known; each has as many as those that are there
    job.most = std::max(job.ranks, (of_ranks * job.ranks + there - 1) / there);
  } else {
    job.fewest = devices.have_uuids ? known : std::max(job.ranks, known);
    job.most = std::max(job.ranks, of_ranks);
  }
  // Of a foreign trace of one rank nobody may have said how many others there were.
  const auto tells = [](const Rank& rank) { return rank.run.world_size > 0 || rank.run.source == "swinscope"; };
  if (std::ranges::none_of(trace.ranks, tells)) job.most = std::numeric_limits<std::int64_t>::max();
  return job;
}

std::optional<JobSize> known_job_size(const Trace& trace) {
  if (!trace.ranks.empty()) return job_size(trace);
  std::set<std::int32_t> ranks;
  for (const Launcher& launcher : trace.launchers) {
    for (const ProcessRecord& process : launcher.processes) {
      if (process.rank >= 0) ranks.insert(process.rank);
    }
  }
  if (ranks.empty()) return std::nullopt;
  JobSize job;
  job.ranks = job.fewest = job.most = static_cast<std::int64_t>(ranks.size());
  return job;
}

std::string describe(const JobSize& job) {
  std::string ranks = format_counted(job.ranks, "ranks");
  if (!job.has_gpus) return ranks;
  if (job.most == std::numeric_limits<std::int64_t>::max())
    return fmt::format("{} on {} or more", ranks, format_counted(job.fewest, "GPUs"));
  if (job.fewest == job.most) return fmt::format("{} on {}", ranks, format_counted(job.fewest, "GPUs"));
  return fmt::format("{} on {} to {} GPUs", ranks, job.fewest, job.most);
}

std::optional<Crowding> crowding(const Trace& trace) {
  std::optional<Crowding> worst;
  double most = 1;
  for (const auto& [name, host] : hosts_of(trace)) {
    if (host.cores <= 0) continue;
    const auto ranks = static_cast<std::int64_t>(host.ranks.size());
    const double per_core = static_cast<double>(ranks) * host.threads / host.cores;
    if (per_core <= most) continue;
    most = per_core;
    worst = Crowding{name, ranks, static_cast<std::int64_t>(host.threads), host.cores};
  }
  return worst;
}

}  // namespace swinscope
