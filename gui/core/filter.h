// What the pages are to show: the global filter.
#pragma once

#include <QObject>
#include <QString>
#include <cstdint>
#include <optional>

#include "analyzer/facts/selection.h"

namespace swinscope::gui {

struct Filter {
  std::optional<std::int32_t> rank;
  std::optional<std::uint32_t> stream;
  bool whole_trace = false;        // instead of the measured steps
  std::optional<StepRange> steps;  // instead of both
  QString name;                    // part of a name, without regard to case
  bool operator==(const Filter&) const = default;

  // What the analyses are to be of. The name is the business of whoever shows rows.
  Selection selection() const {
    Selection chosen;
    chosen.scope = whole_trace && !steps ? Scope::kTrace : Scope::kSteps;
    chosen.rank = rank;
    if (stream) chosen.stream = *stream;
    chosen.steps = steps;
    return chosen;
  }
};

// The one filter of a window; every page listens to it.
class FilterModel : public QObject {
  Q_OBJECT

 public:
  using QObject::QObject;
  const Filter& filter() const { return filter_; }
  void set_filter(const Filter& filter) {
    if (filter == filter_) return;
    filter_ = filter;
    Q_EMIT changed();
  }

 Q_SIGNALS:
  void changed();

 private:
  Filter filter_;
};

}  // namespace swinscope::gui
