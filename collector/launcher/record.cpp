#include "collector/launcher/record.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <map>
#include <new>
#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "collector/base/clock.h"
#include "collector/base/collector_settings.h"
#include "collector/base/environment.h"
#include "collector/base/identity.h"
#include "collector/base/proc_files.h"
#include "collector/base/process_stat.h"
#include "collector/base/recorded_command.h"
#include "collector/launcher/command.h"
#include "collector/launcher/file_owner.h"
#include "collector/launcher/parent_role.h"
#include "collector/launcher/recorder_id.h"
#include "collector/launcher/run_claim.h"
#include "collector/launcher/run_folder.h"
#include "collector/launcher/segment_hub.h"
#include "collector/sampling/gpu_sampler.h"
#include "collector/sampling/process_log.h"
#include "collector/sampling/process_tree.h"

namespace swinscope {
namespace fs = std::filesystem;
namespace {

constexpr int kKilledBase = 128;

using Report = std::function<void(const std::string&)>;

void report_to_stderr(const std::string& line) { std::fprintf(stderr, "swinscope: %s\n", line.c_str()); }

std::int64_t cpu_ns_of(const rusage& usage) {
  const auto ns = [](const timeval& t) {
    return std::int64_t{t.tv_sec} * 1'000'000'000 + std::int64_t{t.tv_usec} * 1000;
  };
  return ns(usage.ru_utime) + ns(usage.ru_stime);
}

// The run while its processes live: passes signals on, samples, waits.
class Watch {
 public:
  Watch(const ParentRole& role, ProcessLog& log, SegmentHub& hub, RunClaim& claim, double sample_hz,
        const Report& report)
      : role_(role),
        log_(log),
        hub_(hub),
        claim_(claim),
        report_(report),
        scanner_(getpid()),
        period_ns_(sample_hz > 0 ? static_cast<std::int64_t>(1e9 / sample_hz) : kIdlePeriodNs) {}

  // Until the last process has ended; returns the command's exit status, whatever fails meanwhile.
  int run(pid_t command) {
    constexpr int kMostFailures = 8;
    command_ = command;
    for (int failures = 0; failures < kMostFailures; ++failures) {
      try {
        watch();
        return status_;
      } catch (const std::exception&) {
        // No memory: what was seen stays seen.
      }
    }
    wait_for_command();
    return status_;
  }

  ProcessTree& tree() { return tree_; }

  // From now on, with the processes' samples.
  void sample_gpus(std::unique_ptr<GpuSampler> gpus) { gpus_ = std::move(gpus); }

 private:
  static constexpr std::int64_t kIdlePeriodNs = 1'000'000'000;
  static constexpr std::int64_t kFlushNs = 500'000'000;
  // Sampling may take this part of one core at most.
  static constexpr std::int64_t kCostFactor = 50;
  static constexpr std::int64_t kYoungNs = 1'000'000'000;

  void watch() {
    sample();
    while (!gives_up_ && reap()) {
      if (const auto signal = role_.wait_until(next_sample_ns_)) handle(*signal);
      if (monotonic_ns() >= next_sample_ns_) sample();
    }
    sample();  // those that another process waited for have ended since the last one
    gpus_.reset();
    tree_.finish();
  }

  // Needs nothing.
  void wait_for_command() {
    int status = 0;
    while (!has_ended_ && (waitpid(command_, &status, 0) == command_ || errno != EINTR)) {
      command_ended(status);
    }
  }

  void command_ended(int status) {
    status_ = WIFSIGNALED(status) ? kKilledBase + WTERMSIG(status) : WEXITSTATUS(status);
    has_ended_ = true;
  }

  // False when no process is left.
  bool reap() {
    siginfo_t ended{};
    while (waitid(P_ALL, 0, &ended, WEXITED | WNOHANG | WNOWAIT) == 0) {
      if (ended.si_pid == 0) return true;
      if (const auto stat = read_process_stat(ended.si_pid)) tree_.last_look(*stat);
      hub_.process_ends(ended.si_pid);
      int status = 0;
      rusage usage{};
      wait4(ended.si_pid, &status, 0, &usage);
      if (ended.si_pid == command_) command_ended(status);
      tree_.reaped(ended.si_pid, cpu_ns_of(usage), monotonic_ns());
      ended = {};
    }
    return false;
  }

