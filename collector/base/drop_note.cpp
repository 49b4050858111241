#include "collector/base/drop_note.h"

#include <algorithm>
#include <string>
#include <string_view>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "collector/base/proc_files.h"

namespace swinscope {
namespace fs = std::filesystem;
namespace {

constexpr std::size_t kBytes = 4096;

std::string_view take_until(std::string_view& text, char end) {
  const std::size_t at = std::min(text.find(end), text.size());
  const std::string_view part = text.substr(0, at);
  text.remove_prefix(std::min(at + 1, text.size()));
  return part;
}

}  // namespace

fs::path DropNote::path_for(const fs::path& trace) { return trace.string() + "-drops"; }

// One loss a line: kind, count and reason, separated by tabs; then zeros to the end.
std::vector<DropInfo> DropNote::read(const fs::path& trace) {
  std::vector<DropInfo> drops;
  const std::string content = read_small_file(path_for(trace), kBytes);
  std::string_view text = content;
  text = text.substr(0, text.find('\0'));
  while (!text.empty()) {
    std::string_view line = take_until(text, '\n');
    DropInfo drop;
    drop.what = take_until(line, '\t');
    drop.count = parse_integer(take_until(line, '\t')).value_or(0);
    drop.reason = line;
    if (drop.count > 0) drops.push_back(std::move(drop));
  }
  return drops;
}

DropNote::DropNote(const fs::path& trace) : path_(path_for(trace)) {
  file_ = open(path_.c_str(), O_CREAT | O_TRUNC | O_RDWR | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (file_ < 0 || posix_fallocate(file_, 0, kBytes) == 0) return;
  remove();
}

DropNote::~DropNote() {
  if (file_ >= 0) close(file_);
}

void DropNote::write(const std::vector<DropInfo>& drops) {
  if (file_ < 0) return;
  std::string text;
  for (const DropInfo& drop : drops)
    text += fmt::format("{}\t{}\t{}\n", drop.what, drop.count, drop.reason);
  text.resize(kBytes, '\0');
  if (text == written_) return;
  written_ = text;
  // Nothing is left to tell when this fails too.
  [[maybe_unused]] const ssize_t written = pwrite(file_, text.data(), text.size(), 0);
}

void DropNote::remove() {
  if (file_ >= 0) close(file_);
  file_ = -1;
  std::error_code ignored;
  fs::remove(path_, ignored);
}

}  // namespace swinscope
