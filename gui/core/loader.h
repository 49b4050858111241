// Opens runs and experiments in a thread of its own; answers come as signals in the thread of this object.
#pragma once

#include <QObject>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "gui/core/mailbox.h"
#include "gui/core/opened.h"
#include "gui/core/problem.h"

namespace swinscope::gui {

class Loader : public QObject {
  Q_OBJECT

 public:
  explicit Loader(QObject* parent = nullptr);
  Q_DISABLE_COPY_MOVE(Loader)
  // Cancels what is under way and waits for it.
  ~Loader() override;

  // What is under way is cancelled first, without a signal.
  void load(const QString& path);
  // Experiments, or one of them and what has been published.
  void load_comparison(const QStringList& paths, bool with_published);
  // Signals `cancelled` at once; the thread ends soon after. Nothing happens when nothing is under way.
  void cancel();
  bool is_loading() const { return current_ != nullptr; }

 Q_SIGNALS:
  void started(const QString& path);
  void progressed(double fraction, const QString& phase);
  // The timeline can be drawn: a preview, the whole of it, then with everything else; `run->trace` tells them apart.
  void timeline_ready(const swinscope::gui::RunPointer& run);
  // One of these ends every load.
  void run_loaded(const swinscope::gui::RunPointer& run);
  void experiment_loaded(const swinscope::gui::ExperimentPointer& experiment);
  void comparison_loaded(const swinscope::gui::ComparisonPointer& comparison);
  void failed(const QString& path, const swinscope::gui::Problem& problem);
  void cancelled(const QString& path);

 private:
  struct Job;
  // For the job's thread: runs `answer` here, later, unless the job no longer matters.
  void post(const std::shared_ptr<Job>& job, std::function<void()> answer);
  void start(const std::shared_ptr<Job>& job);
  void work(const std::shared_ptr<Job>& job);
  void read_one_experiment(const std::shared_ptr<Job>& job);
  void read_comparison(const std::shared_ptr<Job>& job);
  void read_run(const std::shared_ptr<Job>& job);
  void report_progress(const std::shared_ptr<Job>& job, double fraction, std::string_view phase);
  void end(const std::shared_ptr<Job>& job);

  Mailbox mailbox_;
  std::shared_ptr<Job> current_;
  // A job and its thread, which may still run when the job no longer matters. Not one of Qt's threads: race detectors
  // cannot see into Qt.
  struct Worker {
    std::shared_ptr<Job> job;
    std::thread thread;
  };
  std::vector<Worker> workers_;
};

}  // namespace swinscope::gui
