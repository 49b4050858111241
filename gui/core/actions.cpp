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
constexpr ActionMenu kOfQuery = ActionMenu::kQuery;
constexpr ActionMenu kOfHelp = ActionMenu::kHelp;
constexpr ActionContext kWindow = ActionContext::kWindow;
constexpr ActionContext kTimeline = ActionContext::kTimeline;
constexpr ActionContext kKernels = ActionContext::kKernels;
constexpr ActionContext kQuery = ActionContext::kQuery;

constexpr ActionInfo kActions[] = {
    {kOpenFile, kFile, kWindow, "file.open", "&Open trace…", "Ctrl+O",
     "Opens a trace file: of swinscope, of Nsight Systems (.sqlite) or of PyTorch (.json, .json.gz)"},
    {kOpenFolder, kFile, kWindow, "file.open_folder", "Open run or &experiment…", "Ctrl+Shift+O",
     "Opens a run folder or an experiment folder"},
    {kCompareWith, kFile, kWindow, "file.compare", "&Compare with…", "Ctrl+Shift+C",
     "Puts other runs or traces beside the one that is open, on the page Compare"},
    {kReload, kFile, kWindow, "file.reload", "&Reload", "F5 Ctrl+R", "Reads the run again"},
    {kExportImage, kFile, kWindow, "file.export_image", "Export &image…", "Ctrl+Shift+E",
     "Writes what the page shows as a PNG or SVG file, with a title; a chart has both in its own menu"},
    {kExportReport, kFile, kWindow, "file.export_report", "Export re&port…", "Ctrl+E",
     "Writes everything about the run as one HTML, Markdown, CSV or JSON file"},
    {kExportTrace, kFile, kWindow, "file.export_trace", "Export e&vents…", "Ctrl+Shift+V",
     "Writes the events for Perfetto (.pftrace), or of one rank for Chrome and PyTorch's tools (.json)"},
    {kExportTable, kFile, kWindow, "file.export_table", "Export &table…", "Ctrl+Shift+T",
     "Writes the rows that are shown as a CSV, JSON or Markdown file"},
    {kCopyCommand, kFile, kWindow, "file.copy_command", "Copy co&mmand", "Ctrl+Shift+K",
     "Copies the command that prints in a terminal what the page shows"},
    {kQuit, kFile, kWindow, "file.quit", "&Quit", "Ctrl+Q", "Closes the window"},
    {kShowPublished, kView, kWindow, "view.published", "&Published results", "Ctrl+B",
     "Shows what others have published beside the experiments"},
    {kFocusFilter, kView, kWindow, "view.filter", "&Filter by name", "Ctrl+L", "Goes to the name filter"},
    {kClearFilter, kView, kWindow, "view.clear_filter", "&Clear filter", "Ctrl+Shift+L", "Shows everything again"},
    {kThemeSystem, kView, kWindow, "view.theme_system", "&System theme", "", "Light or dark, as the desktop is"},
    {kThemeLight, kView, kWindow, "view.theme_light", "L&ight theme", "", "Dark on light"},
    {kThemeDark, kView, kWindow, "view.theme_dark", "&Dark theme", "", "Light on dark"},
    {kZoomIn, kOfTimeline, kTimeline, "timeline.zoom_in", "Zoom &in", "W",
     "Zooms in; with Ctrl and the wheel at the cursor"},
    {kZoomOut, kOfTimeline, kTimeline, "timeline.zoom_out", "Zoom &out", "S", "Zooms out"},
    {kPanLeft, kOfTimeline, kTimeline, "timeline.pan_left", "Pan &left", "A Left",
     "Moves to earlier times; with Shift, drag the mouse"},
    {kPanRight, kOfTimeline, kTimeline, "timeline.pan_right", "Pan &right", "D Right", "Moves to later times"},
    {kLanesUp, kOfTimeline, kTimeline, "timeline.lanes_up", "Scroll lanes &up", "Up", "As the wheel does"},
    {kLanesDown, kOfTimeline, kTimeline, "timeline.lanes_down", "Scroll lanes &down", "Down", "As the wheel does"},
    {kZoomSelection, kOfTimeline, kTimeline, "timeline.zoom_selection", "Zoom to &selection", "F",
     "Zooms to the selected event or area; pressed again, to everything"},
    {kFit, kOfTimeline, kTimeline, "timeline.fit", "&Fit all", "0", "Shows the whole trace"},
    {kUndoZoom, kOfTimeline, kTimeline, "timeline.undo_zoom", "&Undo zoom", "Backspace Alt+Left",
     "Goes back to the view before"},
    {kRedoZoom, kOfTimeline, kTimeline, "timeline.redo_zoom", "R&edo zoom", "Alt+Right", "Takes an undo back"},
    {kSearch, kOfTimeline, kTimeline, "timeline.search", "Searc&h…", "/ Ctrl+F",
     "Finds events by name; the minimap marks where they are"},
    {kNextHit, kOfTimeline, kTimeline, "timeline.next_hit", "&Next hit", "Return F3", "The next event that was found"},
    {kPreviousHit, kOfTimeline, kTimeline, "timeline.previous_hit", "&Previous hit", "Shift+Return Shift+F3",
     "The event found before"},
    {kFollowBack, kOfTimeline, kTimeline, "timeline.follow_back", "Follow arrow &back", "[",
     "From a kernel to the call that launched it"},
    {kFollowForward, kOfTimeline, kTimeline, "timeline.follow_forward", "Follow arrow for&ward", "]",
     "From a launching call to its kernel"},
    {kPreviousEvent, kOfTimeline, kTimeline, "timeline.previous_event", "Previous event in lane", ",",
     "Selects the event before the selected one"},
    {kNextEvent, kOfTimeline, kTimeline, "timeline.next_event", "Next event in lane", ".",
     "Selects the event after the selected one"},
    {kEventAbove, kOfTimeline, kTimeline, "timeline.event_above", "Event in lane above", "Ctrl+Up",
     "Selects the event of the lane above that is nearest in time"},
    {kEventBelow, kOfTimeline, kTimeline, "timeline.event_below", "Event in lane below", "Ctrl+Down",
     "Selects the event of the lane below that is nearest in time"},
    {kSelectArea, kOfTimeline, kTimeline, "timeline.area", "&Area of the selection", "R",
     "Selects the time of the selected event over all lanes, for its statistics; with the mouse, drag"},
    {kCriticalPath, kOfTimeline, kTimeline, "timeline.critical_path", "&Critical path", "C",
     "Marks what decides how long the steps take; again removes the marks"},
    {kNextGap, kOfTimeline, kTimeline, "timeline.next_gap", "Next idle &gap", "G",
     "The longest time in which a device had nothing to do, with cause and what the host did; again: the next shorter "
     "one"},
    {kPreviousGap, kOfTimeline, kTimeline, "timeline.previous_gap", "Previous idle gap", "Shift+G",
     "The next longer one"},
    {kPinLane, kOfTimeline, kTimeline, "timeline.pin", "&Pin lane", "P",
     "Keeps the lane of the selection on top; again lets it go"},
    {kFoldGroup, kOfTimeline, kTimeline, "timeline.fold", "Fold or unfold &group", "E",
     "Makes one row of the lanes around the selection, or shows them again; with the mouse, click on their name"},
    {kFoldAll, kOfTimeline, kTimeline, "timeline.fold_all", "Fold or unfold all groups", "Shift+E",
     "Shows every lane, or one row for each device and thread"},
    {kMoveLaneUp, kOfTimeline, kTimeline, "timeline.lane_up", "Move lane u&p", "Alt+Up",
     "Moves the lane of the selection up; at the top of its device or thread moves that, then the rank; with the "
     "mouse, "
     "drag a name"},
    {kMoveLaneDown, kOfTimeline, kTimeline, "timeline.lane_down", "Move lane do&wn", "Alt+Down",
     "Moves the lane of the selection down; at the bottom of its device or thread moves that, then the rank"},
    {kTallerLanes, kOfTimeline, kTimeline, "timeline.taller", "Taller lanes",
     "+ =", "Makes all lanes taller; with the mouse, drag the lower edge of a lane's name"},
    {kLowerLanes, kOfTimeline, kTimeline, "timeline.lower", "Lower lanes", "-", "Makes all lanes less tall: more fit"},
    {kGoToTime, kOfTimeline, kTimeline, "timeline.go_to_time", "Go to &time…", "T",
     "Shows a time of the ruler, like 1.25 s or 480 ms, or a stretch, like 1.25 s to 1.3 s"},
    {kAddBookmark, kOfTimeline, kTimeline, "timeline.bookmark", "Add book&mark", "M",
     "Remembers the view; kept beside the trace, which is not changed"},
    {kRemoveBookmark, kOfTimeline, kTimeline, "timeline.remove_bookmark", "Remove bookmark", "Ctrl+Delete",
     "Forgets the bookmark that is chosen in the list"},
    {kClearSelection, kOfTimeline, kTimeline, "timeline.clear_selection", "Clear selection", "Escape",
     "Nothing is selected any more"},
    {kNextOccurrence, kOfKernels, kKernels, "kernels.next", "&Next occurrence", "N",
     "Shows the next call of the selected kernel, layer or event in the timeline, from any page"},
    {kPreviousOccurrence, kOfKernels, kKernels, "kernels.previous", "&Previous occurrence", "Shift+N",
     "Shows the call before in the timeline"},
    {kRunQuery, kOfQuery, kQuery, "query.run", "&Run query", "Ctrl+Return Ctrl+Enter", "Runs the SQL; it only reads"},
    {kCancelQuery, kOfQuery, kQuery, "query.cancel", "&Cancel query", "Escape", "Stops the query that is running"},
    {kSaveQuery, kOfQuery, kQuery, "query.save", "&Save query", "Ctrl+S", "Keeps the SQL under the name beside it"},
    {kRemoveQuery, kOfQuery, kQuery, "query.remove", "Remove &saved query", "Ctrl+Delete",
     "Forgets the saved query that is chosen in the list"},
    {kLongestOccurrence, kOfKernels, kKernels, "kernels.longest", "&Longest occurrence", "L",
     "Shows the longest call of it in the timeline; again: the next shorter one"},
    {kPalette, kOfHelp, kWindow, "help.palette", "Command &palette…", "Ctrl+Shift+P",
     "Finds a command by typing a part of it"},
    {kHelp, kOfHelp, kWindow, "help.shortcuts", "&Keys and commands", "? F1", "All commands with their keys"},
    {kAbout, kOfHelp, kWindow, "help.about", "&About swinscope", "", "Version and licence"},
};

}  // namespace

std::span<const ActionInfo> all_actions() { return kActions; }

const ActionInfo& action_info(ActionId id) {
  return *std::find_if(std::begin(kActions), std::end(kActions), [&](const ActionInfo& a) { return a.id == id; });
}

QList<QKeySequence> shortcuts_of(const char* shortcuts) {
  QList<QKeySequence> keys;
  for (const QString& key : QString::fromUtf8(shortcuts).split(QLatin1Char(' '), Qt::SkipEmptyParts))
    keys.append(QKeySequence(key, QKeySequence::PortableText));
  return keys;
}

QString plain_text(QString text) { return text.remove(QLatin1Char('&')); }

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
    case ActionMenu::kQuery:
      return QStringLiteral("S&QL");
    case ActionMenu::kHelp:
      break;
  }
  return QStringLiteral("&Help");
}

}  // namespace swinscope::gui
