#include "analyzer/experiment/scaling_loss.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include <fmt/format.h>

#include "analyzer/base/text.h"
#include "analyzer/table/cells.h"

namespace swinscope {
namespace {

// Sums over the devices of a point, per step.
struct Pop {
  double useful = 0;
  double most_useful = 0;
  double most_active = 0;
  double longest = 0;
  std::size_t devices = 0;
};

Pop pop_of(const StepWork& work) {
  Pop pop;
  for (const DeviceTimes& device : work.devices) {
    if (device.steps == 0) continue;
    const auto per_step = [&](std::int64_t ns) { return static_cast<double>(ns) / static_cast<double>(device.steps); };
    pop.useful += per_step(device.useful_ns);
    pop.most_useful = std::max(pop.most_useful, per_step(device.useful_ns));
    pop.most_active = std::max(pop.most_active, per_step(device.active_ns));
    pop.longest = std::max(pop.longest, per_step(device.window_ns));
    ++pop.devices;
  }
  return pop;
}

// Whether what was traced is taken apart by the steps that were timed: a whole trace is none, and neither is a period
// of kernels where lines of the output were timed.
bool has_timed_steps(const ScalingRow& row) {
  if (!row.work || !row.work->is_of_steps || !row.traced_step_ns) return false;
  const auto traced_ns = static_cast<double>(*row.traced_step_ns);
  return std::abs(static_cast<double>(row.work->step_ns) - traced_ns) <= kMuchDistortion * traced_ns;
}

}  // namespace

bool ScalingLoss::is_indicative() const {
  return static_cast<double>(std::abs(distortion_ns())) > kMuchDistortion * static_cast<double>(std::abs(loss_ns()));
}

std::vector<ScalingLoss> scaling_losses(const std::vector<ScalingRow>& rows) {
  std::vector<ScalingLoss> losses;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const ScalingRow& row = rows[i];
    const ScalingRow& base = rows[row.base];
    const bool is_known = has_timed_steps(row) && has_timed_steps(base) && row.work_of_base && row.step_ns > 0;
    if (row.base == i || !is_known) continue;
    ScalingLoss& loss = losses.emplace_back();
    loss.row = i;
    loss.base = row.base;
    loss.ideal_ns = std::llround(*row.work_of_base * static_cast<double>(base.step_ns));
    loss.step_ns = row.step_ns;
    loss.traced = work_difference(*base.work, *row.work, *row.work_of_base);
    if (!loss.traced.is_split) losses.pop_back();
  }
  return losses;
}

std::string loss_sentence(const ScalingLoss& loss, const std::string& name, const std::string& base_name,
                          bool is_within_noise) {
  const std::int64_t ns = loss.loss_ns();
  std::string text = fmt::format("{} {} {} a step over {} ({:.1f} % of {}){}{}", name, ns < 0 ? "gain" : "lose",
                                 format_duration(std::abs(ns)), base_name, std::abs(percent_of(ns, loss.ideal_ns)),
                                 format_duration(loss.ideal_ns), is_within_noise ? ", which is within the noise" : "",
                                 parts_text(loss.traced, ns));
  if (loss.is_indicative()) {
    text += fmt::format("; with recording it is {}, so the causes are indicative only",
                        format_duration(loss.traced.change_ns()));
  }
  return text;
}

std::vector<NamedDifference> named(const std::vector<ScalingLoss>& losses, const std::vector<std::string>& names) {
  std::vector<NamedDifference> differences;
  differences.reserve(losses.size());
  for (const ScalingLoss& loss : losses) {
    differences.push_back({names[loss.row], fmt::format("ideal step, of {}", names[loss.base]), &loss.traced,
                           loss.ideal_ns, loss.step_ns, loss.distortion_ns()});
  }
  return differences;
}

Table pop_table(const std::vector<ScalingRow>& rows, const std::vector<std::string>& names) {
  Table table{"pop",
              "Parallel efficiency by POP's factors",
              {{"point", "point"},
               {"parallel_efficiency", "within the run", Unit::kNumber},
               {"load_balance", "load balance", Unit::kNumber},
               {"communication_efficiency", "communication", Unit::kNumber},
               {"orchestration_efficiency", "orchestration", Unit::kNumber},
               {"computation_scaling", "computation scaling", Unit::kNumber}},
              {}};
  table.definition =
      "Of the traced run: load balance = mean useful time / largest, communication = largest useful time / largest "
      "active time, orchestration = largest active time / step, where useful is compute and active is that and exposed "
      "communication. Within the run: their product, the parallel efficiency without what the work itself got longer "
      "by; computation scaling = useful time for the same work at the "
      "base / here.";
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (!rows[i].work) continue;
    const Pop pop = pop_of(*rows[i].work);
    if (pop.most_useful <= 0 || pop.longest <= 0) continue;
    const auto devices = static_cast<double>(pop.devices);
    const ScalingRow& base = rows[rows[i].base];
    const Pop of_base = base.work ? pop_of(*base.work) : Pop();
    const bool scales = rows[i].work_of_base && of_base.useful > 0;
    // Work of all devices, not of each.
    const double work = scales ? *rows[i].work_of_base * devices / static_cast<double>(of_base.devices) : 0;
    table.rows.push_back({names[i], pop.useful / (devices * pop.longest), pop.useful / (devices * pop.most_useful),
                          pop.most_useful / pop.most_active, pop.most_active / pop.longest,
                          scales ? Cell(of_base.useful * work / pop.useful) : Cell()});
  }
  return table;
}

}  // namespace swinscope
