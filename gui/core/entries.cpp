#include "gui/core/entries.h"

#include <QDir>
#include <QFileInfo>
#include <algorithm>
#include <filesystem>

#include "analyzer/experiment/comparison.h"

namespace swinscope::gui {

namespace {

// "gpus2/tracing": runs of a point are called alike in every one.
QString title_of(const QString& path) {
  const QFileInfo info(path);
  const QDir folder = info.absoluteDir();
  return folder.exists(QStringLiteral("point.json")) ? QStringLiteral("%1/%2").arg(folder.dirName(), info.fileName())
                                                     : info.fileName();
}

}  // namespace

int Entries::add(const QStringList& paths) {
  int first = -1;
  QStringList experiments;
  for (const QString& path : paths) {
    const int index = add_path(path);
    if (first < 0) first = index;
    if (at(index).is_experiment) experiments << at(index).path;
  }
  if (experiments.size() < 2) return first;
  const QString all = experiments.join(QStringLiteral(", "));
  return add_comparison(all, QStringLiteral("Comparison of %1").arg(all), experiments);
}

// A folder of experiments stands for their comparison.
int Entries::add_path(const QString& path) {
  const QString clean = QDir::cleanPath(path);
  if (const int known = find(clean); known >= 0) return known;
  const bool experiment = is_experiment(clean.toStdString());
  QStringList compared;
  if (!experiment) {
    for (const std::filesystem::path& found : experiments_at(clean.toStdString()))
      compared << QString::fromStdString(found.string());
  }
  if (!compared.isEmpty()) return add_comparison(clean, QFileInfo(clean).fileName(), compared);
  entries_.push_back({clean, title_of(clean), experiment, false, {}});
  return static_cast<int>(entries_.size()) - 1;
}

int Entries::add_comparison(const QString& path, const QString& title, const QStringList& compared) {
  if (const int known = find(path); known >= 0) return known;
  const int index = static_cast<int>(entries_.size());
  entries_.push_back({path, title, false, false, compared});
  for (const QString& experiment : compared)
    add_path(experiment);
  return index;
}

bool Entries::remove(int index) {
  const Entry& entry = at(index);
  if (entry.is_experiment || entry.is_of_experiment || !entry.compared.isEmpty()) return false;
  entries_.erase(entries_.begin() + index);
  return true;
}

void Entries::add_runs_of(int experiment, const Experiment& content) {
  const auto behind = entries_.begin() + experiment + 1;
  if (behind != entries_.end() && behind->is_of_experiment) return;
  std::vector<Entry> runs;
  for (const ExperimentPoint& point : content.points) {
    const QString folder = QString::fromStdString(point.folder.string());
    const QString name = QFileInfo(folder).fileName();
    const auto add_run = [&](const std::string& run) {
      const QString title = QStringLiteral("%1/%2").arg(name, QString::fromStdString(run));
      runs.push_back({QDir(folder).filePath(QString::fromStdString(run)), title, false, true, {}});
    };
    if (!point.tracing.empty()) add_run(point.tracing);
    for (const std::string& timing : point.timing)
      add_run(timing);
  }
  entries_.insert(behind, runs.begin(), runs.end());
}

int Entries::find(const QString& path) const {
  const auto found = std::ranges::find(entries_, path, &Entry::path);
  return found == entries_.end() ? -1 : static_cast<int>(found - entries_.begin());
}

int Entries::find_comparison(const QStringList& paths) const {
  const auto found = std::ranges::find_if(entries_, [&](const Entry& entry) {
    return entry.compared == paths || (entry.is_experiment && paths == QStringList(entry.path));
  });
  return found == entries_.end() ? -1 : static_cast<int>(found - entries_.begin());
}

QStringList Entries::titles() const {
  QStringList titles;
  for (const Entry& entry : entries_)
    titles << (entry.is_of_experiment ? QStringLiteral("   ") + entry.title : entry.title);
  return titles;
}

}  // namespace swinscope::gui
