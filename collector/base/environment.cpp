#include "collector/base/environment.h"

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <sched.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "collector/base/identity.h"
#include "collector/base/proc_files.h"
#include "store/utf8.h"

extern char** environ;  // NOLINT(readability-redundant-declaration): POSIX leaves the declaration to the program

namespace swinscope {
namespace fs = std::filesystem;
namespace {

using Facts = std::vector<NamedValue>;

void add(Facts& facts, std::string name, std::string_view value) {
  if (!value.empty()) facts.push_back({std::move(name), replace_invalid_utf8(value)});
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\n\"";
  const std::size_t begin = text.find_first_not_of(kBlanks);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kBlanks) - begin + 1);
}

// The lines of a "key : value" file.
std::vector<std::pair<std::string_view, std::string_view>> key_values(std::string_view text, char separator) {
  std::vector<std::pair<std::string_view, std::string_view>> pairs;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    const std::size_t at = line.find(separator);
    if (at != std::string_view::npos) pairs.emplace_back(trimmed(line.substr(0, at)), trimmed(line.substr(at + 1)));
  }
  return pairs;
}

std::string path_text(const fs::path& path) { return path.string(); }

// arm64 has no "model name"; its implementer and part are all there is.
void add_cpu(Facts& facts, const fs::path& root) {
  const std::string cpuinfo = read_small_file(path_text(root / "proc/cpuinfo"), std::size_t{4} << 20U);
  std::string model;
  std::string part;
  std::set<std::string> sockets;
  std::set<std::string> cores;
  std::string socket;
  int threads = 0;
  for (const auto& [key, value] : key_values(cpuinfo, ':')) {
    if (key == "processor") ++threads;
    if (key == "model name" && model.empty()) model = value;
    if ((key == "CPU implementer" || key == "CPU part") && part.find(value) == std::string::npos)
      part += fmt::format(" {}", value);
    if (key == "physical id") socket = value, sockets.insert(socket);
    if (key == "core id") cores.insert(fmt::format("{}/{}", socket, value));
  }
  add(facts, "cpu.model", model.empty() && !part.empty() ? "implementer and part" + part : model);
  if (!sockets.empty()) add(facts, "cpu.sockets", std::to_string(sockets.size()));
  if (!cores.empty()) add(facts, "cpu.cores", std::to_string(cores.size()));
  if (threads != 0) add(facts, "cpu.threads", std::to_string(threads));
}

int affinity_cores() {
  // Large machines have more cores than cpu_set_t has bits.
  constexpr std::size_t kMaxCores = 8192;
  std::array<unsigned long, kMaxCores / (8 * sizeof(unsigned long))> mask{};
  auto* set = reinterpret_cast<cpu_set_t*>(mask.data());
  if (sched_getaffinity(0, sizeof(mask), set) != 0) return static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN));
  return CPU_COUNT_S(sizeof(mask), set);
}

std::optional<double> smaller(std::optional<double> a, std::optional<double> b) {
  if (!a || !b) return a ? a : b;
  return std::min(*a, *b);
}

// "200000 100000" or "max 100000".
std::optional<double> quota_of(std::string_view cpu_max) {
  const auto words = words_of(cpu_max);
  if (words.size() != 2) return std::nullopt;
  const auto quota = parse_integer(words[0]);
  const auto period = parse_integer(words[1]);
  if (!quota || !period || *quota <= 0 || *period <= 0) return std::nullopt;
  return static_cast<double>(*quota) / static_cast<double>(*period);
}

struct CgroupFolder {
  fs::path top;     // where the controller is mounted
  fs::path folder;  // of this process, below top
  bool is_v2 = false;
};

// The folders of this process's cgroups that say something about `controller`. In a container the path is often that of
// the host while only the container's own part is mounted: then the top itself is looked at.
std::vector<CgroupFolder> cgroups_of(const fs::path& root, std::string_view controller) {
  std::vector<CgroupFolder> found;
  const std::string list = read_small_file(path_text(root / "proc/self/cgroup"));
  for (const auto& [number, rest] : key_values(list, ':')) {
    const std::size_t colon = rest.find(':');
    if (colon == std::string_view::npos) continue;
    const std::string_view controllers = rest.substr(0, colon);
    const std::string path(rest.substr(std::min(colon + 2, rest.size())));
    if (number == "0" && controllers.empty()) {
      for (const char* top : {"sys/fs/cgroup", "sys/fs/cgroup/unified"})
        found.push_back({root / top, root / top / path, true});
    } else if (fmt::format(",{},", controllers).find(fmt::format(",{},", controller)) != std::string::npos) {
      const fs::path top = root / "sys/fs/cgroup" / std::string(controllers);
      found.push_back({top, top / path, false});
      found.push_back({root / "sys/fs/cgroup" / std::string(controller),
                       root / "sys/fs/cgroup" / std::string(controller) / path, false});
    }
  }
  return found;
}

