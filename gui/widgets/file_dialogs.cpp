#include "gui/widgets/file_dialogs.h"

#include <QDir>
#include <QFileDialog>
#include <QFileInfo>
#include <QSettings>

namespace swinscope::gui {
namespace {

const QString& open_key() {
  static const QString key = QStringLiteral("folders/open");
  return key;
}

const QString& save_key() {
  static const QString key = QStringLiteral("folders/save");
  return key;
}

// Where that folder is gone, the present one.
QString folder_of(const QString& key) {
  const QString folder = QSettings().value(key).toString();
  return !folder.isEmpty() && QFileInfo(folder).isDir() ? folder : QDir::currentPath();
}

void remember(const QString& key, const QString& chosen) {
  if (!chosen.isEmpty()) QSettings().setValue(key, QFileInfo(chosen).absolutePath());
}

}  // namespace

QStringList ask_for_files(QWidget* parent, const QString& title, const QString& kinds) {
  QStringList chosen = QFileDialog::getOpenFileNames(parent, title, folder_of(open_key()), kinds);
  if (!chosen.isEmpty()) remember(open_key(), chosen.front());
  return chosen;
}

QString ask_for_folder(QWidget* parent, const QString& title) {
  QString chosen = QFileDialog::getExistingDirectory(parent, title, folder_of(open_key()));
  remember(open_key(), chosen);
  return chosen;
}

QString ask_where_to_save(QWidget* parent, const QString& title, const QString& name, const QString& kinds) {
  QString chosen = QFileDialog::getSaveFileName(parent, title, QDir(folder_of(save_key())).filePath(name), kinds);
  remember(save_key(), chosen);
  return chosen;
}

}  // namespace swinscope::gui
