// Everything known about one event, as rows of name, value and link: where the value leads to, empty for nowhere.
#pragma once

#include <QString>
#include <optional>
#include <string>
#include <utility>

#include "analyzer/table/table.h"
#include "gui/core/opened.h"

namespace swinscope::gui {

// Without the trace (still loading) only what the timeline knows. Keys: name, lane, start, duration, launch_delay,
// queue, grid, ...
Table event_details(const OpenedRun& run, TimelineEventId event);

// "event:3:17", "layer:forward:stage3.block5", "calls:" of the kernel itself.
std::string event_link(TimelineEventId event);
std::string layer_link(const std::string& path, const std::string& phase);
inline constexpr const char* kCallsLink = "calls:";
// The event of such a link; nothing of another.
std::optional<TimelineEventId> linked_event(const QString& link);
// Path and phase.
std::optional<std::pair<QString, QString>> linked_layer(const QString& link);

}  // namespace swinscope::gui
