#include "gui/core/demo_recording.h"

#include <QCoreApplication>
#include <QDir>
#include <QFileInfo>

namespace swinscope::gui {

QString demo_recording() {
  const QString name = QStringLiteral("swinscope_swin_tiny_graph_1gpu.db");
  QDir folder(QCoreApplication::applicationDirPath());
  const QString installed = folder.filePath(QStringLiteral("../share/swinscope/") + name);
  if (QFileInfo::exists(installed)) return QDir::cleanPath(installed);
  do {  // build folders lie in the sources
    QString in_sources = folder.filePath(QStringLiteral("data/") + name);
    if (QFileInfo::exists(in_sources)) return in_sources;
  } while (folder.cdUp());
  return {};
}

}  // namespace swinscope::gui
