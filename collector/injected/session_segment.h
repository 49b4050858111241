// Makes the segment of this process, and says who the process is.
#pragma once

#include <array>
#include <cstddef>

#include "collector/segment/segment.h"

namespace swinscope {

// What the environment said when the library was loaded: a program may change it.
struct SessionFolders {
  static constexpr std::size_t kMaxPath = 3072;
  std::array<char, kMaxPath> out = {};    // SWINSCOPE_OUT: the run; empty: nothing is recorded
  std::array<char, kMaxPath> rings = {};  // SWINSCOPE_RINGS: where `record` looks for segments; empty: it does not
};
void remember_folders(SessionFolders& folders) noexcept;

// Not valid where that is not possible, with `errno`.
Segment make_segment(const SessionFolders& folders) noexcept;
Segment make_private_segment() noexcept;

// Tells `record` why there is no segment; as the name of a link, which needs no descriptor and no space.
void tell_why(const SessionFolders& folders, int error) noexcept;

// Command line and variables, when the segment is new; a forked child has those of its parent.
void describe_process(const SegmentView& segment, bool is_new) noexcept;

}  // namespace swinscope