// Calls read(folder, is_v2) for the process's cgroup and all above it, and returns the smallest limit.
template <typename Read>
std::optional<double> smallest_limit(const fs::path& root, std::string_view controller, Read read) {
  std::optional<double> limit;
  for (const CgroupFolder& group : cgroups_of(root, controller)) {
    fs::path folder = group.folder.lexically_normal();
    const std::string top = group.top.lexically_normal().string();
    while (folder.string().size() > top.size()) {
      limit = smaller(limit, read(folder, group.is_v2));
      folder = folder.parent_path();
    }
    limit = smaller(limit, read(group.top, group.is_v2));
  }
  return limit;
}

std::optional<double> memory_limit(const fs::path& folder, bool is_v2) {
  const auto bytes = parse_integer(read_line_of(path_text(folder / (is_v2 ? "memory.max" : "memory.limit_in_bytes"))));
  // Without a limit v1 says a number near 2^63.
  constexpr std::int64_t kNoLimit = std::int64_t{1} << 60U;
  return bytes && *bytes < kNoLimit ? std::optional(static_cast<double>(*bytes)) : std::nullopt;
}

void add_memory(Facts& facts, const fs::path& root) {
  const std::string meminfo = read_small_file(path_text(root / "proc/meminfo"));
  for (const auto& [key, value] : key_values(meminfo, ':')) {
    const auto words = words_of(value);
    const auto kib = words.empty() ? std::nullopt : parse_integer(words[0]);
    if (key == "MemTotal" && kib) add(facts, "memory.total_bytes", std::to_string(*kib * 1024));
  }
  if (const auto limit = smallest_limit(root, "memory", memory_limit))
    add(facts, "memory.cgroup_bytes", fmt::format("{:.0f}", *limit));
}

void add_system(Facts& facts, const fs::path& root) {
  add(facts, "host.name", host_name());
  utsname name{};
  if (uname(&name) == 0) add(facts, "os.kernel", fmt::format("{} {} {}", name.sysname, name.release, name.machine));
  const std::string release = read_small_file(path_text(root / "etc/os-release"));
  for (const auto& [key, value] : key_values(release, '=')) {
    if (key == "PRETTY_NAME") add(facts, "os.release", value);
  }
}

void add_container(Facts& facts, const fs::path& root) {
  std::error_code none;
  const auto variable = [](const char* name) {
    const char* value = std::getenv(name);
    return std::string_view(value == nullptr ? "" : value);
  };
  if (fs::exists(root / ".dockerenv", none)) {
    add(facts, "container", "docker");
  } else if (fs::exists(root / "run/.containerenv", none)) {
    add(facts, "container", "podman");
  } else if (!variable("APPTAINER_CONTAINER").empty() || !variable("SINGULARITY_CONTAINER").empty()) {
    add(facts, "container", "apptainer");
  } else {
    add(facts, "container", variable("container"));  // systemd-nspawn, LXC
  }
}

// The commit that HEAD of the repository around `folder` names, read from its files: running git would be a child
// process.
void add_git(Facts& facts, fs::path folder) {
  std::error_code none;
  if (folder.empty()) folder = fs::current_path(none);
  while (!fs::exists(folder / ".git", none)) {
    if (folder == folder.parent_path()) return;
    folder = folder.parent_path();
  }
  fs::path git = folder / ".git";
  constexpr std::string_view kElsewhere = "gitdir: ";
  if (const std::string link = read_line_of(path_text(git)); link.rfind(kElsewhere, 0) == 0)
    git = folder / link.substr(kElsewhere.size());
  const std::string head = read_line_of(path_text(git / "HEAD"));
  constexpr std::string_view kReference = "ref: ";
  if (head.rfind(kReference, 0) != 0) return add(facts, "git.commit", head);
  const std::string name = head.substr(kReference.size());
  constexpr std::string_view kBranches = "refs/heads/";
  if (name.rfind(kBranches, 0) == 0) add(facts, "git.branch", name.substr(kBranches.size()));
  // In a work tree that git added, references are those of the main one.
  const std::string common = read_line_of(path_text(git / "commondir"));
  const fs::path shared = common.empty() ? git : git / common;
  const std::string commit = read_line_of(path_text(shared / name));
  if (!commit.empty()) return add(facts, "git.commit", commit);
  const std::string packed = read_small_file(path_text(shared / "packed-refs"), std::size_t{16} << 20U);
  for (const auto& [hash, reference] : key_values(packed, ' ')) {
    if (reference == name) add(facts, "git.commit", hash);
  }
}

