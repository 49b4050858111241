#include "gui/core/queries.h"

#include <mutex>
#include <utility>

namespace swinscope::gui {

// The run, opened by whoever needs it first.
struct Queries::Run {
  explicit Run(std::string run_path) : path(std::move(run_path)) {}

  const QueriedRun& opened() {
    const std::lock_guard lock(mutex);
    if (run == nullptr) run = std::make_unique<QueriedRun>(path, &is_forgotten);
    return *run;
  }

  const std::string path;
  std::atomic<bool> is_forgotten = false;  // ends a conversion
  std::mutex mutex;                        // held while opening
  std::unique_ptr<QueriedRun> run;
};

Queries::~Queries() { open({}); }

void Queries::open(const QString& path) {
  if (cancel_ != nullptr) cancel_->store(true);
  if (run_ != nullptr) run_->is_forgotten = true;
  asking_.forget();
  listing_.forget();
  path_ = path;
  run_ = path.isEmpty() ? nullptr : std::make_shared<Run>(path.toStdString());
  tables_.clear();
  result_.reset();
  problem_.reset();
}

void Queries::list_tables() {
  if (run_ == nullptr || !tables_.empty() || !listing_.is_idle()) return;
  listing_.start(
      [run = run_] {
        try {
          return run->opened().tables();
        } catch (const std::exception&) {
          return std::vector<QueryTable>();  // a query says why
        }
      },
      [this](std::vector<QueryTable> tables) {
        tables_ = std::move(tables);
        Q_EMIT listed();
      });
}

Queries::Answer Queries::answer(Run& run, const std::string& sql, const std::atomic<bool>& cancel) {
  try {
    return {run.opened().run(sql, {&cancel, kMostRows, kMostBytes}), std::nullopt};
  } catch (const Error& error) {
    return {std::nullopt, problem_of(error)};
  } catch (const std::exception& error) {
    return {std::nullopt, problem_of(error)};
  }
}

void Queries::ask(const QString& sql) {
  if (run_ == nullptr) return;
  cancel();
  cancel_ = std::make_shared<std::atomic<bool>>(false);
  asking_.start([run = run_, sql = sql.toStdString(), cancel = cancel_] { return answer(*run, sql, *cancel); },
                [this](Answer answer) {
                  result_ = std::move(answer.result);
                  problem_ = std::move(answer.problem);
                  Q_EMIT answered();
                });
}

void Queries::cancel() {
  if (cancel_ != nullptr) cancel_->store(true);
}

}  // namespace swinscope::gui
