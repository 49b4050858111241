#include "gui/core/actions.h"

#include <QStringList>
#include <algorithm>
#include <array>

namespace swinscope::gui {
namespace {

using enum ActionId;
constexpr ActionMenu kFile = ActionMenu::kFile;
constexpr ActionMenu kView = ActionMenu::kView;
constexpr ActionMenu kOfTimeline = ActionMenu::kTimeline;
constexpr ActionMenu kOfKernels = ActionMenu::kKernels;
constexpr ActionMenu kOfHelp = ActionMenu::kHelp;
constexpr ActionContext kWindow = ActionContext::kWindow;
constexpr ActionContext kTimeline = ActionContext::kTimeline;
constexpr ActionContext kKernels = ActionContext::kKernels;

constexpr ActionInfo kActions[] = {
    {kOpenFile, "file.open", "&Open trace…", "Ctrl+O", kFile, kWindow,
     "Opens a trace file: of swinscope, of Nsight Systems (.sqlite) or of PyTorch (.json, .json.gz)"},
    {kOpenFolder, "file.open_folder", "Open run or &experiment…", "Ctrl+Shift+O", kFile, kWindow,
     "Opens a run folder or an experiment folder"},
    {kReload, "file.reload", "&Reload", "F5 Ctrl+R", kFile, kWindow, "Reads the run again"},
    {kExportImage, "file.export_image", "Export &image…", "Ctrl+Shift+E", kFile, kWindow,
     "Writes what the page shows as a PNG file; a chart has PNG and SVG in its own menu"},
    {kExportReport, "file.export_report", "Export re&port…", "Ctrl+E", kFile, kWindow,
     "Writes everything about the run as one HTML, Markdown, CSV or JSON file"},
    {kQuit, "file.quit", "&Quit", "Ctrl+Q", kFile, kWindow, "Closes the window"},
    {kPageOverview, "view.overview", "&Overview", "Ctrl+1", kView, kWindow, "Verdict, key figures, charts"},
    {kPageTimeline, "view.timeline", "&Timeline", "Ctrl+2", kView, kWindow, "Every event over time"},
    {kPageKernels, "view.kernels", "&Kernels", "Ctrl+3", kView, kWindow, "GPU time by kernel"},
    {kPageLayers, "view.layers", "&Layers", "Ctrl+4", kView, kWindow, "Time, FLOPs and bytes by layer"},
    {kShowPublished, "view.published", "&Published results", "Ctrl+B", kView, kWindow,
     "Shows what others have published beside the experiments"},
    {kFocusFilter, "view.filter", "&Filter by name", "Ctrl+L", kView, kWindow, "Goes to the name filter"},
    {kClearFilter, "view.clear_filter", "&Clear filter", "Ctrl+Shift+L", kView, kWindow, "Shows everything again"},
    {kThemeSystem, "view.theme_system", "&System theme", "", kView, kWindow, "Light or dark, as the desktop is"},
    {kThemeLight, "view.theme_light", "L&ight theme", "", kView, kWindow, "Dark on light"},
    {kThemeDark, "view.theme_dark", "&Dark theme", "", kView, kWindow, "Light on dark"},
    {kZoomIn, "timeline.zoom_in", "Zoom &in", "W", kOfTimeline, kTimeline,
     "Zooms in; with Ctrl and the wheel at the cursor"},
    {kZoomOut, "timeline.zoom_out", "Zoom &out", "S", kOfTimeline, kTimeline, "Zooms out"},
    {kPanLeft, "timeline.pan_left", "Pan &left", "A Left", kOfTimeline, kTimeline,
     "Moves to earlier times; with Shift, drag the mouse"},
    {kPanRight, "timeline.pan_right", "Pan &right", "D Right", kOfTimeline, kTimeline, "Moves to later times"},
    {kLanesUp, "timeline.lanes_up", "Scroll lanes &up", "Up", kOfTimeline, kTimeline, "As the wheel does"},
    {kLanesDown, "timeline.lanes_down", "Scroll lanes &down", "Down", kOfTimeline, kTimeline, "As the wheel does"},
    {kZoomSelection, "timeline.zoom_selection", "Zoom to &selection", "F", kOfTimeline, kTimeline,
     "Zooms to the selected event or area; pressed again, to everything"},
    {kFit, "timeline.fit", "&Fit all", "0", kOfTimeline, kTimeline, "Shows the whole trace"},
    {kUndoZoom, "timeline.undo_zoom", "&Undo zoom", "Backspace Alt+Left", kOfTimeline, kTimeline,
     "Goes back to the view before"},
    {kRedoZoom, "timeline.redo_zoom", "R&edo zoom", "Alt+Right", kOfTimeline, kTimeline, "Takes an undo back"},
    {kSearch, "timeline.search", "Searc&h…", "/ Ctrl+F", kOfTimeline, kTimeline,
     "Finds events by name; the minimap marks where they are"},
    {kNextHit, "timeline.next_hit", "&Next hit", "Return F3", kOfTimeline, kTimeline, "The next event that was found"},
    {kPreviousHit, "timeline.previous_hit", "&Previous hit", "Shift+Return Shift+F3", kOfTimeline, kTimeline,
     "The event found before"},
    {kFollowBack, "timeline.follow_back", "Follow arrow &back", "[", kOfTimeline, kTimeline,
     "From a kernel to the call that launched it"},
    {kFollowForward, "timeline.follow_forward", "Follow arrow for&ward", "]", kOfTimeline, kTimeline,
     "From a launching call to its kernel"},
    {kPreviousEvent, "timeline.previous_event", "Previous event in lane", ",", kOfTimeline, kTimeline,
     "Selects the event before the selected one"},
    {kNextEvent, "timeline.next_event", "Next event in lane", ".", kOfTimeline, kTimeline,
     "Selects the event after the selected one"},
    {kEventAbove, "timeline.event_above", "Event in lane above", "Ctrl+Up", kOfTimeline, kTimeline,
     "Selects the event of the lane above that is nearest in time"},
    {kEventBelow, "timeline.event_below", "Event in lane below", "Ctrl+Down", kOfTimeline, kTimeline,
     "Selects the event of the lane below that is nearest in time"},
    {kSelectArea, "timeline.area", "&Area of the selection", "R", kOfTimeline, kTimeline,
     "Selects the time of the selected event over all lanes, for its statistics; with the mouse, drag"},
    {kPinLane, "timeline.pin", "&Pin lane", "P", kOfTimeline, kTimeline,
     "Keeps the lane of the selection on top; again lets it go"},
    {kAddBookmark, "timeline.bookmark", "Add book&mark", "M", kOfTimeline, kTimeline,
     "Remembers the view; kept beside the trace, which is not changed"},
    {kRemoveBookmark, "timeline.remove_bookmark", "Remove bookmark", "Ctrl+Delete", kOfTimeline, kTimeline,
     "Forgets the bookmark that is chosen in the list"},
    {kClearSelection, "timeline.clear_selection", "Clear selection", "Escape", kOfTimeline, kTimeline,
     "Nothing is selected any more"},
    {kNextOccurrence, "kernels.next", "&Next occurrence", "N", kOfKernels, kKernels,
     "Shows the next call of the selected kernel or layer in the timeline"},
    {kPreviousOccurrence, "kernels.previous", "&Previous occurrence", "Shift+N", kOfKernels, kKernels,
     "Shows the call before in the timeline"},
    {kPalette, "help.palette", "Command &palette…", "Ctrl+Shift+P", kOfHelp, kWindow,
     "Finds a command by typing a part of it"},
    {kHelp, "help.shortcuts", "&Keys and commands", "? F1", kOfHelp, kWindow, "All commands with their keys"},
    {kAbout, "help.about", "&About swinscope", "", kOfHelp, kWindow, "Version and licence"},
};

}  // namespace

std::span<const ActionInfo> all_actions() { return kActions; }

const ActionInfo& action_info(ActionId id) {
  return *std::find_if(std::begin(kActions), std::end(kActions), [&](const ActionInfo& a) { return a.id == id; });
}

QList<QKeySequence> shortcuts_of(const ActionInfo& action) {
  QList<QKeySequence> keys;
  for (const QString& key : QString::fromUtf8(action.shortcuts).split(QLatin1Char(' '), Qt::SkipEmptyParts))
    keys.append(QKeySequence(key, QKeySequence::PortableText));
  return keys;
}

QString plain_text(const ActionInfo& action) { return QString::fromUtf8(action.text).remove(QLatin1Char('&')); }

QString shortcut_text(const ActionInfo& action) {
  return QString::fromUtf8(action.shortcuts).split(QLatin1Char(' '), Qt::SkipEmptyParts).join(QStringLiteral(", "));
}

QString menu_title(ActionMenu menu) {
  switch (menu) {
    case ActionMenu::kFile:
      return QStringLiteral("&File");
    case ActionMenu::kView:
      return QStringLiteral("&View");
    case ActionMenu::kTimeline:
      return QStringLiteral("&Timeline");
    case ActionMenu::kKernels:
      return QStringLiteral("&Kernels");
    case ActionMenu::kHelp:
      break;
  }
  return QStringLiteral("&Help");
}

}  // namespace swinscope::gui
