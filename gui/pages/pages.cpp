#include "gui/pages/pages.h"

#include <algorithm>

#include "gui/pages/kernels/kernels_page.h"
#include "gui/pages/layers/layers_page.h"
#include "gui/pages/overview/overview_page.h"
#include "gui/pages/timeline/timeline_page.h"

namespace swinscope::gui {
namespace {

template <typename Made>
Page* make(QWidget* parent) {
  return new Made(parent);
}

constexpr PageInfo kPages[] = {
    {"overview", "&Overview", "Ctrl+1", "Verdict, key figures, charts", &make<OverviewPage>},
    {"timeline", "&Timeline", "Ctrl+2", "Every event over time", &make<TimelinePage>},
    {"kernels", "&Kernels", "Ctrl+3", "GPU time by kernel", &make<KernelsPage>},
    {"layers", "&Layers", "Ctrl+4", "Time, FLOPs and bytes by layer", &make<LayersPage>},
};

}  // namespace

std::span<const PageInfo> all_pages() { return kPages; }

int find_page(const QString& id) {
  const auto found = std::ranges::find_if(kPages, [&](const PageInfo& page) { return id == QLatin1String(page.id); });
  return found == std::end(kPages) ? -1 : static_cast<int>(found - std::begin(kPages));
}

}  // namespace swinscope::gui