// What the driver tells in /proc; NVML and CUDA know more, where there is a reason to open them.
void add_gpus(Facts& facts, const fs::path& root) {
  const std::string version = read_small_file(path_text(root / "proc/driver/nvidia/version"));
  const auto is_version = [](std::string_view word) {
    return word.find('.') != std::string_view::npos && word.find_first_not_of("0123456789.") == std::string_view::npos;
  };
  const auto words = words_of(std::string_view(version).substr(0, version.find('\n')));
  const auto driver = std::find_if(words.begin(), words.end(), is_version);
  if (driver != words.end()) add(facts, "cuda.driver", *driver);

  const fs::path gpus = root / "proc/driver/nvidia/gpus";
  std::vector<std::string> buses = names_in(path_text(gpus));
  std::sort(buses.begin(), buses.end());
  for (std::size_t i = 0; i < buses.size(); ++i) {
    const std::string information = read_small_file(path_text(gpus / buses[i] / "information"));
    for (const auto& [key, value] : key_values(information, ':')) {
      if (key == "Model") add(facts, fmt::format("gpu.{}.name", i), value);
      if (key == "GPU UUID") add(facts, fmt::format("gpu.{}.uuid", i), value);
    }
    add(facts, fmt::format("gpu.{}.bus", i), buses[i]);
    add(facts, fmt::format("gpu.{}.numa_node", i),
        read_line_of(path_text(root / "sys/bus/pci/devices" / buses[i] / "numa_node")));
  }
}

void add_variables(Facts& facts) {
  std::vector<std::string_view> listed;
  for (char** variable = environ; variable != nullptr && *variable != nullptr; ++variable) {
    const std::string_view text = *variable;
    if (is_listed_variable(text.substr(0, text.find('=')))) listed.push_back(text);
  }
  std::sort(listed.begin(), listed.end());
  for (const std::string_view text : listed) {
    const std::size_t equals = text.find('=');
    if (equals != std::string_view::npos)
      add(facts, fmt::format("env.{}", text.substr(0, equals)), text.substr(equals + 1));
  }
}

}  // namespace

std::optional<double> cgroup_cores(const fs::path& root) {
  return smallest_limit(root, "cpu", [](const fs::path& folder, bool is_v2) {
    if (is_v2) return quota_of(read_line_of(path_text(folder / "cpu.max")));
    return quota_of(fmt::format("{} {}", read_line_of(path_text(folder / "cpu.cfs_quota_us")),
                                read_line_of(path_text(folder / "cpu.cfs_period_us"))));
  });
}

double allowed_cores() {
  const double affinity = affinity_cores();
  return std::min(affinity, cgroup_cores("/").value_or(affinity));
}