  void handle(const siginfo_t& info) {
    if (info.si_signo == SIGCHLD) return;
    if (has_ended_) {
      gives_up_ = info.si_signo == SIGINT || info.si_signo == SIGTERM;
      if (gives_up_) report_("not waiting for the processes that the command left behind");
      return;
    }
    // From the terminal it went to the whole process group, the command included.
    if (info.si_code != SI_KERNEL) kill(command_, info.si_signo);
  }

  // Whatever goes wrong here, the command runs on and its status is returned.
  void sample() {
    try {
      take_sample();
    } catch (const std::exception& error) {
      if (!std::exchange(has_failed_, true)) report_(fmt::format("the processes were not sampled: {}", error.what()));
      next_sample_ns_ = monotonic_ns() + kIdlePeriodNs;
    }
  }

  void take_sample() {
    const std::int64_t now_ns = monotonic_ns();
    const std::int64_t cpu_before_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
    const std::vector<std::size_t> changed = tree_.sample(now_ns, scanner_.scan());
    std::vector<std::size_t> described = changed;
    for (std::size_t i = 0; i < tree_.processes().size(); ++i) {
      const TreeProcess& process = tree_.processes()[i];
      // A child shows its parent's command line and environment until it calls exec, a little after its birth.
      const bool is_young = process.is_alive() && now_ns - process.first_seen_ns < kYoungNs;
      if (is_young && std::find(changed.begin(), changed.end(), i) == changed.end()) described.push_back(i);
    }
    for (const std::size_t i : described)
      describe(tree_.processes()[i]);
    log_.add_sample(now_ns, tree_, described);
    if (gpus_ != nullptr) {
      log_.add_gpus(gpus_->take());
      log_.lose_gpus(gpus_->dropped());
    }
    claim_.beat(now_ns);
    if (now_ns >= next_flush_ns_) {
      log_.flush();
      next_flush_ns_ = now_ns + kFlushNs;
    }
    const std::int64_t cost_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID) - cpu_before_ns;
    next_sample_ns_ = now_ns + std::max(period_ns_, kCostFactor * cost_ns);
  }

  static void describe(TreeProcess& process) {
    const std::string folder = fmt::format("/proc/{}/", process.stat.pid);
    const std::string command = recorded_command(nul_separated(read_small_file(folder + "cmdline")));
    if (!command.empty()) process.command = command;
    const RankIdentity identity = rank_from(nul_separated(read_small_file(folder + "environ")));
    if (identity.is_given) process.rank = identity.rank;
  }

