#include "gui/core/run_watch.h"

#include <QDir>
#include <QFileInfo>

namespace swinscope::gui {
namespace {

// Those of the run, with the journals beside them.
QFileInfoList files_of(const QString& path) {
  const QFileInfo info(path);
  if (info.isDir()) return QDir(path).entryInfoList(QDir::Files);
  return QDir(info.absolutePath()).entryInfoList({info.fileName() + QLatin1Char('*')}, QDir::Files);
}

bool is_journal(const QFileInfo& file) {
  return file.size() > 0 &&
         (file.fileName().endsWith(QLatin1String("-wal")) || file.fileName().endsWith(QLatin1String("-journal")));
}

}  // namespace

RunWatch::RunWatch(QObject* parent) : QObject(parent) {
  connect(&watcher_, &QFileSystemWatcher::fileChanged, this, &RunWatch::check);
  connect(&watcher_, &QFileSystemWatcher::directoryChanged, this, &RunWatch::check);
}

RunWatch::State RunWatch::look(const QString& path) {
  State state;
  for (const QFileInfo& file : files_of(path)) {
    // Bookmarks are kept beside a trace.
    if (file.suffix() == QLatin1String("json") && file.fileName().contains(QLatin1String("bookmarks"))) continue;
    state.bytes += file.size();
    state.has_journal = state.has_journal || is_journal(file);
  }
  return state;
}

void RunWatch::watch(const QString& path) {
  if (const QStringList before = watcher_.files() + watcher_.directories(); !before.isEmpty())
    watcher_.removePaths(before);
  path_ = path;
  has_said_ = false;
  state_ = {};
  if (path.isEmpty() || !QFileInfo::exists(path)) return;
  state_ = look(path);
  QStringList paths = {QFileInfo(path).isDir() ? path : QFileInfo(path).absolutePath()};
  for (const QFileInfo& file : files_of(path))
    paths << file.absoluteFilePath();
  watcher_.addPaths(paths);
}

void RunWatch::check() {
  if (path_.isEmpty() || !QFileInfo::exists(path_)) return;
  const State now = look(path_);
  const bool has_ended = state_.has_journal && !now.has_journal;
  if (!has_ended && (has_said_ || now == state_)) return;
  has_said_ = true;
  if (has_ended) {
    state_ = now;
    Q_EMIT ended();
  } else {
    Q_EMIT grew();
  }
}

}  // namespace swinscope::gui
