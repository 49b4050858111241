// swinscope join -o EXPERIMENT gpus=1:RUN gpus=2:RUN …: an experiment out of runs that were made apart.
#include <algorithm>
#include <charconv>
#include <memory>

#include <fmt/format.h>

#include "analyzer/base/text.h"
#include "analyzer/facts/job_size.h"
#include "analyzer/importers/open.h"
#include "cli/command.h"
#include "cli/experiments.h"
#include "cli/timing_file.h"
#include "store/error.h"
#include "store/private_file.h"

namespace swinscope::cli {
namespace fs = std::filesystem;
namespace {

struct JoinOptions {
  CommonOptions common;
  std::vector<std::string> runs;
  std::string timing;
  std::string mode;         // empty: as its points say, else weak
  bool has_warmup = false;  // given by the user
  Experiment experiment;
};

// "gpus=2:path" -> 2, path
std::pair<int, fs::path> parse_run(const std::string& text) {
  constexpr std::string_view kKey = "gpus=";
  const std::size_t colon = text.find(':');
  int gpus = 0;
  if (text.compare(0, kKey.size(), kKey) == 0 && colon != std::string::npos) {
    const auto [end, error] = std::from_chars(text.data() + kKey.size(), text.data() + colon, gpus);
    if (error != std::errc() || end != text.data() + colon) gpus = 0;
  }
  if (gpus < 1 || colon + 1 == text.size()) {
    throw Error(ErrorKind::kUsage, fmt::format("{}: not gpus=N:RUN", text), {}, "for example gpus=2:runs/two-gpus");
  }
  return {gpus, text.substr(colon + 1)};
}

// What `scale` or `sweep` measured is taken over as it is; any other run is a point with a trace only.
ExperimentPoint joined_point(int gpus, const fs::path& run, const fs::path& experiment) {
  std::error_code ignored;
  if (fs::is_regular_file(run / "point.json", ignored)) return read_point(run);
  ExperimentPoint point;
  point.folder = experiment / fmt::format("gpus{}", gpus);
  point.factors["gpus"] = std::to_string(gpus);
  point.tracing = fs::absolute(run).string();  // until it is linked
  return point;
}

// A number of GPUs that the run itself contradicts would give a speedup of nothing.
void require_gpus(const ExperimentPoint& point, const std::string& text) {
  const fs::path run = point.folder / (point.timing.empty() ? point.tracing : point.timing.front());
  if (point.timing.empty() && point.tracing.empty()) return;
  const JobSize job = job_size(open_trace(run));
  if (job.may_have(point.gpus())) return;
  throw Error(ErrorKind::kUsage, fmt::format("{}: the run is of {}, not of {}", text, describe(job), point.gpus()),
              "its ranks and GPUs are counted in its traces",
              fmt::format("give it as gpus={}:…, or give the run that is meant", job.fewest));
}

// A point that `scale` timed has its step times, and that of another experiment is not ours to change.
void require_untimed(const ExperimentPoint& point, const JoinOptions& options) {
  const fs::path home = fs::absolute(options.experiment.folder).lexically_normal();
  const bool is_own = fs::absolute(point.folder).lexically_normal().parent_path() == home;
  if (is_own && point.timing.empty()) return;
  throw Error(ErrorKind::kUsage,
              fmt::format("{}: has step times for gpus={}, whose point {} was measured by swinscope", options.timing,
                          point.gpus(), point.folder.string()),
              "its own step times would count no more, or beside others",
              fmt::format("take the lines out of the file, or give the traced run of the point: gpus={}:{}",
                          point.gpus(), (point.folder / "tracing").string()));
}

void add_points(JoinOptions& options, const std::map<int, std::vector<std::int64_t>>& timing) {
  Experiment& experiment = options.experiment;
  for (const std::string& text : options.runs) {
    const auto [gpus, run] = parse_run(text);
    ExperimentPoint point = joined_point(gpus, run, experiment.folder);
    if (point.gpus() != gpus) {
      throw Error(ErrorKind::kUsage, fmt::format("{}: was measured with {}", run.string(), point.gpus()), {},
                  fmt::format("give it as gpus={}:{}", point.gpus(), run.string()));
    }
    const bool is_there = std::any_of(experiment.points.begin(), experiment.points.end(),
                                      [known = gpus](const ExperimentPoint& p) { return p.gpus() == known; });
    if (is_there) {
      throw Error(ErrorKind::kUsage, fmt::format("gpus={} is given twice", gpus), {},
                  "repeats are a point of `scale` (EXPERIMENT/gpus2), or step times given with --timing");
    }
    require_gpus(point, text);
    if (const auto given = timing.find(gpus); given != timing.end()) {
      require_untimed(point, options);
      point.given_step_ns = given->second;
    }
    experiment.points.push_back(std::move(point));
  }
  for (const auto& [gpus, ignored] : timing) {
    const auto is_of = [wanted = gpus](const ExperimentPoint& point) { return point.gpus() == wanted; };
    if (std::ranges::any_of(experiment.points, is_of)) continue;
    throw Error(ErrorKind::kUsage,
                fmt::format("{}: has step times for gpus={}, for which no run is given", options.timing, gpus), {},
                fmt::format("give gpus={}:RUN too, or take its lines out", gpus));
  }
}

// The experiments that the points were measured in.
std::vector<Experiment> sources_of(const Experiment& experiment) {
  std::vector<Experiment> sources;
  for (const ExperimentPoint& point : experiment.points) {
    const fs::path parent = fs::absolute(point.folder).lexically_normal().parent_path();
    const bool is_own = parent == fs::absolute(experiment.folder).lexically_normal();
    if (!is_own && is_experiment(parent)) sources.push_back(read_experiment(parent));
  }
  return sources;
}

// Points of `scale` bring the mode and the warm-up of their experiment; options say those of runs which do not.
void take_over_settings(JoinOptions& options) {
  Experiment& experiment = options.experiment;
  std::string mode = options.mode;
  std::string said_by = "--mode";
  for (const Experiment& source : sources_of(experiment)) {
    if (!options.has_warmup) experiment.warmup_steps = std::max(experiment.warmup_steps, source.warmup_steps);
    if (source.mode == "sweep") continue;
    if (!mode.empty() && source.mode != mode) {
      throw Error(ErrorKind::kUsage, fmt::format("{}: is of mode {}", source.folder.string(), source.mode),
                  fmt::format("{} says {}", said_by, mode), "join points of one mode, and leave --mode out");
    }
    mode = source.mode;
    said_by = source.folder.string();
  }
  if (!mode.empty()) experiment.mode = mode;
  // Points bring their own rule for steps, too; it is the experiment's where it is everybody's.
  const std::string step = experiment.points.empty() ? std::string() : experiment.points.front().step;
  const auto has_same = [&](const ExperimentPoint& point) { return point.step == step; };
  if (std::ranges::all_of(experiment.points, has_same)) experiment.step = step;
  if (experiment.mode == "strong" && experiment.images_per_gpu > 0) {
    throw Error(ErrorKind::kUsage, "--images-per-gpu: the mode is strong scaling",
                "the images of a GPU become fewer with each GPU", "give --images-per-step, which stays");
  }
}

// Where nobody asked for it, warm-up leaves every run at least one step: two steps of torch.profiler are no reason to
// refuse.
void lower_warmup(Experiment& experiment) {
  const std::int64_t fewest = fewest_steps(experiment);
  if (fewest > experiment.warmup_steps) return;
  const int lowered = static_cast<int>(std::max<std::int64_t>(fewest - 1, 0));
  experiment.notes.push_back(fmt::format("Warm-up is {} instead of {}: a run has {} only.",
                                         format_counted(lowered, "steps"), experiment.warmup_steps,
                                         format_counted(fewest, "steps")));
  experiment.warmup_steps = lowered;
}

bool is_within(const fs::path& path, const fs::path& folder) {
  return std::mismatch(folder.begin(), folder.end(), path.begin(), path.end()).first == folder.end();
}

// Makes `link` lead to `folder`, a canonical path. Where that is below the experiment, the link stays true wherever the
// whole is moved to; for any other, its mark goes to `links`: it is followed on this machine, by this user.
void make_link(const fs::path& link, const fs::path& folder, const fs::path& experiment, OwnLinks& links) {
  std::error_code error;
  if (fs::is_symlink(link, error)) fs::remove(link, error);
  const bool is_own = is_within(folder, fs::canonical(experiment));
  fs::create_directory_symlink(is_own ? folder.lexically_relative(fs::canonical(link.parent_path())) : folder, link,
                               error);
  if (error) {
    throw Error(ErrorKind::kUsage, fmt::format("{}: cannot become a link to {}", link.string(), folder.string()),
                error.message(), "give another folder with -o");
  }
  const std::string name = link.filename().string();
  links.erase(name);
  if (!is_own) links[name] = link_mark(link);
}

// A plain run becomes the one of its point; of a file, the folder is linked: what was printed is beside it.
void link_run(ExperimentPoint& point, const fs::path& experiment) {
  constexpr const char* kTracing = "tracing";
  std::error_code ignored;
  if (fs::is_symlink(point.folder, ignored)) fs::remove(point.folder, ignored);  // another's point, joined before
  make_private_folder(point.folder);
  const fs::path run = fs::canonical(point.tracing);
  if (const fs::path home = fs::canonical(point.folder); is_within(run, home)) {
    point.tracing = run.lexically_relative(home).string();
    return;
  }
  const bool is_folder = fs::is_directory(run, ignored);
  make_link(point.folder / kTracing, is_folder ? run : run.parent_path(), experiment, point.links);
  point.tracing = is_folder ? kTracing : fs::path(kTracing) / run.filename();
}

// Everything that the experiment names lies below its folder then, by a link at least.
void link_points(Experiment& experiment) {
  for (ExperimentPoint& point : experiment.points) {
    const bool is_plain = fs::path(point.tracing).is_absolute();
    const fs::path folder = is_plain ? fs::path() : fs::canonical(point.folder);
    if (is_plain) {
      link_run(point, experiment.folder);
    } else if (folder.parent_path() == fs::canonical(experiment.folder)) {
      point.folder = experiment.folder / folder.filename();
    } else {
      point.folder = experiment.folder / fmt::format("gpus{}", point.gpus());
      make_link(point.folder, folder, experiment.folder, experiment.links);
      continue;  // another experiment's point: not ours to change
    }
    write_point(point);
  }
}

int run_join(JoinOptions& options) {
  Experiment& experiment = options.experiment;
  experiment.folder = options.common.output;
  if (is_experiment(experiment.folder) && !options.common.force) {
    throw Error(ErrorKind::kUsage, fmt::format("{}: holds an experiment", experiment.folder.string()), {},
                "give another folder with -o, or --force to replace its experiment.json");
  }
  const auto timing = options.timing.empty() ? std::map<int, std::vector<std::int64_t>>{} : read_timing(options.timing);
  add_points(options, timing);
  take_over_settings(options);
  if (!options.has_warmup) lower_warmup(experiment);
  make_private_folder(experiment.folder);
  link_points(experiment);
  write_experiment(experiment);
  show_experiment(experiment.folder, options.common);
  return 0;
}

}  // namespace

void add_join(Program& program) {
  auto options = std::make_shared<JoinOptions>();
  Command& command = program.add_command("join", "Make an experiment out of runs that were made apart");
  command.option("RUNS", options->runs, "gpus=N:RUN, …; RUN is a point of `scale` (EXPERIMENT/gpus2) or any trace")
      .required();
  command.option("--timing", options->timing,
                 "Untraced step times: CSV with the columns gpus and step_s, step_ms, step_us or step_ns, a line for "
                 "each repeat");
  command.option("--images", options->experiment.images, "Images of the training whose time is extrapolated")
      .positive()
      .show_default();
  command.option("--mode", options->mode, "weak: images of a GPU constant (default); strong: images of a step constant")
      .one_of({"weak", "strong"});
  command
      .option("--images-per-step", options->experiment.images_per_step,
              "For programs that do not say: images of all ranks in a step, at the point with the fewest GPUs")
      .positive();
  command
      .option("--images-per-gpu", options->experiment.images_per_gpu,
              "For programs that do not say: images of a rank in a step")
      .positive();
  Option warmup = command
                      .option("--warmup-steps", options->experiment.warmup_steps,
                              "Steps left out at the beginning of each run; fewer by default where a run has no more")
                      .not_negative()
                      .show_default();
  options->common.add_to(command);
  command.get("--output").required().description("Experiment folder to write");
  command.does([options, warmup] {
    options->has_warmup = warmup.is_given();
    return run_join(*options);
  });
}

}  // namespace swinscope::cli
