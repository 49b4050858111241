// The dialogs that ask for a file. Each begins in the folder that was chosen last, also in an earlier start: one for
// what is opened, one for what is written.
#pragma once

#include <QString>
#include <QStringList>

class QWidget;

namespace swinscope::gui {

// What can be opened, for ask_for_files().
inline constexpr const char* kTraceKinds = "Traces (*.db *.sqlite *.sqlite3 *.json *.json.gz *.gz);;All files (*)";

// Empty where the user chose nothing.
QStringList ask_for_files(QWidget* parent, const QString& title, const QString& kinds);
QString ask_for_folder(QWidget* parent, const QString& title);
// `name`: what is offered, without a folder.
QString ask_where_to_save(QWidget* parent, const QString& title, const QString& name, const QString& kinds);

}  // namespace swinscope::gui
