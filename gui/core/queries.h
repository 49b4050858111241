// SQL on what is open: one query at a time, beside the window, which can be stopped. A run of another program is
// converted once, when the first query needs it.
#pragma once

#include <QObject>
#include <QString>
#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/query/query.h"
#include "gui/core/background.h"
#include "gui/core/problem.h"

namespace swinscope::gui {

class Queries : public QObject {
  Q_OBJECT

 public:
  // What a table on the screen can hold; a statement that gives more is cut there.
  static constexpr std::size_t kMostRows = 10'000;
  static constexpr std::size_t kMostBytes = std::size_t{64} << 20U;

  explicit Queries(QObject* parent = nullptr) : QObject(parent) {}
  Q_DISABLE_COPY_MOVE(Queries)
  // Stops what is being done and waits for it.
  ~Queries() override;

  // The run that is asked from now on; empty: none. What was known of the one before is forgotten.
  void open(const QString& path);
  const QString& path() const { return path_; }
  // Which tables there are; signals `listed`. Once for a run.
  void list_tables();
  const std::vector<QueryTable>& tables() const { return tables_; }
  // Stops the query before. Signals `answered`.
  void ask(const QString& sql);
  // Signals `answered` soon, with a problem that says so.
  void cancel();

  bool is_asking() const { return !asking_.is_idle(); }
  bool is_idle() const { return asking_.is_idle() && listing_.is_idle(); }
  // Of the latest query: either is there.
  const std::optional<QueryResult>& result() const { return result_; }
  const std::optional<Problem>& problem() const { return problem_; }

 Q_SIGNALS:
  void listed();
  void answered();

 private:
  struct Run;
  struct Answer {
    std::optional<QueryResult> result;
    std::optional<Problem> problem;
  };
  // For another thread.
  static Answer answer(Run& run, const std::string& sql, const std::atomic<bool>& cancel);

  QString path_;
  std::shared_ptr<Run> run_;
  std::shared_ptr<std::atomic<bool>> cancel_;  // of the latest query
  std::vector<QueryTable> tables_;
  std::optional<QueryResult> result_;
  std::optional<Problem> problem_;
  Background listing_;
  Background asking_;
};

}  // namespace swinscope::gui
