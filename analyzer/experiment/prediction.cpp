#include "analyzer/experiment/prediction.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include <fmt/format.h>

#include "analyzer/base/text.h"
#include "analyzer/table/cells.h"
#include "store/error.h"

namespace swinscope {
namespace {

enum class Growth : std::uint8_t { kNone, kTraffic, kLargest, kRanks };

// How a part is taken to grow, and how at most.
struct PartGrowth {
  Growth likely = Growth::kNone;
  Growth most = Growth::kNone;
};

PartGrowth growth_of(LossPart part) {
  switch (part) {
    case LossPart::kWire:
    case LossPart::kCommunication:
      return {Growth::kTraffic, Growth::kTraffic};
    case LossPart::kWait:
    case LossPart::kSlowestRank:
      return {Growth::kLargest, Growth::kLargest};
    case LossPart::kBeside:
    case LossPart::kWork:
    case LossPart::kCopies:
      return {Growth::kNone, Growth::kTraffic};
    case LossPart::kInput:
      return {Growth::kNone, Growth::kRanks};
    case LossPart::kSlowed:
      return {Growth::kNone, Growth::kLargest};
    case LossPart::kHost:
    case LossPart::kGaps:
    case LossPart::kUnexplained:
      break;
  }
  return {};
}

double grown(Growth growth, int from, int to) {
  const auto traffic = [](int gpus) { return 2.0 * (gpus - 1) / gpus; };
  switch (growth) {
    case Growth::kTraffic:
      return traffic(to) / traffic(from);
    case Growth::kLargest:
      return expected_largest(to) / expected_largest(from);
    case Growth::kRanks:
      return static_cast<double>(to) / from;
    case Growth::kNone:
      break;
  }
  return 1;
}

double half_width(const ScalingRow& row) {
  return row.step_ci_ns ? static_cast<double>(*row.step_ci_ns) : kNoticeable * static_cast<double>(row.step_ns);
}

// What the ideal step is for `gpus`: in strong scaling each GPU does less.
double ideal_ns(const ScalingRow& base, const ScalingRow& from, int gpus) {
  const bool is_strong = from.work_of_base.value_or(1) < 1;
  const double work = is_strong ? static_cast<double>(base.point.gpus()) / gpus : from.work_of_base.value_or(1);
  return work * static_cast<double>(base.step_ns);
}

// What a step on so many GPUs is longer by than the ideal one.
struct KnownLoss {
  int gpus = 0;
  double loss_ns = 0;
  double least_ns = 0;  // of the loss
  double most_ns = 0;
  double half_width_ns = 0;                               // 95 %
  std::optional<std::array<double, kLossParts>> part_ns;  // with the distortion they are the loss
  double distortion_ns = 0;
};

KnownLoss known(const ScalingLoss& loss, int gpus) {
  KnownLoss known{gpus, 0, 0, 0, 0, {}, static_cast<double>(loss.distortion_ns())};
  known.loss_ns = known.least_ns = known.most_ns = static_cast<double>(loss.loss_ns());
  std::array<double, kLossParts>& parts = known.part_ns.emplace();
  for (std::size_t i = 0; i < kLossParts; ++i)
    parts.at(i) = static_cast<double>(loss.traced.part_ns.at(i));
  return known;
}

void scale(KnownLoss& loss, const Likeness& likeness) {
  const double whole_ns = loss.loss_ns;
  loss.distortion_ns *= likeness.step;
  loss.loss_ns = loss.distortion_ns;
  for (std::size_t i = 0; i < kLossParts; ++i) {
    double& part_ns = loss.part_ns->at(i);
    part_ns *= ratio_of(LossPart{static_cast<std::uint8_t>(i)}, likeness);
    loss.loss_ns += part_ns;
  }
  const auto [least, most] = std::minmax({likeness.bytes, likeness.launches, likeness.step});
  loss.least_ns = std::min(whole_ns * least, whole_ns * most);
  loss.most_ns = std::max(whole_ns * least, whole_ns * most);
  loss.half_width_ns *= likeness.step;
}

// `noise_ns`: of the ideal step, 95 %.
void grow(const KnownLoss& loss, double ideal_ns, double noise_ns, PredictedStep& step) {
  double likely_ns = loss.distortion_ns;
  double most_ns = loss.distortion_ns;
  step.has_parts = loss.part_ns.has_value();
  for (std::size_t i = 0; step.has_parts && i < kLossParts; ++i) {
    const PartGrowth growth = growth_of(LossPart{static_cast<std::uint8_t>(i)});
    const double ns = loss.part_ns->at(i);
    step.part_ns.at(i) = std::llround(ns * grown(growth.likely, loss.gpus, step.gpus));
    likely_ns += static_cast<double>(step.part_ns.at(i));
    most_ns += ns * (ns > 0 ? grown(growth.most, loss.gpus, step.gpus) : 1.0);
  }
  if (!step.has_parts) {
    most_ns = loss.loss_ns * std::max(1.0, grown(Growth::kLargest, loss.gpus, step.gpus));
    likely_ns = (loss.loss_ns + most_ns) / 2;
  }
  const double noise = std::hypot(noise_ns, loss.half_width_ns);
  step.step_ns = std::llround(ideal_ns + likely_ns);
  step.low_ns = std::llround(ideal_ns + std::min(loss.least_ns, likely_ns) - noise);
  const double grown_ns = loss.most_ns + std::max(0.0, likely_ns - loss.loss_ns);
  step.high_ns = std::llround(ideal_ns + std::max(grown_ns, most_ns) + noise);
}

// The largest measured number of GPUs below; rows are by GPUs.
const ScalingRow* largest_below(const std::vector<ScalingRow>& rows, int gpus) {
  const ScalingRow* largest = nullptr;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const ScalingRow& row = rows[i];
    const bool has_loss = row.base != i && row.work_of_base && row.step_ns > 0 && row.point.gpus() > 1;
    if (has_loss && row.point.gpus() < gpus) largest = &row;
  }
  return largest;
}

std::optional<std::int64_t> measured_ns(const std::vector<ScalingRow>& rows, int gpus) {
  const auto row = std::ranges::find_if(rows, [&](const ScalingRow& r) { return r.point.gpus() == gpus; });
  return row == rows.end() ? std::nullopt : std::optional(row->step_ns);
}

std::vector<int> numbers_of(const std::vector<ScalingRow>& rows, const PredictOptions& options) {
  std::vector<int> numbers = options.gpus;
  for (const ScalingRow& row : rows)
    numbers.push_back(row.point.gpus());
  std::ranges::sort(numbers);
  numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
  return numbers;
}

std::string step_text(const PredictedStep& step) {
  if (step.is_beyond_host) return fmt::format("at least {}", format_duration(step.low_ns));
  return fmt::format("{} ({} to {})", format_duration(step.step_ns), format_duration(step.low_ns),
                     format_duration(step.high_ns));
}

// Images of a step on so many GPUs; 0: not known.
double images_of(const Experiment& experiment, const ScalingRow& from, int gpus) {
  const auto images = static_cast<double>(from.images_per_step);
  return experiment.mode == "strong" ? images : images * gpus / from.point.gpus();
}

Table predictions_table(const Experiment& experiment, const std::vector<ScalingRow>& rows,
                        const std::vector<PredictedStep>& steps, const PredictOptions& options) {
  Table table{"predictions",
              "Predicted steps",
              {{"gpus", "GPUs", Unit::kCount},
               {"from_gpus", "from", Unit::kCount},
               {"step_ns", "step", Unit::kDuration},
               {"low_ns", "at least", Unit::kDuration},
               {"high_ns", "at most", Unit::kDuration},
               {"measured_ns", "measured", Unit::kDuration},
               {"error_percent", "error", Unit::kPercent},
               {"efficiency", "efficiency", Unit::kNumber},
               {"train_time_ns", "training time", Unit::kDuration},
               {"cost", "cost", Unit::kNumber, !options.price.is_given()}},
              {}};
  table.definition =
      "Each part of the loss at the largest smaller number of GPUs grows with the traffic of a ring all-reduce, with "
      "the expected slowest of so many ranks, or stays; the band's lower end is a loss that stays, its upper end one "
      "whose parts grow most, both with the intervals of the measured steps.";
  for (const PredictedStep& step : steps) {
    const ScalingRow& from = rows[step.from];
    const auto known_ns = static_cast<double>(step.is_beyond_host ? step.low_ns : step.step_ns);
    const double images = images_of(experiment, from, step.gpus);
    const double train_ns = images > 0 ? std::ceil(static_cast<double>(experiment.images) / images) * known_ns : 0;
    table.rows.push_back(
        {std::int64_t{step.gpus}, std::int64_t{from.point.gpus()}, step.is_beyond_host ? Cell() : Cell(step.step_ns),
         step.low_ns, step.is_beyond_host ? Cell() : Cell(step.high_ns),
         step.measured_ns ? Cell(*step.measured_ns) : Cell(),
         step.measured_ns ? Cell(percent_of(step.step_ns - *step.measured_ns, *step.measured_ns)) : Cell(),
         ideal_ns(rows[from.base], from, step.gpus) / known_ns, train_ns > 0 ? Cell(std::llround(train_ns)) : Cell(),
         options.price.is_given() && train_ns > 0 ? Cell(options.price.cost(step.gpus, train_ns)) : Cell()});
  }
  return table;
}

Table parts_table(const std::vector<ScalingRow>& rows, const std::vector<PredictedStep>& steps) {
  Table table{"predicted_parts",
              "What the predicted steps lose",
              {{"gpus", "GPUs", Unit::kCount},
               {"part", "part", Unit::kText, true},
               {"what", "what"},
               {"time_ns", "time", Unit::kDuration}},
              {}};
  for (const PredictedStep& step : steps) {
    if (!step.has_parts || step.measured_ns || step.is_beyond_host) continue;
    std::int64_t rest = step.step_ns - std::llround(ideal_ns(rows[rows[step.from].base], rows[step.from], step.gpus));
    for (std::size_t i = 0; i < kLossParts; ++i) {
      const LossPart part{static_cast<std::uint8_t>(i)};
      rest -= step.part_ns[i];
      if (step.part_ns[i] == 0) continue;
      table.rows.push_back({std::int64_t{step.gpus}, std::string(loss_part_key(part)),
                            std::string(loss_part_title(part)), step.part_ns[i]});
    }
    table.rows.push_back({std::int64_t{step.gpus}, "distortion", "tracing distortion of what was measured", rest});
  }
  return table;
}

void add_headline(const std::vector<ScalingRow>& rows, const std::vector<PredictedStep>& steps,
                  const PredictOptions& options, Document& document) {
  int largest_measured = 0;
  for (const ScalingRow& row : rows)
    largest_measured = std::max(largest_measured, row.point.gpus());
  bool is_beyond = false;
  bool is_checked = false;
  for (const PredictedStep& step : steps) {
    is_beyond = is_beyond || step.is_beyond_host;
    is_checked = is_checked || step.measured_ns.has_value();
    const ScalingRow& from = rows[step.from];
    const double ideal = ideal_ns(rows[from.base], from, step.gpus);
    if (step.measured_ns) {
      document.headline.push_back(fmt::format(
          "check: {} predicted from {}: {}, measured {} ({:+.1f} %{})", format_counted(step.gpus, "GPUs"),
          from.point.gpus(), step_text(step), format_duration(*step.measured_ns),
          percent_of(step.step_ns - *step.measured_ns, *step.measured_ns),
          step.low_ns <= *step.measured_ns && *step.measured_ns <= step.high_ns ? "" : ", outside its band"));
    } else {
      document.headline.push_back(
          fmt::format("{}: {} per step, parallel efficiency {}{:.3f}", format_counted(step.gpus, "GPUs"),
                      step_text(step), step.is_beyond_host ? "at most " : "",
                      ideal / static_cast<double>(step.is_beyond_host ? step.low_ns : step.step_ns)));
    }
  }
  if (is_beyond) {
    document.headline.push_back(
        fmt::format("note: beyond the {} GPUs of a host (--gpus-per-host) the network decides, which was not measured: "
                    "these are lower bounds",
                    options.gpus_per_host));
  }
  if (options.like) {
    const auto base =
        std::ranges::find_if(options.like->rows, [](const ScalingRow& row) { return row.work != nullptr; });
    document.headline.push_back(fmt::format("  as {} loses: this program has {}", options.like->name,
                                            likeness_text(likeness(rows.front(), *base))));
    return;
  }
  document.headline.push_back(fmt::format("  the run that tells most: {} GPUs, twice the largest number measured{}",
                                          2 * largest_measured,
                                          is_checked ? "" : "; nothing has tested the growth of the loss yet"));
}

// By what has tested the growth of the loss.
std::string confidence_of(const std::vector<PredictedStep>& steps) {
  const auto is_outside = [](const PredictedStep& step) {
    return step.measured_ns && (*step.measured_ns < step.low_ns || *step.measured_ns > step.high_ns);
  };
  if (std::ranges::any_of(steps, &PredictedStep::is_beyond_host) || std::ranges::any_of(steps, is_outside))
    return "low";
  const bool is_checked =
      std::ranges::any_of(steps, [](const PredictedStep& step) { return step.measured_ns.has_value(); });
  return is_checked ? "high" : "medium";
}

}  // namespace

