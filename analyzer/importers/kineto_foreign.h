// Says what a JSON file that is no PyTorch trace looks like, so that its owner knows what to do instead.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "analyzer/importers/json_splitter.h"
#include "analyzer/importers/kineto_event.h"
#include "store/error.h"

namespace swinscope {

// What the events of a document look like.
class KinetoCensus {
 public:
  void take(const KinetoEvent& event, KinetoKind kind);

  void take_arrows(std::int64_t count) { total_ += count; }

  std::int64_t total() const { return total_; }
  std::int64_t known() const { return known_; }      // with a time, of a category that PyTorch writes
  std::int64_t unknown() const { return unknown_; }  // with a time, of another one or of none
  bool is_foreign() const { return is_xla_ || is_legacy_; }
  // "a trace of JAX or TensorFlow (XLA)"; empty when nothing is recognized.
  std::string source() const;
  std::string advice() const;

 private:
  bool has(std::string_view category) const { return categories_.count(category) != 0; }
  bool is_nsys() const;
  bool is_browser() const;

  std::int64_t total_ = 0;
  std::int64_t known_ = 0;
  std::int64_t unknown_ = 0;
  std::map<std::string, std::int64_t, std::less<>> categories_;  // unknown ones
  bool is_xla_ = false;
  bool is_legacy_ = false;
  bool has_device_pids_ = false;  // "Device 0"
};

// The error for a document out of which nothing, or next to nothing, can be read.
Error refuse_foreign(const std::string& path, const JsonDocument& document, const KinetoCensus& census);

}  // namespace swinscope