bool is_listed_variable(std::string_view name) {
  // Families in which every variable is a setting of how a program computes or communicates. Whole products' prefixes
  // are none: SLURM_ holds comments and accounts, OMPI_ command lines, NCCL_ the keys of plugins.
  constexpr std::array<std::string_view, 52> kFamilies = {"OMP_",
                                                          "GOMP_",
                                                          "KMP_",
                                                          "MKL_",
                                                          "OPENBLAS_",
                                                          "CUDA_",
                                                          "TORCH_DISTRIBUTED_",
                                                          "TORCH_COMPILE_",
                                                          "TORCH_ALLOW_",
                                                          "TORCH_LOGS",
                                                          "TORCH_NCCL_",
                                                          "TORCH_CUDA_",
                                                          "TORCH_CUDNN_",
                                                          "TORCHINDUCTOR_",
                                                          "PYTORCH_CUDA_",
                                                          "PYTORCH_ALLOC_",
                                                          "PYTORCH_JIT",
                                                          "NCCL_ALGO",
                                                          "NCCL_ASYNC",
                                                          "NCCL_BLOCKING",
                                                          "NCCL_BUFFSIZE",
                                                          "NCCL_CGA_",
                                                          "NCCL_CHECKS_",
                                                          "NCCL_COLLNET_",
                                                          "NCCL_COMM_",
                                                          "NCCL_CONF_FILE",
                                                          "NCCL_CROSS_",
                                                          "NCCL_CUMEM_",
                                                          "NCCL_DEBUG",
                                                          "NCCL_DMABUF_",
                                                          "NCCL_GDR",
                                                          "NCCL_GRAPH_",
                                                          "NCCL_IB_",
                                                          "NCCL_IGNORE_",
                                                          "NCCL_LAUNCH_",
                                                          "NCCL_LL",
                                                          "NCCL_LOCAL_",
                                                          "NCCL_MAX_",
                                                          "NCCL_MIN_",
                                                          "NCCL_MNNVL_",
                                                          "NCCL_NCHANNELS",
                                                          "NCCL_NET",
                                                          "NCCL_NSOCKS_",
                                                          "NCCL_NTHREADS",
                                                          "NCCL_NVLS_",
                                                          "NCCL_P2P_",
                                                          "NCCL_PROTO",
                                                          "NCCL_SHM_",
                                                          "NCCL_SOCKET_",
                                                          "NCCL_TOPO_",
                                                          "NCCL_TUNER_",
                                                          "OMPI_COMM_WORLD_"};
  constexpr std::array<std::string_view, 33> kNames = {"MASTER_ADDR",
                                                       "MASTER_PORT",
                                                       "RANK",
                                                       "LOCAL_RANK",
                                                       "WORLD_SIZE",
                                                       "LOCAL_WORLD_SIZE",
                                                       "NCCL_COMM_ID",
                                                       "NCCL_HOSTID",
                                                       "NCCL_PXN_DISABLE",
                                                       "SLURM_JOB_ID",
                                                       "SLURM_STEP_ID",
                                                       "SLURM_PROCID",
                                                       "SLURM_LOCALID",
                                                       "SLURM_NODEID",
                                                       "SLURM_NTASKS",
                                                       "SLURM_NTASKS_PER_NODE",
                                                       "SLURM_NNODES",
                                                       "SLURM_JOB_NUM_NODES",
                                                       "SLURM_JOB_NODELIST",
                                                       "SLURM_JOB_PARTITION",
                                                       "SLURM_CLUSTER_NAME",
                                                       "SLURM_CPUS_PER_TASK",
                                                       "SLURM_CPUS_ON_NODE",
                                                       "SLURM_CPU_BIND",
                                                       "SLURM_MEM_BIND",
                                                       "SLURM_MEM_PER_NODE",
                                                       "SLURM_GPUS",
                                                       "SLURM_GPUS_ON_NODE",
                                                       "SLURM_GPUS_PER_NODE",
                                                       "SLURM_GPUS_PER_TASK",
                                                       "SLURM_GPU_BIND",
                                                       "SLURM_DISTRIBUTION",
                                                       "SLURMD_NODENAME"};
  // Whatever the family: a value behind such a name is for nobody.
  constexpr std::array<std::string_view, 10> kSecrets = {"TOKEN",  "SECRET", "PASS",    "KEY",  "AUTH",
                                                         "CREDEN", "COOKIE", "COMMENT", "CERT", "SIGNATURE"};
  const auto holds = [&](std::string_view part) { return name.find(part) != std::string_view::npos; };
  if (std::any_of(kSecrets.begin(), kSecrets.end(), holds)) return false;
  constexpr std::string_view kOurs = "SWINSCOPE_";
  const auto begins = [&](std::string_view prefix) { return name.substr(0, prefix.size()) == prefix; };
  return begins(kOurs) || std::find(kNames.begin(), kNames.end(), name) != kNames.end() ||
         std::any_of(kFamilies.begin(), kFamilies.end(), begins);
}

std::vector<NamedValue> machine_environment(const EnvironmentRoots& roots) {
  Facts facts;
  add_system(facts, roots.root);
  add_cpu(facts, roots.root);
  const double affinity = affinity_cores();
  const std::optional<double> quota = cgroup_cores(roots.root);
  add(facts, "cpu.cores_affinity", fmt::format("{:g}", affinity));
  if (quota) add(facts, "cpu.cores_cgroup", fmt::format("{:g}", *quota));
  add(facts, "cpu.cores_allowed", fmt::format("{:g}", std::min(affinity, quota.value_or(affinity))));
  add_memory(facts, roots.root);
  add_container(facts, roots.root);
  add_git(facts, roots.working_folder);
  add_gpus(facts, roots.root);
  return facts;
}

std::vector<NamedValue> describe_environment(const EnvironmentRoots& roots) {
  Facts facts = machine_environment(roots);
  add_variables(facts);
  return facts;
}

void set_affinity(std::vector<NamedValue>& facts, std::uint32_t cores) {
  std::optional<double> quota;
  for (const NamedValue& fact : facts) {
    if (fact.name == "cpu.cores_cgroup") quota = std::strtod(fact.value.c_str(), nullptr);
  }
  const double allowed = std::min<double>(cores, quota.value_or(cores));
  for (NamedValue& fact : facts) {
    if (fact.name == "cpu.cores_affinity") fact.value = fmt::format("{}", cores);
    if (fact.name == "cpu.cores_allowed") fact.value = fmt::format("{:g}", allowed);
  }
}

}  // namespace swinscope
