// swinscope join -o EXPERIMENT gpus=1:RUN gpus=2:RUN …: an experiment out of runs that were made apart.
#include <algorithm>
#include <charconv>
#include <fstream>
#include <memory>

#include <fmt/format.h>

#include "analyzer/documents.h"
#include "cli/command.h"
#include "store/error.h"

namespace swinscope::cli {
namespace fs = std::filesystem;
namespace {

struct JoinOptions {
  CommonOptions common;
  std::vector<std::string> runs;
  std::string timing;
  Experiment experiment;
};

// "gpus=2:path" -> 2, path
std::pair<int, fs::path> parse_run(const std::string& text) {
  constexpr std::string_view kKey = "gpus=";
  const std::size_t colon = text.find(':');
  int gpus = 0;
  if (text.compare(0, kKey.size(), kKey) == 0 && colon != std::string::npos) {
    std::from_chars(text.data() + kKey.size(), text.data() + colon, gpus);
  }
  if (gpus < 1 || colon + 1 == text.size()) {
    throw Error(ErrorKind::kUsage, fmt::format("{}: not gpus=N:RUN", text), {}, "for example gpus=2:runs/two-gpus");
  }
  return {gpus, text.substr(colon + 1)};
}

// Lines "gpus,step_ns"; a line that does not begin with a digit is a heading.
std::map<int, std::vector<std::int64_t>> read_timing(const std::string& path) {
  std::map<int, std::vector<std::int64_t>> timing;
  std::ifstream file(path);
  if (!file)
    throw Error(ErrorKind::kInput, fmt::format("{}: cannot be read", path), {}, "check the path given with --timing");
  int number = 0;
  for (std::string line; std::getline(file, line);) {
    ++number;
    if (line.empty() || line.front() < '0' || line.front() > '9') continue;
    int gpus = 0;
    std::int64_t step_ns = 0;
    const char* const end = line.data() + line.size();
    const auto first = std::from_chars(line.data(), end, gpus);
    const bool comma = first.ec == std::errc() && first.ptr != end && *first.ptr == ',';
    if (!comma || std::from_chars(first.ptr + 1, end, step_ns).ec != std::errc() || step_ns <= 0) {
      throw Error(ErrorKind::kInput, fmt::format("{}: line {} is not gpus,step_ns", path, number), line,
                  "give one line for each repeat, times in ns");
    }
    timing[gpus].push_back(step_ns);
  }
  return timing;
}

// What `scale` or `sweep` measured is taken over as it is; any other run is a point with a trace only.
ExperimentPoint joined_point(int gpus, const fs::path& run, const fs::path& experiment) {
  std::error_code ignored;
  if (fs::is_regular_file(run / "point.json", ignored)) return read_point(run);
  ExperimentPoint point;
  point.folder = experiment / fmt::format("gpus{}", gpus);
  point.factors["gpus"] = std::to_string(gpus);
  point.tracing = fs::absolute(run).string();
  return point;
}

int run_join(JoinOptions& options) {
  Experiment& experiment = options.experiment;
  experiment.folder = options.common.output;
  if (is_experiment(experiment.folder) && !options.common.force) {
    throw Error(ErrorKind::kUsage, fmt::format("{}: holds an experiment", experiment.folder.string()), {},
                "give another folder with -o, or --force to replace its experiment.json");
  }
  const auto timing = options.timing.empty() ? std::map<int, std::vector<std::int64_t>>{} : read_timing(options.timing);
  for (const std::string& text : options.runs) {
    const auto [gpus, run] = parse_run(text);
    ExperimentPoint point = joined_point(gpus, run, experiment.folder);
    if (point.gpus() != gpus) {
      throw Error(ErrorKind::kUsage, fmt::format("{}: was measured with {} GPUs", run.string(), point.gpus()), {},
                  fmt::format("give it as gpus={}:{}", point.gpus(), run.string()));
    }
    const bool is_there = std::any_of(experiment.points.begin(), experiment.points.end(),
                                      [gpus = gpus](const ExperimentPoint& p) { return p.gpus() == gpus; });
    if (is_there) {
      throw Error(ErrorKind::kUsage, fmt::format("gpus={} is given twice", gpus), {},
                  "repeats are a point of `scale` (EXPERIMENT/gpus2), or step times given with --timing");
    }
    if (const auto given = timing.find(gpus); given != timing.end()) point.given_step_ns = given->second;
    experiment.points.push_back(std::move(point));
  }
  fs::create_directories(experiment.folder);
  for (const ExperimentPoint& point : experiment.points) {
    if (point.folder.parent_path() != experiment.folder) continue;  // another experiment's: not ours to change
    fs::create_directories(point.folder);
    write_point(point);
  }
  write_experiment(experiment);
  CommonOptions to_stdout = options.common;
  to_stdout.output.clear();
  emit(experiment_document(read_experiment(experiment.folder)), to_stdout);
  return 0;
}

}  // namespace

void add_join(CLI::App& app, int& status) {
  auto options = std::make_shared<JoinOptions>();
  CLI::App* command = app.add_subcommand("join", "Make an experiment out of runs that were made apart");
  command->add_option("RUNS", options->runs, "gpus=N:RUN, …; RUN is a point of `scale` (EXPERIMENT/gpus2) or any trace")
      ->required();
  command->add_option("--timing", options->timing, "Untraced step times: CSV lines gpus,step_ns, one for each repeat");
  command->add_option("--images", options->experiment.images, "Images of the training whose time is extrapolated")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  command
      ->add_option("--images-per-gpu", options->experiment.images_per_gpu,
                   "For programs that do not say: images of a rank in a step")
      ->check(CLI::PositiveNumber);
  command->add_option("--warmup-steps", options->experiment.warmup_steps, "Steps left out at the beginning of each run")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  options->common.add_to(*command);
  command->get_option("--output")->required()->description("Experiment folder to write");
  command->callback([options, &status] { status = run_join(*options); });
}

}  // namespace swinscope::cli
