// A small file beside a trace that says what was lost. Its space is taken while there still is some, so that it can be
// written when the disk is full, and it is right even when the process is killed. `swinscope record` adds it to the
// trace.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "store/records.h"

namespace swinscope {

class DropNote {
 public:
  // The name of a trace's note.
  static std::filesystem::path path_for(const std::filesystem::path& trace);
  // What a note says; nothing when there is none.
  static std::vector<DropInfo> read(const std::filesystem::path& trace);

  // Without space for the file the note stays silent.
  explicit DropNote(const std::filesystem::path& trace);
  DropNote(const DropNote&) = delete;
  DropNote& operator=(const DropNote&) = delete;
  DropNote(DropNote&&) = delete;
  DropNote& operator=(DropNote&&) = delete;
  ~DropNote();

  // The totals so far.
  void write(const std::vector<DropInfo>& drops);
  // The trace itself says it all now.
  void remove();

 private:
  std::filesystem::path path_;
  int file_ = -1;
  std::string written_;
};

}  // namespace swinscope
