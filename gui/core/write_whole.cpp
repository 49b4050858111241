#include "gui/core/write_whole.h"

#include <QSaveFile>

namespace swinscope::gui {

std::optional<Problem> write_whole(const QString& path, const QByteArray& content) {
  QSaveFile file(path);
  if (file.open(QIODevice::WriteOnly) && file.write(content) == content.size() && file.commit()) return std::nullopt;
  return Problem{QStringLiteral("%1: cannot be written").arg(path), file.errorString(),
                 QStringLiteral("choose another folder, or make room on the disk")};
}

}  // namespace swinscope::gui
