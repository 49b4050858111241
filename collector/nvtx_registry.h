// What programs register with NVTX once and refer to in every event: domains, strings, categories, thread names,
// payload types. It outlives a recording: a forked child keeps using the handles that its parent got.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "collector/payload_types.h"
#include "store/string_pool.h"

struct nvtxPayloadSchemaAttr_v1;
struct nvtxPayloadEnumAttr_v1;

namespace swinscope {

// All functions may be called from any thread. Those that register take a lock and allocate; what events need does
// neither.
class NvtxRegistry {
 public:
  // Programs make a handful. The per-thread state of all domains has its place from the start; domains beyond the limit
  // share the last one.
  static constexpr std::uint32_t kMaxDomains = 256;
  static constexpr std::string_view kOverflowDomain = "(further domains)";

  NvtxRegistry();

  // Equal names are one domain, whichever client library of the process registers them. 0 is the default domain.
  std::uint32_t add_domain(std::string_view name);
  std::uint32_t domain_count() const { return domain_count_.load(std::memory_order_acquire); }

  // Index from 1, the same for equal strings.
  std::uint32_t add_string(std::string_view text);
  std::uint32_t string_count() const { return string_count_.load(std::memory_order_acquire); }

  void name_category(std::uint32_t domain, std::uint32_t category, std::string_view name);
  void name_thread(std::uint32_t tid, std::string_view name);

  // The id of the type; 0 when the attributes are unusable.
  std::uint64_t add_schema(std::uint32_t domain, const nvtxPayloadSchemaAttr_v1& attributes);
  std::uint64_t add_enum(std::uint32_t domain, const nvtxPayloadEnumAttr_v1& attributes);
  const PayloadTypeTable& types() const { return types_; }

  // For the writer: what was registered from number `first` on.
  std::vector<std::string> domains_from(std::uint32_t first) const;
  std::string string_text(std::uint32_t index) const;
  struct Category {
    std::uint32_t domain = 0;
    std::uint32_t category = 0;
    std::string name;
  };
  std::vector<Category> categories_from(std::size_t first) const;
  std::map<std::uint32_t, std::string> thread_names() const;

  // Held over a fork, so that the child finds the registry whole and unlocked.
  void lock_for_fork() { mutex_.lock(); }
  void unlock_after_fork() { mutex_.unlock(); }

 private:
  std::uint64_t add_type(PayloadType type, bool has_id);

  mutable std::mutex mutex_;
  StringPool domains_;  // the id of a domain is that of its name
  StringPool strings_;
  std::vector<Category> categories_;
  std::map<std::uint32_t, std::string> thread_names_;
  PayloadTypeTable types_;
  std::uint64_t next_type_;
  std::atomic<std::uint32_t> domain_count_ = 1;
  std::atomic<std::uint32_t> string_count_ = 1;
};

}  // namespace swinscope
