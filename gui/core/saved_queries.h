// Queries with names: those that come with the program, those that the user saved, and what was asked lately.
#pragma once

#include <QString>
#include <vector>

namespace swinscope::gui {

struct NamedQuery {
  QString name;
  QString sql;
  bool operator==(const NamedQuery&) const = default;
};

// They run on traces of any source. Times are columns called start and end, so that rows open in the timeline.
const std::vector<NamedQuery>& example_queries();

// What the settings keep.
class SavedQueries {
 public:
  static constexpr int kRecent = 30;

  // By name.
  static std::vector<NamedQuery> saved();
  // One of that name is replaced.
  static void save(const NamedQuery& query);
  static void remove(const QString& name);
  // Latest first, each once. The name is the query in one line.
  static std::vector<NamedQuery> recent();
  static void add_recent(const QString& sql);
};

}  // namespace swinscope::gui
