// The reader's side of what a program registered (nvtx_registry.h): follows the log of a segment.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "collector/nvtx/payload_types.h"
#include "collector/segment/registration_log.h"

namespace swinscope {

// Used by one thread. Texts are valid UTF-8.
class NvtxNames {
 public:
  explicit NvtxNames(const SegmentView& segment) : segment_(segment), log_(segment) {}

  // Reads on. A record that is being written is waited for, unless its process has ended.
  void update(bool has_ended = false);

  // A registered string; what else was registered, or nothing, has no text.
  std::string string_text(std::uint32_t id) const;

  struct Domain {
    std::uint32_t number = 0;
    std::string name;
  };
  struct Category {
    std::uint32_t domain = 0;
    std::uint32_t category = 0;
    std::string name;
    bool operator==(const Category&) const = default;
  };
  // In the order in which they came; categories as often as they changed.
  const std::vector<Domain>& domains() const { return domains_; }
  const std::vector<Category>& categories() const { return categories_; }
  const std::map<std::uint32_t, std::string>& thread_names() const { return thread_names_; }
  const PayloadTypeTable& types() const { return types_; }
  // In the order in which they came; never null.
  const std::vector<const PayloadType*>& schemas() const { return schemas_; }
  // As in /proc, and listed variables as NAME=value.
  const std::string& command_line() const { return command_line_; }
  const std::vector<std::string>& variables() const { return variables_; }

 private:
  void take(const LogHead& head, std::uint32_t id, std::string_view data);

  SegmentView segment_;
  RegistrationLog log_;
  std::size_t offset_ = 0;
  std::vector<Domain> domains_;
  std::vector<Category> categories_;
  std::map<std::uint32_t, std::string> thread_names_;
  PayloadTypeTable types_;
  std::vector<const PayloadType*> schemas_;
  std::string command_line_;
  std::vector<std::string> variables_;
};

}  // namespace swinscope
