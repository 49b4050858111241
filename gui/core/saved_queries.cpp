#include "gui/core/saved_queries.h"

#include <QSettings>
#include <QVariantMap>

namespace swinscope::gui {
namespace {

const QString& saved_key() {
  static const QString key = QStringLiteral("queries/saved");
  return key;
}

const QString& recent_key() {
  static const QString key = QStringLiteral("queries/recent");
  return key;
}

constexpr const char* kLongestKernels =
    R"(SELECT name.value AS kernel, start, end, end - start AS ns, deviceId, streamId
FROM CUPTI_ACTIVITY_KIND_KERNEL JOIN StringIds name ON name.id = shortName
ORDER BY ns DESC LIMIT 100)";

constexpr const char* kKernelsByTime = R"(SELECT name.value AS kernel, count(*) AS calls, sum(end - start) AS total_ns,
       min(end - start) AS least_ns, max(end - start) AS most_ns
FROM CUPTI_ACTIVITY_KIND_KERNEL JOIN StringIds name ON name.id = shortName
GROUP BY kernel ORDER BY total_ns DESC)";

constexpr const char* kLongestCalls = R"(SELECT name.value AS call, start, end, end - start AS ns
FROM CUPTI_ACTIVITY_KIND_RUNTIME JOIN StringIds name ON name.id = nameId
ORDER BY ns DESC LIMIT 100)";

constexpr const char* kLateKernels =
    R"(SELECT name.value AS kernel, kernel.start, kernel.end, kernel.start - call.end AS waited_ns
FROM CUPTI_ACTIVITY_KIND_KERNEL kernel
JOIN CUPTI_ACTIVITY_KIND_RUNTIME call USING (correlationId)
JOIN StringIds name ON name.id = kernel.shortName
ORDER BY waited_ns DESC LIMIT 100)";

}  // namespace

const std::vector<NamedQuery>& example_queries() {
  static const std::vector<NamedQuery> examples = {
      {QStringLiteral("Longest kernels"), QString::fromUtf8(kLongestKernels)},
      {QStringLiteral("Kernels by time"), QString::fromUtf8(kKernelsByTime)},
      {QStringLiteral("Longest CUDA calls"), QString::fromUtf8(kLongestCalls)},
      {QStringLiteral("Kernels that waited longest after their launch"), QString::fromUtf8(kLateKernels)}};
  return examples;
}

std::vector<NamedQuery> SavedQueries::saved() {
  std::vector<NamedQuery> queries;
  const QVariantMap stored = QSettings().value(saved_key()).toMap();
  for (auto it = stored.begin(); it != stored.end(); ++it)
    queries.push_back({it.key(), it.value().toString()});
  return queries;
}

void SavedQueries::save(const NamedQuery& query) {
  QSettings store;
  QVariantMap stored = store.value(saved_key()).toMap();
  stored[query.name] = query.sql;
  store.setValue(saved_key(), stored);
}

void SavedQueries::remove(const QString& name) {
  QSettings store;
  QVariantMap stored = store.value(saved_key()).toMap();
  stored.remove(name);
  store.setValue(saved_key(), stored);
}

std::vector<NamedQuery> SavedQueries::recent() {
  std::vector<NamedQuery> queries;
  for (const QString& sql : QSettings().value(recent_key()).toStringList())
    queries.push_back({sql.simplified(), sql});
  return queries;
}

void SavedQueries::add_recent(const QString& sql) {
  QSettings store;
  QStringList queries = store.value(recent_key()).toStringList();
  queries.removeAll(sql);
  queries.prepend(sql);
  store.setValue(recent_key(), queries.mid(0, kRecent));
}

}  // namespace swinscope::gui
