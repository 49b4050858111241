#include "gui/core/compared_runs.h"

#include <QDir>
#include <algorithm>
#include <filesystem>
#include <utility>

#include "analyzer/experiment/comparison.h"
#include "analyzer/importers/open.h"
#include "gui/core/evidence.h"

namespace swinscope::gui {

ComparedRuns::~ComparedRuns() {
  if (cancel_ != nullptr) *cancel_ = true;  // its thread is waited for
}

bool ComparedRuns::has(const QString& path) const {
  return std::ranges::find(runs_, path, &ComparedPath::path) != runs_.end();
}

std::optional<Problem> ComparedRuns::replace(const QStringList& paths) {
  const std::vector<ComparedPath> before = std::exchange(runs_, {});
  std::optional<Problem> problem = add(paths);
  for (ComparedPath& run : runs_) {
    const auto known = std::ranges::find(before, run.path, &ComparedPath::path);
    if (known != before.end()) run = *known;
  }
  present();
  return problem;
}

std::optional<Problem> ComparedRuns::add(const QStringList& paths) {
  std::optional<Problem> problem;
  for (const QString& given : paths) {
    const QString path = QDir::cleanPath(given);
    if (const auto own = std::ranges::find(runs_, path, &ComparedPath::path); own != runs_.end()) {
      if (own->problem) own->is_read = false;  // it may be there by now
      continue;
    }
    if (!experiments_at(path.toStdString()).empty()) {
      problem = Problem{QStringLiteral("%1 is not compared with runs").arg(path), QStringLiteral("it is an experiment"),
                        QStringLiteral("choose a run of it, such as gpus1/tracing; the overview compares experiments")};
    } else if (runs_.size() == kMost) {
      problem =
          Problem{QStringLiteral("%1 is not added").arg(path),
                  QStringLiteral("%1 runs are compared at most").arg(kMost), QStringLiteral("remove another one")};
    } else {
      runs_.push_back({path, 0, false, {}, {}, {}});
    }
  }
  present();
  return problem;
}

void ComparedRuns::remove(std::size_t index) {
  runs_.erase(runs_.begin() + static_cast<std::ptrdiff_t>(index));
  present();
}

void ComparedRuns::make_base(std::size_t index) {
  std::rotate(runs_.begin(), runs_.begin() + static_cast<std::ptrdiff_t>(index),
              runs_.begin() + static_cast<std::ptrdiff_t>(index) + 1);
  present();
}

void ComparedRuns::open(const QString& path) {
  if (const auto own = std::ranges::find(runs_, path, &ComparedPath::path); own != runs_.end()) {
    own->is_read = false;
    return;
  }
  if (runs_.empty()) runs_.emplace_back();
  runs_.front() = {path, 0, false, {}, {}, {}};
  present();
}

void ComparedRuns::set_price(std::size_t index, double per_hour) {
  runs_[index].price_per_hour = per_hour;
  present();
}

void ComparedRuns::set_normalization(Normalization by) {
  by_ = by;
  present();
}

ComparedPath ComparedRuns::read_one(ComparedPath run, const RunPointer& open, const Selection& selection,
                                    const std::atomic<bool>& cancel) {
  const auto take = [&](const RunFacts& facts) {
    run.run = std::make_shared<const ComparedRun>(compared_run(facts, {}));
    if (auto step = median_step(facts)) run.step = std::make_shared<const MeasuredStep>(std::move(*step));
  };
  try {
    run.run = nullptr;
    run.step = nullptr;
    run.problem.reset();
    if (open != nullptr && open->trace != nullptr && open->path == run.path) {
      take(*open->shared->of(open->trace, selection));
    } else {
      const Trace trace = open_trace(run.path.toStdString(), &cancel);
      take(RunFacts(trace, selection));
    }
  } catch (const Error& error) {
    run.problem = problem_of(error);
  } catch (const std::exception& error) {
    run.problem = problem_of(error);
  }
  return run;
}

void ComparedRuns::read(const RunPointer& open, const Selection& selection) {
  std::vector<ComparedPath> missing;
  std::ranges::copy_if(runs_, std::back_inserter(missing), [](const ComparedPath& run) { return !run.is_read; });
  if (missing.empty()) return;
  if (cancel_ != nullptr) *cancel_ = true;
  was_cancelled_ = false;
  cancel_ = std::make_shared<std::atomic<bool>>(false);
  reading_.start(
      [missing, open, selection, cancel = cancel_] {
        std::vector<ComparedPath> read;
        for (const ComparedPath& run : missing) {
          if (!*cancel) read.push_back(read_one(run, open, selection, *cancel));
        }
        return read;
      },
      [this](const std::vector<ComparedPath>& read) { take(read); });
  Q_EMIT changed();
}

// Some of them may be gone by now.
void ComparedRuns::take(const std::vector<ComparedPath>& read) {
  for (const ComparedPath& one : read) {
    const auto own = std::ranges::find(runs_, one.path, &ComparedPath::path);
    if (own == runs_.end()) continue;
    own->is_read = true;
    own->run = one.run;
    own->problem = one.problem;
    own->step = one.step;
  }
  present();
}

void ComparedRuns::forget() {
  reading_.forget();
  was_cancelled_ = false;
  for (ComparedPath& run : runs_)
    run = {run.path, run.price_per_hour, false, {}, {}, {}};
  present();
}

void ComparedRuns::cancel() {
  if (cancel_ != nullptr) *cancel_ = true;
  if (reading_.is_idle()) return;
  reading_.forget();
  was_cancelled_ = true;
  Q_EMIT changed();
}

ComparedRuns::Presented ComparedRuns::present(QStringList paths, std::vector<ComparedRun> runs, Normalization by) {
  Presented presented;
  presented.paths = std::move(paths);
  if (runs.size() > 1) {
    if (!why_not(runs, by).empty()) by = Normalization::kStep;
    presented.document = runs_document(runs, {.order = RunOrder::kAsGiven, .by = by, .top = 0});
    presented.charts = charts_of(presented.document);
  }
  presented.runs = std::move(runs);
  return presented;
}

void ComparedRuns::present() {
  std::vector<std::filesystem::path> paths;
  for (const ComparedPath& run : runs_)
    paths.emplace_back(run.path.toStdString());
  const std::vector<std::string> names = short_names(paths);
  std::vector<ComparedRun> compared;
  QStringList read;
  for (std::size_t i = 0; i < runs_.size(); ++i) {
    if (runs_[i].run == nullptr) continue;
    ComparedRun& run = compared.emplace_back(*runs_[i].run);
    run.name = names[i];
    read << runs_[i].path;
    if (runs_[i].price_per_hour > 0) run.price_per_hour = runs_[i].price_per_hour;
  }
  presenting_.start(
      [read, compared = std::move(compared), by = by_]() mutable { return present(read, std::move(compared), by); },
      [this](Presented presented) {
        presented_ = std::move(presented);
        Q_EMIT changed();
      });
  Q_EMIT changed();
}

const ComparedPath* ComparedRuns::find(const std::string& name) const {
  const auto run = std::ranges::find(presented_.runs, name, &ComparedRun::name) - presented_.runs.begin();
  if (run == std::ssize(presented_.runs)) return nullptr;
  const auto found = std::ranges::find(runs_, presented_.paths[run], &ComparedPath::path);
  return found == runs_.end() ? nullptr : &*found;
}

QStringList configured_differently(const Document& document) {
  QStringList lines;
  const auto qt = [](const std::string& text) { return QString::fromStdString(text); };
  const auto value_of = [&](const std::string& value, const std::string& run) {
    return QStringLiteral("%1 (%2)").arg(qt(value), qt(run));
  };
  for (const Table& table : document.tables) {
    QStringList commands;
    for (std::size_t row = 0; table.key == "runs" && row < table.rows.size(); ++row) {
      const std::string part = text_in(table, row, "differs_in");
      if (!part.empty()) commands << value_of(part, text_in(table, row, "run"));
    }
    if (!commands.isEmpty()) lines << QStringLiteral("command: ") + commands.join(QStringLiteral(", "));
    for (std::size_t row = 0; table.key == "differences" && row < table.rows.size(); ++row) {
      QStringList values;
      for (std::size_t i = 1; i < table.columns.size(); ++i)
        values << value_of(format_cell(table.rows[row][i], table.columns[i].unit), table.columns[i].title);
      lines << QStringLiteral("%1: %2").arg(qt(text_in(table, row, "what")), values.join(QStringLiteral(", ")));
    }
  }
  return lines;
}

}  // namespace swinscope::gui
