// Places in a trace that the user wants to come back to. They are kept in a file beside the trace, which itself is
// never written to; where its folder cannot be written, in the user's own data folder.
#pragma once

#include <QObject>
#include <QString>
#include <cstdint>
#include <vector>

namespace swinscope::gui {

struct Bookmark {
  QString label;
  std::int64_t begin_ns = 0;  // the window that was seen
  std::int64_t end_ns = 0;
  QString note = {};
  bool operator==(const Bookmark&) const = default;
};

class Bookmarks : public QObject {
  Q_OBJECT

 public:
  using QObject::QObject;

  // Reads those of a trace file or run folder. A file that is damaged counts as empty, and is put aside under another
  // name (".damaged") when new ones are written.
  void open(const QString& trace_path);
  const std::vector<Bookmark>& all() const { return bookmarks_; }
  // Kept in order of their time. Throws Error(kFailure) when they can be written nowhere.
  void add(const Bookmark& bookmark);
  void rename(std::size_t index, const QString& label);
  void set_note(std::size_t index, const QString& note);
  void remove(std::size_t index);
  QString file() const { return file_; }

 Q_SIGNALS:
  void changed();

 private:
  void save();

  std::vector<Bookmark> bookmarks_;
  QString trace_path_;
  QString file_;
  bool is_damaged_ = false;  // the file
};

}  // namespace swinscope::gui
