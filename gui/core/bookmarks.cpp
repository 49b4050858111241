#include "gui/core/bookmarks.h"

#include <QCryptographicHash>
#include <QDir>
#include <QFileInfo>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QStandardPaths>
#include <algorithm>
#include <optional>

#include "gui/core/write_whole.h"
#include "store/error.h"

namespace swinscope::gui {
namespace {

// "run/.swinscope-bookmarks.json" for a folder, "trace.json.gz.swinscope-bookmarks.json" for a file.
QString file_beside(const QString& trace_path) {
  const QFileInfo info(trace_path);
  if (info.isDir()) return QDir(trace_path).filePath(QStringLiteral(".swinscope-bookmarks.json"));
  return trace_path + QStringLiteral(".swinscope-bookmarks.json");
}

QString file_at_home(const QString& trace_path) {
  const QByteArray name = QFileInfo(trace_path).absoluteFilePath().toUtf8();
  const QString hash = QString::fromLatin1(QCryptographicHash::hash(name, QCryptographicHash::Sha1).toHex());
  return QDir(QStandardPaths::writableLocation(QStandardPaths::AppDataLocation))
      .filePath(QStringLiteral("bookmarks/%1.json").arg(hash));
}

QByteArray to_json(const std::vector<Bookmark>& bookmarks) {
  QJsonArray array;
  for (const Bookmark& bookmark : bookmarks) {
    // Text, because a JSON number is a double, which does not hold every nanosecond.
    array.append(QJsonObject{{QStringLiteral("label"), bookmark.label},
                             {QStringLiteral("note"), bookmark.note},
                             {QStringLiteral("begin_ns"), QString::number(bookmark.begin_ns)},
                             {QStringLiteral("end_ns"), QString::number(bookmark.end_ns)}});
  }
  return QJsonDocument(QJsonObject{{QStringLiteral("schema"), QStringLiteral("swinscope.bookmarks/1")},
                                   {QStringLiteral("bookmarks"), array}})
      .toJson();
}

// Nothing when the file is damaged.
std::optional<std::vector<Bookmark>> read_bookmarks(const QString& path) {
  std::vector<Bookmark> bookmarks;
  QFile file(path);
  if (!file.open(QIODevice::ReadOnly)) return bookmarks;
  const QJsonValue all = QJsonDocument::fromJson(file.readAll()).object().value(QStringLiteral("bookmarks"));
  if (!all.isArray()) return std::nullopt;
  const QJsonArray array = all.toArray();
  for (const auto& value : array) {
    const QJsonObject object = value.toObject();
    bool has_begin = false;
    bool has_end = false;
    const Bookmark bookmark{object.value(QStringLiteral("label")).toString(),
                            object.value(QStringLiteral("begin_ns")).toString().toLongLong(&has_begin),
                            object.value(QStringLiteral("end_ns")).toString().toLongLong(&has_end),
                            object.value(QStringLiteral("note")).toString()};
    if (has_begin && has_end && bookmark.begin_ns < bookmark.end_ns) bookmarks.push_back(bookmark);
  }
  return bookmarks;
}

bool write_all(const QString& path, const QByteArray& content) {
  return QDir().mkpath(QFileInfo(path).path()) && !write_whole(path, content);
}

}  // namespace

void Bookmarks::open(const QString& trace_path) {
  trace_path_ = trace_path;
  file_ = file_beside(trace_path);
  auto stored = read_bookmarks(file_);
  if ((!stored || stored->empty()) && QFileInfo::exists(file_at_home(trace_path))) {
    file_ = file_at_home(trace_path);
    stored = read_bookmarks(file_);
  }
  is_damaged_ = !stored;
  bookmarks_ = std::move(stored).value_or(std::vector<Bookmark>());
  Q_EMIT changed();
}

void Bookmarks::add(const Bookmark& bookmark) {
  const auto later = std::upper_bound(bookmarks_.begin(), bookmarks_.end(), bookmark,
                                      [](const Bookmark& a, const Bookmark& b) { return a.begin_ns < b.begin_ns; });
  bookmarks_.insert(later, bookmark);
  Q_EMIT changed();
  save();
}

void Bookmarks::rename(std::size_t index, const QString& label) {
  if (bookmarks_.at(index).label == label) return;
  bookmarks_[index].label = label;
  Q_EMIT changed();
  save();
}

void Bookmarks::set_note(std::size_t index, const QString& note) {
  if (bookmarks_.at(index).note == note) return;
  bookmarks_[index].note = note;
  Q_EMIT changed();
  save();
}

void Bookmarks::remove(std::size_t index) {
  bookmarks_.erase(bookmarks_.begin() + static_cast<std::ptrdiff_t>(index));
  Q_EMIT changed();
  save();
}

void Bookmarks::save() {
  if (is_damaged_) QFile::rename(file_, file_ + QStringLiteral(".damaged"));
  is_damaged_ = false;
  const QByteArray content = to_json(bookmarks_);
  if (write_all(file_, content)) return;
  const QString home = file_at_home(trace_path_);
  if (file_ != home && write_all(home, content)) {
    file_ = home;
    return;
  }
  throw Error(ErrorKind::kFailure, "the bookmarks cannot be kept: " + file_.toStdString() + " cannot be written",
              "nor can " + home.toStdString(),
              "check the permissions of either folder; until then they last as long as "
              "the window");
}

}  // namespace swinscope::gui
