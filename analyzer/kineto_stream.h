// The plumbing of the Kineto importer: one thread reads, decompresses and splits, the calling thread parses.
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

namespace swinscope {

// What remains when the events have been taken out.
struct KinetoDocument {
  std::string skeleton;
  bool found_events = false;
  bool complete = false;
  const char* damage = "";  // why reading ended early, when it did
  std::uint64_t bytes = 0;  // of JSON
  std::int64_t odd_elements = 0;
};

// Calls `on_event` on this thread with the text of every event, in order; `padding` readable bytes follow each text.
// Throws Error as ByteSource and JsonSplitter do, and when `cancel` becomes true.
KinetoDocument stream_kineto_events(const std::filesystem::path& path, std::size_t padding,
                                    const std::atomic<bool>* cancel,
                                    const std::function<void(std::string_view)>& on_event);

}  // namespace swinscope
