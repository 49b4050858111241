#include "gui/pages/pages.h"

#include <algorithm>

#include "gui/pages/compare/compare_page.h"
#include "gui/pages/opportunities/opportunities_page.h"
#include "gui/pages/overview/overview_page.h"
#include "gui/pages/query/query_page.h"
#include "gui/pages/ranks/ranks_page.h"
#include "gui/pages/roofline/roofline_page.h"
#include "gui/pages/table/table_page.h"
#include "gui/pages/timeline/timeline_page.h"

namespace swinscope::gui {
namespace {

template <typename Made>
Page* make(QWidget* parent) {
  return new Made(parent);
}

Page* make_kernels(QWidget* parent) { return new TablePage("kernels", RowsLook::kTable, parent); }
Page* make_layers(QWidget* parent) { return new TablePage("layers", RowsLook::kLayerTree, parent); }

constexpr PageInfo kPages[] = {
    {"overview", "&Overview", "Ctrl+1", "Verdict, key figures, charts", &make<OverviewPage>},
    {"timeline", "&Timeline", "Ctrl+2", "Every event over time", &make<TimelinePage>},
    {"kernels", "&Kernels", "Ctrl+3", "GPU time by kernel", &make_kernels},
    {"layers", "&Layers", "Ctrl+4", "Time, FLOPs and bytes by layer", &make_layers},
    {"roofline", "Roo&fline", "Ctrl+9", "How near layers come to what the GPU can do at most", &make<RooflinePage>},
    {"opportunities", "Opport&unities", "Ctrl+5", "What changes would save of a step", &make<OpportunitiesPage>},
    {"ranks", "&Ranks", "Ctrl+6", "Who waits for whom, and why", &make<RanksPage>},
    {"tables", "T&ables", "Ctrl+7", "Every table of the run, by question", &make<TablePage>},
    {"query", "S&QL", "Ctrl+0", "Queries of the run that only read", &make<QueryPage>},
    {"compare", "&Compare", "Ctrl+8", "Why one run takes longer than another", &make<ComparePage>},
};

}  // namespace

std::span<const PageInfo> all_pages() { return kPages; }

int find_page(const QString& id) {
  const auto found = std::ranges::find_if(kPages, [&](const PageInfo& page) { return id == QLatin1String(page.id); });
  return found == std::end(kPages) ? -1 : static_cast<int>(found - std::begin(kPages));
}

}  // namespace swinscope::gui
