#include "gui/pages/overview/headline.h"

#include <QStringList>
#include <algorithm>

namespace swinscope::gui {

Headline headline_of(const Document& document) {
  Headline said;
  QStringList sentences;
  QStringList notes;
  const bool has_why = std::ranges::find(document.tables, "scaling_loss", &Table::key) != document.tables.end();
  for (std::size_t i = 0; i < document.headline.size(); ++i) {
    const QString text = QString::fromStdString(document.headline[i]).trimmed();
    if (has_why && i == 1) {
      said.why = text;
      continue;
    }
    if (const QString mark = QStringLiteral("evidence: "); said.evidence.isEmpty() && text.startsWith(mark)) {
      said.evidence = text.mid(mark.size());
      continue;
    }
    const bool is_sentence = sentences.isEmpty() || text.startsWith(QStringLiteral("note: "));
    (is_sentence ? sentences : notes) << text;
  }
  QStringList remarks;
  for (const std::string& note : document.notes)
    remarks << QString::fromStdString(note);
  notes << remarks.join(QLatin1Char(' '));
  said.verdict = sentences.join(QLatin1Char('\n'));
  said.notes = notes.join(QLatin1Char('\n'));
  return said;
}

}  // namespace swinscope::gui
