// What the pages are to show: the global filter.
#pragma once

#include <QObject>
#include <QString>
#include <cstdint>
#include <optional>

namespace swinscope::gui {

struct Filter {
  std::optional<std::int32_t> rank;
  std::optional<std::uint32_t> stream;
  int first_step = -1;  // both -1: all, also what belongs to no step
  int last_step = -1;
  QString name;  // part of a name, without regard to case
  bool has_steps() const { return first_step >= 0; }
  bool operator==(const Filter&) const = default;
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
