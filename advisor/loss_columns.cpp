#include "advisor/loss_columns.h"

#include <algorithm>
#include <string>

#include <fmt/format.h>

#include "advisor/loss_intervals.h"
#include "analyzer/experiment/scaling_loss.h"
#include "analyzer/importers/opened_traces.h"
#include "analyzer/report/documents.h"
#include "store/error.h"

namespace swinscope {
namespace {

constexpr std::int64_t kMostEvents = 400'000;  // of both traces, so that an experiment is not waited for

LossEffects effects_of(const Experiment& experiment, const std::vector<ScalingRow>& rows, const ScalingLoss& loss,
                       OpenedTraces& traces) {
  const auto open = [&](const ScalingRow& row) { return traces.open(row.point.folder / row.point.tracing); };
  const auto selection = [&](const ScalingRow& row) {
    const std::string& step = row.point.step.empty() ? experiment.step : row.point.step;
    return selection_of(parse_step_rule(step), experiment.warmup_steps);
  };
  const std::shared_ptr<const Trace> base = open(rows[loss.base]);
  const std::shared_ptr<const Trace> other = open(rows[loss.row]);
  if (base->gpu_event_count() + other->gpu_event_count() > kMostEvents) {
    throw Error(ErrorKind::kUsage, fmt::format("{}: too many GPU events for replays at once", other->path));
  }
  return loss_effects(RunFacts(*base, selection(rows[loss.base])), RunFacts(*other, selection(rows[loss.row])),
                      loss.traced, *rows[loss.row].work_of_base);
}

Cell cell_of(const LossIntervals& intervals, std::string_view part, std::int64_t LossInterval::*end) {
  for (std::size_t i = 0; i < kLossParts; ++i) {
    const bool is_part = loss_part_key(LossPart{static_cast<std::uint8_t>(i)}) == part;
    if (is_part && intervals[i]) return (*intervals[i]).*end;
  }
  return {};
}

// What POP's communication efficiency consists of.
void add_transfer_columns(Document& document) {
  const auto pop = std::ranges::find(document.tables, "pop", &Table::key);
  if (pop == document.tables.end()) return;
  pop->columns.push_back({"transfer_efficiency", "transfer", Unit::kNumber});
  pop->columns.push_back({"serialization_efficiency", "serialization", Unit::kNumber});
  pop->definition +=
      " By replay: transfer = step on a network that takes no time / step, serialization = communication / transfer.";
  for (std::vector<Cell>& row : pop->rows)
    row.resize(pop->columns.size());
}

void add_transfer(const std::string& point, double transfer, Document& document) {
  const auto pop = std::ranges::find(document.tables, "pop", &Table::key);
  if (pop == document.tables.end()) return;
  const std::size_t communication = find_column(*pop, "communication_efficiency");
  const std::size_t column = find_column(*pop, "transfer_efficiency");
  for (std::vector<Cell>& row : pop->rows) {
    if (std::get<std::string>(row.front()) != point) continue;
    row[column] = transfer;
    row[column + 1] = std::get<double>(row[communication]) / transfer;
  }
}

}  // namespace

void add_loss_columns(const Experiment& experiment, const std::vector<ScalingRow>& rows, OpenedTraces& traces,
                      Document& document) {
  const auto table = std::ranges::find(document.tables, "scaling_loss", &Table::key);
  if (table == document.tables.end()) return;
  const std::size_t part = find_column(*table, "part");
  table->columns.push_back({"replay_low_ns", "by replay at least", Unit::kDuration});
  table->columns.push_back({"replay_high_ns", "at most", Unit::kDuration});
  table->definition +=
      " By replay: what the step gets shorter by when the part is taken out of the larger run, less the same at the "
      "base, and longer by when it is put into the base, widened by the replays' own errors and the 95 % interval of "
      "the "
      "steps' difference.";
  const std::vector<std::string> names = point_names(experiment, rows);
  add_transfer_columns(document);
  auto row = table->rows.begin();
  for (const ScalingLoss& loss : scaling_losses(rows)) {
    LossIntervals intervals;
    try {
      const LossEffects effects = effects_of(experiment, rows, loss, traces);
      intervals = effects.intervals;
      add_transfer(names[loss.row], effects.transfer_efficiency, document);
    } catch (const Error& error) {
      document.notes.push_back(fmt::format("No intervals by replay: {}.", error.what()));
    }
    for (bool is_last = false; !is_last && row != table->rows.end(); ++row) {
      const std::string key = std::get<std::string>((*row)[part]);
      row->push_back(cell_of(intervals, key, &LossInterval::low_ns));
      row->push_back(cell_of(intervals, key, &LossInterval::high_ns));
      is_last = key == "step";
    }
  }
}

}  // namespace swinscope
