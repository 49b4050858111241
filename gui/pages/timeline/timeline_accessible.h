// The timeline for screen readers: its lanes, and the selected event, as objects with names and places.
#pragma once

namespace swinscope::gui {

// Once, before the first timeline is made.
void install_timeline_accessibility();

}  // namespace swinscope::gui
