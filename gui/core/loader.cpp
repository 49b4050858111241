#include "gui/core/loader.h"

#include <algorithm>
#include <atomic>
#include <mutex>

#include "advisor/loss_columns.h"
#include "analyzer/importers/open.h"
#include "analyzer/importers/opened_traces.h"
#include "analyzer/report/documents.h"
#include "analyzer/report/report.h"
#include "analyzer/timeline/timeline_open.h"

namespace swinscope::gui {

struct Loader::Job {
  QString path;
  QStringList compared;  // paths of experiments; empty: `path` is opened
  bool with_published = false;
  LoadControl control;
  std::atomic<bool> is_done = false;  // its thread ends at once
  std::mutex mutex;                   // guards the rest, which the thread writes and the window reads
  double fraction = 0;
  std::string phase;
  bool is_posted = false;  // an answer that will show them is on its way
};

namespace {

constexpr double kTimelineShare = 0.6;  // of the progress; the analyses are the rest

}  // namespace

Loader::Loader(QObject* parent) : QObject(parent) {}

Loader::~Loader() {
  if (current_ != nullptr) current_->control.cancel = true;
  for (Worker& worker : workers_)
    worker.thread.join();
}

void Loader::load(const QString& path) {
  const auto job = std::make_shared<Job>();
  job->path = path;
  start(job);
}

void Loader::load_comparison(const QStringList& paths, bool with_published) {
  const auto job = std::make_shared<Job>();
  job->path = paths.join(QStringLiteral(", "));
  job->compared = paths;
  job->with_published = with_published;
  start(job);
}

void Loader::start(const std::shared_ptr<Job>& job) {
  if (current_ != nullptr) current_->control.cancel = true;
  std::erase_if(workers_, [](Worker& worker) {
    if (!worker.job->is_done) return false;
    worker.thread.join();
    return true;
  });
  current_ = job;
  Q_EMIT started(job->path);
  if (current_ != job) return;  // whoever heard of it cancelled it, or asked for another one
  workers_.push_back({job, std::thread([this, job] {
                        work(job);
                        job->is_done = true;
                      })});
}

void Loader::cancel() {
  if (current_ == nullptr) return;
  const std::shared_ptr<Job> job = std::move(current_);
  current_ = nullptr;
  job->control.cancel = true;
  Q_EMIT cancelled(job->path);
}

void Loader::post(const std::shared_ptr<Job>& job, std::function<void()> answer) {
  mailbox_.post([this, job, answer = std::move(answer)] {
    if (job == current_) answer();
  });
}

void Loader::end(const std::shared_ptr<Job>& job) {
  if (current_ == job) current_ = nullptr;
}

// Everything that can go wrong becomes an answer: no exception leaves the thread.
void Loader::work(const std::shared_ptr<Job>& job) {
  const auto fail = [&](const Problem& problem) {
    post(job, [this, job, problem] {
      end(job);
      Q_EMIT failed(job->path, problem);
    });
  };
  try {
    if (!job->compared.isEmpty()) {
      read_comparison(job);
    } else if (is_experiment(job->path.toStdString())) {
      read_one_experiment(job);
    } else {
      read_run(job);
    }
  } catch (const Error& error) {
    fail(problem_of(error));  // of kInterrupted nobody is told: the job no longer matters
  } catch (const std::bad_alloc&) {
    fail({job->path + QStringLiteral(": too large for the memory of this machine"),
          {},
          QStringLiteral("record fewer steps, or open it where there is more memory")});
  } catch (const std::exception& error) {
    fail(problem_of(error));
  }
}

void Loader::read_one_experiment(const std::shared_ptr<Job>& job) {
  report_progress(job, 0, "measuring the runs of the experiment");
  auto opened = std::make_shared<OpenedExperiment>();
  opened->path = job->path;
  opened->experiment = read_experiment(job->path.toStdString());
  OpenedTraces traces;
  const std::vector<ScalingRow> rows = scaling_table(opened->experiment, traces);
  const std::vector<std::string> names = point_names(opened->experiment, rows);
  for (std::size_t i = 0; i < rows.size(); ++i)
    opened->points.push_back({names[i], rows[i].point, rows[i].base});
  opened->document = experiment_document(opened->experiment, rows);
  opened->what = what_was_run(opened->experiment, rows, traces);
  opened->quality = data_quality(opened->experiment, rows);
  report_progress(job, 0, "replaying the traced steps");
  add_loss_columns(opened->experiment, rows, traces, opened->document);
  post(job, [this, job, opened] {
    end(job);
    Q_EMIT experiment_loaded(opened);
  });
}

void Loader::read_comparison(const std::shared_ptr<Job>& job) {
  auto opened = std::make_shared<OpenedComparison>();
  opened->paths = job->compared;
  std::vector<ReportPart> parts;
  for (const QString& path : job->compared) {
    const double done = static_cast<double>(parts.size()) / static_cast<double>(job->compared.size());
    report_progress(job, done, "measuring the runs of " + path.toStdString());
    if (job->control.cancel) return;  // nobody waits for the answer
    opened->experiments.push_back(read_experiment(path.toStdString()));
    parts.push_back(experiment_part(opened->experiments.back()));
  }
  if (job->with_published) opened->published = published_results();
  opened->document = comparison_part(parts, opened->published).document;
  for (const std::string& name : series_names(parts))
    opened->names << QString::fromStdString(name);
  post(job, [this, job, opened] {
    end(job);
    Q_EMIT comparison_loaded(opened);
  });
}

void Loader::read_run(const std::shared_ptr<Job>& job) {
  const auto announce = [&](std::shared_ptr<const Timeline> timeline) {
    auto run = std::make_shared<OpenedRun>();
    run->path = job->path;
    run->timeline = std::move(timeline);
    post(job, [this, run] { Q_EMIT timeline_ready(run); });
  };
  job->control.on_progress = [this, weak = std::weak_ptr(job)](double fraction, std::string_view phase) {
    if (const auto held = weak.lock()) report_progress(held, kTimelineShare * fraction, phase);
  };
  job->control.on_preview = announce;
  auto run = std::make_shared<OpenedRun>();
  run->path = job->path;
  run->timeline = open_timeline(job->path.toStdString(), job->control);
  announce(run->timeline);
  report_progress(job, kTimelineShare, "reading events for the analyses");
  run->trace = std::make_shared<const Trace>(open_trace(job->path.toStdString(), &job->control.cancel));
  report_progress(job, 0.9, "analyzing");
  run->analyzed = analyze_run(*run, {});
  post(job, [this, job, run] {
    end(job);
    Q_EMIT timeline_ready(run);
    Q_EMIT run_loaded(run);
  });
}

// However often it is called, at most one answer is on its way.
void Loader::report_progress(const std::shared_ptr<Job>& job, double fraction, std::string_view phase) {
  {
    const std::lock_guard lock(job->mutex);
    job->fraction = fraction;
    job->phase = phase;
    if (job->is_posted) return;
    job->is_posted = true;
  }
  post(job, [this, job] {
    double shown = 0;
    QString text;
    {
      const std::lock_guard lock(job->mutex);
      shown = job->fraction;
      text = QString::fromStdString(job->phase);
      job->is_posted = false;
    }
    Q_EMIT progressed(shown, text);
  });
}

}  // namespace swinscope::gui