  const ParentRole& role_;
  ProcessLog& log_;
  SegmentHub& hub_;
  RunClaim& claim_;
  const Report& report_;
  ProcessScanner scanner_;
  ProcessTree tree_;
  std::unique_ptr<GpuSampler> gpus_;
  std::int64_t period_ns_;
  std::int64_t next_sample_ns_ = 0;
  std::int64_t next_flush_ns_ = 0;
  pid_t command_ = 0;
  int status_ = 0;
  bool has_ended_ = false;
  bool gives_up_ = false;
  bool has_failed_ = false;
};

RunInfo describe_launcher(const RecordOptions& options, std::int64_t start_utc_ns) {
  RunInfo run;
  run.source = "swinscope";
  run.rank = kNoRank;
  run.global_pid = make_global_pid(static_cast<std::uint64_t>(getpid()));
  run.host = host_name();
  run.command = recorded_command(options.command);
  run.utc_epoch_ns = start_utc_ns;
  run.environment = describe_environment();
  return run;
}

// How the GPUs are connected is a fact of every run; their metrics are sampled on request.
void look_at_gpus(const RecordOptions& options, ProcessLog& log, Watch& watch, const Report& report) {
  std::string problem;
  std::unique_ptr<Nvml> nvml = open_nvml(problem);
  if (nvml != nullptr) log.add_facts(describe_connections(*nvml));
  if (options.gpu_metrics_hz <= 0) return;
  if (nvml == nullptr) return report(fmt::format("GPU metrics are not sampled: {}", problem));
  auto sampler = std::make_unique<GpuSampler>(std::move(nvml), static_cast<std::int64_t>(1e9 / options.gpu_metrics_hz));
  log.describe_gpus(sampler->gpus());
  watch.sample_gpus(std::move(sampler));
}

// Python imports sitecustomize from the first folder that has one.
std::string python_path(const fs::path& collector) {
  const std::string folder = (fs::absolute(collector).parent_path() / "python").string();
  const char* before = std::getenv("PYTHONPATH");
  return before == nullptr || *before == '\0' ? folder : folder + ":" + before;
}

std::map<std::string, std::string> variables_for(const RecordOptions& options, const fs::path& collector,
                                                 const fs::path& rings, const RecorderId& recorder,
                                                 std::int64_t offset_ns) {
  CollectorSettings settings;
  settings.folder = fs::absolute(options.folder).string();
  settings.rings = rings.string();
  settings.recorder = recorder.mark();
  settings.clock = utc_offset_text(offset_ns);
  settings.sample_hz = options.sample_hz;
  settings.max_bytes = options.max_bytes;
  settings.rotates = options.rotates;
  settings.trace = options.trace;
  settings.window = options.window;
  std::map<std::string, std::string> variables = settings.to_environment();
  const std::string library = fs::absolute(collector).string();
  variables["CUDA_INJECTION64_PATH"] = library;
  variables["NVTX_INJECTION64_PATH"] = library;
  if (options.trace.nccl) variables["NCCL_PROFILER_PLUGIN"] = library;
  if (options.torch_modules) variables["PYTHONPATH"] = python_path(collector);
  return variables;
}

void warn_of_other_tool(const fs::path& collector, const TraceOptions& trace, const Report& report) {
  for (const char* name : {"CUDA_INJECTION64_PATH", "NVTX_INJECTION64_PATH", "NCCL_PROFILER_PLUGIN"}) {
    const char* other = std::getenv(name);
    if (name == std::string_view("NCCL_PROFILER_PLUGIN") && !trace.nccl) continue;
    if (other != nullptr && *other != '\0' && collector != other)
      report(fmt::format("{}={} is replaced: only one tool can have the events", name, other));
  }
  constexpr std::size_t kMaxPath = 255;  // NCCL cuts longer ones
  if (trace.nccl && fs::absolute(collector).string().size() > kMaxPath)
    report(fmt::format("NCCL will not load its plugin: {} is longer than {} characters", collector.string(), kMaxPath));
}

std::vector<fs::path> trace_files_of(const fs::path& folder, const RunDescription& run) {
  std::vector<fs::path> files;
  for (const RunFile& file : run.files)
    files.push_back(folder / file.name);
  if (!run.process_file.empty()) files.push_back(folder / run.process_file);
  return files;
}

// After the last process has ended: the files of the ranks, then our own, which needs to know their ranks.
void close_run(const RecordOptions& options, ProcessTree& tree, ProcessLog& log, SegmentHub& hub, const RunClaim& claim,
               RunDescription& run, const Report& note) {
  std::set<std::int64_t> alive;
  std::set<std::int64_t> all;
  std::int64_t cpu_ns = 0;
  for (const TreeProcess& process : tree.processes()) {
    all.insert(process.stat.pid);
    if (process.is_alive()) alive.insert(process.stat.pid);
    cpu_ns += process.own_ns + process.unseen_ns;
  }
  run.cpu_ns = cpu_ns;
  const bool is_explained = hub.finish(alive, note) > 0;
  const FileOwner owner(options.folder, claim, run.recorder.mark(), std::move(all));
  run.files = finish_run_files(options.folder, alive, note, &owner, is_explained);
  std::map<pid_t, std::int32_t> ranks;
  for (const RunFile& file : run.files)
    ranks.emplace(static_cast<pid_t>(file.pid), file.rank);
  tree.assign_ranks(ranks);
  log.finish(tree);
  run.process_file = log.file_name();
  std::error_code none;
  if (owner.is_alone()) fs::remove(options.folder / kTriggerFile, none);
  report_run_files(run.files, note);
}

// The command has ended by then: its status is what counts.
void report_end(const std::exception& error, const Report& report) noexcept {
  try {
    if (const auto* own = dynamic_cast<const Error*>(&error)) {
      report(fmt::format("{} ({})", own->what(), own->cause()));
    } else {
      report(fmt::format("the run was not finished: {}", error.what()));
    }
  } catch (const std::exception&) {
    // No memory for words.
  }
}

}  // namespace

