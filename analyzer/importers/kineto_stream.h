// The plumbing of the Kineto importer: one thread reads, decompresses and splits, the calling thread parses.
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

#include "analyzer/importers/json_splitter.h"

namespace swinscope {

// What remains when the events have been taken out.
struct KinetoDocument {
  JsonDocument json;
  std::string damage;       // why reading ended early, when it did
  std::uint64_t bytes = 0;  // of JSON, the documents before it included
  std::string member;       // of an archive
};

struct KinetoVisitor {
  // The text of every event, in order; `padding` readable bytes follow it. What it throws comes out of the stream.
  std::function<void(std::string_view)> on_event;
  // So many flow arrows (is_flow_arrow) were left out since the last time.
  std::function<void(std::int64_t)> on_arrows;
  // A document has ended; the events since the one before it were its own.
  std::function<void(const KinetoDocument&)> on_document;
  // A member of an archive that is not read.
  std::function<void(const std::string&)> on_other_member;
};

// Calls the visitor on this thread. Throws Error as ByteSource and JsonSplitter do, with the name of the file, and when
// `cancel` becomes true.
void stream_kineto(const std::filesystem::path& path, std::size_t padding, const std::atomic<bool>* cancel,
                   const KinetoVisitor& visitor);

}  // namespace swinscope
