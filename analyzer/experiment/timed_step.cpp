#include "analyzer/experiment/timed_step.h"

#include <algorithm>
#include <vector>

#include "analyzer/base/statistics.h"
#include "analyzer/experiment/experiment.h"
#include "analyzer/importers/run_place.h"
#include "store/error.h"

namespace swinscope {
namespace fs = std::filesystem;

std::optional<std::int64_t> timed_step_beside(const fs::path& traced) {
  std::error_code ignored;
  const fs::path folder = fs::weakly_canonical(run_folder_of(traced), ignored);
  const fs::path of_point = traced_run_beside(folder);
  if (of_point.empty() || !fs::equivalent(of_point, folder, ignored)) return std::nullopt;
  try {
    ExperimentPoint point = read_point(of_point.parent_path());
    if (std::vector<std::int64_t>& given_ns = point.given_step_ns; !given_ns.empty()) {
      std::ranges::sort(given_ns);
      return quantile(given_ns, 0.5);
    }
    if (point.timing.empty()) return std::nullopt;
    Experiment experiment = read_experiment(of_point.parent_path().parent_path());
    point.tracing.clear();
    point.profile.clear();
    experiment.points = {point};
    const ScalingRow row = scaling_table(experiment).front();
    return row.traced_only ? std::nullopt : std::optional(row.step_ns);
  } catch (const Error&) {
    return std::nullopt;  // what `analyze` says of the experiment
  }
}

}  // namespace swinscope
