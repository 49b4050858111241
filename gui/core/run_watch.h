// Looks at the files of a run that is open, which a recording may still be writing: says when there is more, and when
// the recording has ended (the journals beside its files are gone).
#pragma once

#include <QFileSystemWatcher>
#include <QObject>
#include <QString>

namespace swinscope::gui {

class RunWatch : public QObject {
  Q_OBJECT

 public:
  explicit RunWatch(QObject* parent = nullptr);

  // A file, or the folder of a run, as it is now; empty: nothing.
  void watch(const QString& path);
  const QString& path() const { return path_; }
  // Whether it was still being written when it was last looked at.
  bool is_recording() const { return state_.has_journal; }

 Q_SIGNALS:
  void grew();   // once, until it is watched anew
  void ended();  // likewise

 private:
  struct State {
    bool has_journal = false;
    qint64 bytes = 0;
    bool operator==(const State&) const = default;
  };
  static State look(const QString& path);
  void check();

  QFileSystemWatcher watcher_;
  QString path_;
  State state_;
  bool has_said_ = false;
};

}  // namespace swinscope::gui