fs::path find_collector() {
  constexpr const char* kName = "libswinscope_collector.so";
  if (const char* given = std::getenv("SWINSCOPE_COLLECTOR"); given != nullptr && *given != '\0') {
    std::error_code none;
    if (fs::exists(given, none)) return given;
    throw Error(ErrorKind::kFailure, fmt::format("{}: no such file", given), "SWINSCOPE_COLLECTOR names it",
                "unset SWINSCOPE_COLLECTOR");
  }
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error).parent_path();
  // Of a build tree; installed; moved beside the program by hand.
  const std::array<fs::path, 3> candidates = {program / "../lib" / kName, program / "../lib/swinscope" / kName,
                                              program / kName};
  for (const fs::path& candidate : candidates) {
    if (fs::exists(candidate, error)) return fs::canonical(candidate, error);
  }
  throw Error(ErrorKind::kFailure, fmt::format("{}: not found", kName),
              fmt::format("it is not at {}", candidates[0].lexically_normal().string()),
              "set SWINSCOPE_COLLECTOR to its path");
}

int record(const RecordOptions& options, RecordOutcome* outcome) {
  const Report report = options.report ? options.report : report_to_stderr;
  std::vector<std::string> warnings;
  const Report note = [&](const std::string& line) {
    warnings.push_back(line);
    report(line);
  };
  if (options.command.empty()) find_command("");
  const fs::path program = find_command(options.command.front());
  const fs::path collector = options.collector.empty() ? find_collector() : options.collector;

  const std::int64_t offset_ns = measure_utc_offset_ns();
  const std::int64_t start_ns = monotonic_ns();
  RunDescription run;
  run.command = without_secrets(options.command);
  run.recorder = this_recorder();
  run.place = job_place_from_environment();
  run.window = window_text(options.window);
  run.start_utc_ns = start_ns + offset_ns;
  const ParentRole role;
  RunClaim claim(options.folder, run.recorder, run.place, run_json(run), options.force);
  warn_of_other_tool(collector, options.trace, note);
  if (!claim.others().empty() && !run.place.rank)
    report(fmt::format("{}: recorded together with what others record there", options.folder.string()));

  ProcessLog log(options.folder, describe_launcher(options, run.start_utc_ns), start_ns, note);
  SegmentHub hub({fs::absolute(options.folder), run.recorder.mark(), offset_ns, options.sample_hz, options.max_bytes,
                  options.rotates});
  Watch watch(role, log, hub, claim, options.sample_hz, note);
  pid_t child = 0;
  try {
    child = spawn_command(program, options.command,
                          variables_for(options, collector, hub.rings(), run.recorder, offset_ns), role.mask_before());
    std::set_new_handler(nullptr);  // from here on the command runs
  } catch (const CommandError&) {
    log.discard();
    claim.withdraw();  // nothing ran: leave no run behind
    throw;
  }
  if (outcome != nullptr) outcome->has_started = true;
  hub.start();
  try {
    look_at_gpus(options, log, watch, note);
  } catch (const std::exception&) {
    // No memory to look with.
  }
  const int status = watch.run(child);

  try {
    close_run(options, watch.tree(), log, hub, claim, run, note);
    run.end_utc_ns = monotonic_ns() + offset_ns;
    run.exit_status = status;
    run.warnings = warnings;
    write_run_json(claim.file(), run);
    if (outcome != nullptr) outcome->files = trace_files_of(options.folder, run);
  } catch (const std::exception& error) {
    report_end(error, report);
  }
  return status;
}

}  // namespace swinscope