double expected_largest(int count) {
  if (count < 2) return 0;
  // E = integral of x n phi(x) Phi(x)^(n - 1): trapezoids from -8 to 8, beyond which nothing is left.
  constexpr int kSteps = 4000;
  constexpr double kEnd = 8;
  constexpr double kWidth = 2 * kEnd / kSteps;
  double sum = 0;
  for (int i = 0; i <= kSteps; ++i) {
    const double x = -kEnd + kWidth * i;
    const double density = std::exp(-x * x / 2) / std::sqrt(2 * std::numbers::pi);
    const double below = 0.5 * std::erfc(-x / std::numbers::sqrt2);
    sum += x * count * density * std::pow(below, count - 1);
  }
  return sum * kWidth;
}

std::optional<PredictedStep> predict_step(const std::vector<ScalingRow>& rows, int gpus, int gpus_per_host) {
  const ScalingRow* from = largest_below(rows, gpus);
  if (from == nullptr) return std::nullopt;
  const ScalingRow& base = rows[from->base];
  PredictedStep step;
  step.gpus = gpus;
  step.from = static_cast<std::size_t>(from - rows.data());
  const int measured = from->point.gpus();
  const std::vector<ScalingLoss> losses = scaling_losses(rows);
  const auto traced = std::ranges::find(losses, step.from, &ScalingLoss::row);
  KnownLoss loss;
  if (traced != losses.end()) {
    loss = known(*traced, measured);
  } else {
    loss.gpus = measured;
    loss.loss_ns = static_cast<double>(from->step_ns) - ideal_ns(base, *from, measured);
    loss.least_ns = loss.most_ns = loss.loss_ns;
  }
  loss.half_width_ns = half_width(*from);
  grow(loss, ideal_ns(base, *from, gpus), half_width(base), step);
  step.is_beyond_host = gpus > gpus_per_host && measured <= gpus_per_host;
  step.measured_ns = measured_ns(rows, gpus);
  return step;
}

