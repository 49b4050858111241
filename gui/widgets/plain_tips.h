// Names in recordings come from strangers. Qt takes a text that looks like HTML for HTML, loads the pictures that it
// names and shows its links; in this program every label and tool tip shows its text as it is.
#pragma once

namespace swinscope::gui {

// From now on, and for all windows: labels that do not ask for rich text, and all tool tips (those of the rows of views
// among them), show plain text. A second call changes nothing.
void show_tips_plainly();

}  // namespace swinscope::gui
