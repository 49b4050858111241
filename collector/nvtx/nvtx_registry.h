// What programs register with NVTX once and refer to in every event: domains, strings, categories, thread names,
// payload types. It lies in the segment, where the reader finds it; a forked child takes it along, since it keeps using
// the handles that its parent got.
#pragma once

#include <cstdint>
#include <string_view>

#include "collector/nvtx/payload_types.h"
#include "collector/segment/registration_log.h"

struct nvtxPayloadSchemaAttr_v1;
struct nvtxPayloadEnumAttr_v1;

namespace swinscope {

// All functions may be called from any thread. Nothing takes a lock; only payload types allocate. What finds no room is
// counted (DropKind::kName) and goes on without its name.
class NvtxRegistry {
 public:
  // Programs make a handful. The per-thread state of all domains has its place from the start; domains beyond the limit
  // share the last one.
  static constexpr std::uint32_t kMaxDomains = swinscope::kMaxDomains;
  static constexpr std::string_view kOverflowDomain = "(further domains)";

  NvtxRegistry() = default;
  explicit NvtxRegistry(const SegmentView& segment) : segment_(segment), log_(segment) {}
  // A forked child's new segment: what was registered in the one before goes with it.
  void move_to(const SegmentView& segment);

  // Equal names are one domain, whichever client library of the process registers them. 0 is the default domain.
  std::uint32_t add_domain(std::string_view name);
  std::uint32_t add_domain(const wchar_t* name);
  bool has_domain(std::uint32_t domain) const {
    return domain == 0 ||
           (domain < kMaxDomains && segment_.header().domains[domain].load(std::memory_order_relaxed) != 0);
  }

  // Ids are never 0, and the same for equal strings unless there are very many. 0: no room.
  std::uint32_t add_string(std::string_view text);
  std::uint32_t add_string(const wchar_t* text);
  // Empty when there is no such string.
  std::string_view string_text(std::uint32_t id) const;

  void name_category(std::uint32_t domain, std::uint32_t category, std::string_view name);
  void name_category(std::uint32_t domain, std::uint32_t category, const wchar_t* name);
  void name_thread(std::uint32_t tid, std::string_view name);
  void name_thread(std::uint32_t tid, const wchar_t* name);

  // The id of the type; 0 when the attributes are unusable. Throws std::bad_alloc.
  std::uint64_t add_schema(std::uint32_t domain, const nvtxPayloadSchemaAttr_v1& attributes);
  std::uint64_t add_enum(std::uint32_t domain, const nvtxPayloadEnumAttr_v1& attributes);
  const PayloadTypeTable& types() const { return types_; }

 private:
  std::uint64_t add_type(PayloadType type, bool has_id);
  std::uint32_t find_domain(std::string_view name, std::uint32_t& first_free) const;
  void count_loss(std::uint32_t id) const;

  SegmentView segment_;
  RegistrationLog log_;
  PayloadTypeTable types_;
  std::atomic<std::uint64_t> types_added_ = 0;
};

}  // namespace swinscope
