// What was opened so far, in the order in which the filter bar offers it: runs, experiments with their runs behind
// them, comparisons with their experiments behind them.
#pragma once

#include <QStringList>
#include <vector>

#include "gui/core/opened.h"

namespace swinscope::gui {

struct Entry {
  QString path;
  QString title;
  bool is_experiment = false;
  bool is_of_experiment = false;  // a run of the entry before it that is one
  QStringList compared;           // paths of the experiments that it compares; empty: it is no comparison
};

class Entries {
 public:
  // The entry that is to be loaded: the first of the paths, or the comparison of the experiments among them; -1 for no
  // path. What is known already is not added again.
  int add(const QStringList& paths);
  // Of what could not be read. False for what belongs to an experiment or compares some: that stays.
  bool remove(int index);
  // Behind the experiment, once.
  void add_runs_of(int experiment, const Experiment& content);

  bool has(int index) const { return index >= 0 && index < static_cast<int>(entries_.size()); }
  const Entry& at(int index) const { return entries_[static_cast<std::size_t>(index)]; }
  // The comparison of these experiments, also of one with what has been published; -1 for none.
  int find_comparison(const QStringList& paths) const;
  QStringList titles() const;

 private:
  int add_path(const QString& path);
  int add_comparison(const QString& path, const QString& title, const QStringList& compared);
  int find(const QString& path) const;

  std::vector<Entry> entries_;
};

}  // namespace swinscope::gui
