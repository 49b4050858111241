// Everything the user can do but go to a page (gui/pages/pages.h), in one list: menus, the command palette, shortcuts
// and the help are made of it.
#pragma once

#include <QKeySequence>
#include <QList>
#include <QString>
#include <array>
#include <cstdint>
#include <span>

namespace swinscope::gui {

enum class ActionId : std::uint8_t {
  kOpenFile,
  kOpenFolder,
  kCompareWith,
  kReload,
  kExportImage,
  kExportReport,
  kExportTrace,
  kExportTable,
  kCopyCommand,
  kQuit,
  kShowPublished,
  kFocusFilter,
  kClearFilter,
  kThemeSystem,
  kThemeLight,
  kThemeDark,
  kZoomIn,
  kZoomOut,
  kPanLeft,
  kPanRight,
  kLanesUp,
  kLanesDown,
  kZoomSelection,
  kFit,
  kUndoZoom,
  kRedoZoom,
  kSearch,
  kNextHit,
  kPreviousHit,
  kFollowBack,
  kFollowForward,
  kPreviousEvent,
  kNextEvent,
  kEventAbove,
  kEventBelow,
  kSelectArea,
  kCriticalPath,
  kNextGap,
  kPreviousGap,
  kPinLane,
  kFoldGroup,
  kFoldAll,
  kMoveLaneUp,
  kMoveLaneDown,
  kTallerLanes,
  kLowerLanes,
  kGoToTime,
  kAddBookmark,
  kRemoveBookmark,
  kClearSelection,
  kNextOccurrence,
  kPreviousOccurrence,
  kRunQuery,
  kCancelQuery,
  kSaveQuery,
  kRemoveQuery,
  kLongestOccurrence,
  kPalette,
  kHelp,
  kAbout,
};

enum class ActionMenu : std::uint8_t { kFile, kView, kTimeline, kKernels, kQuery, kHelp };
inline constexpr std::array kMenus = {ActionMenu::kFile,    ActionMenu::kView,  ActionMenu::kTimeline,
                                      ActionMenu::kKernels, ActionMenu::kQuery, ActionMenu::kHelp};
// Where its shortcut works: single letters must not be taken from whoever types.
enum class ActionContext : std::uint8_t { kWindow, kTimeline, kKernels, kQuery };  // kKernels: every page

struct ActionInfo {
  ActionId id;
  ActionMenu menu;
  ActionContext context;
  const char* name;       // never changes: "timeline.zoom_in"
  const char* text;       // with a mnemonic
  const char* shortcuts;  // separated by spaces
  const char* help;
};

std::span<const ActionInfo> all_actions();
const ActionInfo& action_info(ActionId id);
QList<QKeySequence> shortcuts_of(const char* shortcuts);
// Without the mnemonic's mark: "Zoom in".
QString plain_text(QString text);
QString menu_title(ActionMenu menu);

}  // namespace swinscope::gui
