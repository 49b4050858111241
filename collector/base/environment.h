// The machine and the settings of a run as facts: the table of an experiment's platform.
//
// Names: host.name, os.kernel, os.release, cpu.model, cpu.sockets, cpu.cores, cpu.threads, cpu.cores_affinity,
// cpu.cores_cgroup, cpu.cores_allowed (the smaller of these two; may be fractional), memory.total_bytes,
// memory.cgroup_bytes, container, git.commit, git.branch, cuda.driver, gpu.<n>.name, gpu.<n>.uuid, gpu.<n>.bus,
// gpu.<n>.numa_node, env.<NAME>; `record` adds gpu.<n>.nvlinks, gpu.<n>.pcie and gpu.<a>-<b>.link (nvml.h). A fact that
// cannot be found out is left out.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "store/records.h"

namespace swinscope {

// Where the facts are read from; the default is this machine and this process.
struct EnvironmentRoots {
  std::filesystem::path root = "/";           // of proc, sys, etc
  std::filesystem::path working_folder = "";  // empty: the current one
};

// Takes a few milliseconds; throws nothing but std::bad_alloc.
std::vector<NamedValue> describe_environment(const EnvironmentRoots& roots = {});

// The same without the variables.
std::vector<NamedValue> machine_environment(const EnvironmentRoots& roots = {});
// Of a process that may use other cores of the machine.
void set_affinity(std::vector<NamedValue>& facts, std::uint32_t cores);

// Cores that the cgroups of this process allow in all their levels (v2 cpu.max, v1 cpu.cfs_quota_us); none without a
// limit.
std::optional<double> cgroup_cores(const std::filesystem::path& root);
// Cores that the process may use: affinity and cgroup together.
double allowed_cores();

// A variable that says how a run was made, and holds no secret: NCCL_*, OMP_*, CUDA_*, …
bool is_listed_variable(std::string_view name);

}  // namespace swinscope
