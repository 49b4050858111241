#include "gui/core/run_command.h"

#include <array>

#include "store/shell.h"

namespace swinscope::gui {
namespace {

QStringList selection_words(const Filter& filter) {
  QStringList words;
  if (filter.rank) words << QStringLiteral("--rank %1").arg(*filter.rank);
  if (filter.stream) words << QStringLiteral("--stream %1").arg(*filter.stream);
  if (filter.steps) {
    words << QStringLiteral("--steps %1:%2").arg(filter.steps->first).arg(filter.steps->last);
  } else if (filter.whole_trace) {
    words << QStringLiteral("--scope trace");
  }
  return words;
}

}  // namespace

QString run_command(const QStringList& words, const QStringList& paths, const Filter& filter) {
  QStringList all = {QStringLiteral("swinscope"), words.front()};
  for (const QString& path : paths)
    all << QString::fromStdString(path_argument(path.toStdString()));
  return (all + words.mid(1) + selection_words(filter)).join(QLatin1Char(' '));
}

QString table_command(std::string_view analysis, std::size_t grouping, const QString& path, const Filter& filter) {
  static constexpr std::array<const char*, 4> kBy = {"", "--by short", "--by operation", "--by class"};
  if (analysis == "kernels") {
    QStringList words = {QStringLiteral("kernels")};
    if (grouping > 0) words << QLatin1String(kBy.at(grouping));
    return run_command(words, {path}, filter);
  }
  if (analysis == "layers" && grouping == 0) return run_command({QStringLiteral("layers")}, {path}, filter);
  const std::string_view key = analysis == "layers" ? "layer_groups" : analysis;
  const QString table = QString::fromUtf8(key.data(), static_cast<qsizetype>(key.size()));
  return run_command({QStringLiteral("analyze"), QStringLiteral("--table %1").arg(table)}, {path}, filter);
}

}  // namespace swinscope::gui
