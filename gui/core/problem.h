// What went wrong, for people: what, why, and the next step.
#pragma once

#include <QString>

#include "store/error.h"

namespace swinscope::gui {

struct Problem {
  QString what;
  QString cause;
  QString hint;
};

inline Problem problem_of(const Error& error) {
  return {QString::fromUtf8(error.what()), QString::fromStdString(error.cause()), QString::fromStdString(error.hint())};
}

// Of an exception that nobody expected.
inline Problem problem_of(const std::exception& error) {
  return {QString::fromUtf8(error.what()), QStringLiteral("an unexpected failure"),
          QStringLiteral("please report it with the file that was opened")};
}

}  // namespace swinscope::gui