std::optional<PredictedStep> predict_step_like(const std::vector<ScalingRow>& rows, const std::vector<ScalingRow>& like,
                                               int gpus, int gpus_per_host) {
  const std::vector<ScalingLoss> losses = scaling_losses(like);
  const ScalingLoss* known_loss = nullptr;
  for (const ScalingLoss& loss : losses)
    if (like[loss.row].point.gpus() <= gpus) known_loss = &loss;
  if (known_loss == nullptr || rows.empty() || rows.front().point.gpus() >= gpus) return std::nullopt;
  const ScalingRow& base = rows.front();
  const ScalingRow& like_base = like[known_loss->base];
  const ScalingRow& like_row = like[known_loss->row];
  PredictedStep step;
  step.gpus = gpus;
  KnownLoss loss = known(*known_loss, like_row.point.gpus());
  loss.half_width_ns = std::hypot(half_width(like_base), half_width(like_row));
  scale(loss, likeness(base, like_base));
  grow(loss, static_cast<double>(base.step_ns), half_width(base), step);
  step.is_beyond_host = gpus > gpus_per_host && loss.gpus <= gpus_per_host;
  step.measured_ns = measured_ns(rows, gpus);
  return step;
}

Document prediction_document(const Experiment& experiment, const std::vector<ScalingRow>& rows,
                             const PredictOptions& options) {
  if (options.like && experiment.mode == "strong") {
    throw Error(ErrorKind::kUsage, fmt::format("{}: is strong scaling", experiment.folder.string()),
                "what another program loses per step is known for as much work on each GPU",
                "measure it with --mode weak, or predict it from two numbers of GPUs of its own");
  }
  std::vector<PredictedStep> steps;
  for (const int gpus : numbers_of(rows, options)) {
    const auto step = options.like ? predict_step_like(rows, options.like->rows, gpus, options.gpus_per_host)
                                   : predict_step(rows, gpus, options.gpus_per_host);
    if (step) steps.push_back(*step);
  }
  if (steps.empty()) {
    const std::string& folder = options.like ? options.like->name : experiment.folder.string();
    throw Error(ErrorKind::kUsage, fmt::format("{}: nothing to predict from", folder),
                "what a step loses to other GPUs is taken from traced points with fewest GPUs and with more",
                fmt::format("measure two numbers of GPUs: swinscope scale --gpus 1,2{}",
                            options.like ? "" : ", or give what another program loses on them: --like EXPERIMENT"));
  }
  Document document;
  document.schema = "predict";
  document.run = experiment.folder.string();
  document.tables = {predictions_table(experiment, rows, steps, options)};
  if (Table parts = parts_table(rows, steps); !parts.rows.empty()) document.tables.push_back(std::move(parts));
  add_headline(rows, steps, options, document);
  document.finding = {"", confidence_of(steps), ""};
  if (std::ranges::any_of(steps, [](const PredictedStep& step) { return !step.has_parts; })) {
    document.notes.emplace_back(
        "Where a point was not traced its loss is one part, between what stays and what grows as the slowest of so "
        "many ranks.");
  }
  return document;
}

}  // namespace swinscope
