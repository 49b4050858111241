// Files that the user asks for: whole, or as they were before.
#pragma once

#include <QByteArray>
#include <QString>
#include <optional>

#include "gui/core/problem.h"

namespace swinscope::gui {

// Returns why not, where the file cannot be written.
std::optional<Problem> write_whole(const QString& path, const QByteArray& content);

}  // namespace swinscope::gui
