#include "analyzer/experiment/timed_step.h"

#include <algorithm>
#include <vector>

#include "analyzer/base/statistics.h"
#include "analyzer/experiment/experiment.h"
#include "analyzer/importers/run_place.h"
#include "store/error.h"

namespace swinscope {
namespace fs = std::filesystem;

std::optional<TimedStep> timed_step_beside(const fs::path& traced) {
  std::error_code ignored;
  const fs::path folder = fs::weakly_canonical(run_folder_of(traced), ignored);
  const fs::path of_point = traced_run_beside(folder);
  if (of_point.empty() || !fs::equivalent(of_point, folder, ignored)) return std::nullopt;
  try {
    ExperimentPoint point = read_point(of_point.parent_path());
    if (std::vector<std::int64_t>& given_ns = point.given_step_ns; !given_ns.empty()) {
      std::ranges::sort(given_ns);
      return TimedStep{quantile(given_ns, 0.5), std::nullopt};
    }
    if (point.timing.empty()) return std::nullopt;
    Experiment experiment = read_experiment(of_point.parent_path().parent_path());
    point.tracing.clear();
    point.profile.clear();
    experiment.points = {point};
    const ScalingRow row = scaling_table(experiment).front();
    if (row.traced_only) return std::nullopt;
    return TimedStep{row.step_ns, row.step_spread};
  } catch (const Error&) {
    return std::nullopt;  // what `analyze` says of the experiment
  }
}

}  // namespace swinscope
