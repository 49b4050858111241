// NVTX_NO_IMPL: types and numbers only; we are behind the API, not a user of it.
#include "collector/injected/nvtx_callbacks.h"

#include <array>
#include <cstdint>
#include <string_view>

#include "collector/injected/session.h"
#include "collector/nvtx/nvtx_emitter.h"

namespace swinscope {
namespace {

constexpr std::uint32_t kDefaultDomain = 0;

EventDetails details_of_text(const char* text) {
  EventDetails details;
  details.text = text;
  return details;
}
EventDetails details_of_text(const wchar_t* text) {
  EventDetails details;
  details.wide_text = text;
  return details;
}
EventDetails details_of_payloads(const nvtxPayloadData_t* payloads, std::size_t count) {
  EventDetails details;
  details.payloads = payloads;
  details.payload_count = count;
  return details;
}

// Runs an action on the thread's lane; the result without one is `none`.
template <typename Result, typename Action>
Result emit(ThreadBuffer* buffer, Result none, Action action) noexcept {
  if (buffer == nullptr) return none;
  Emitter emitter(*buffer, recorded_registry());
  return action(emitter);
}

void emit_mark(std::uint32_t domain, const EventDetails& details) noexcept {
  emit(session_buffer(DropKind::kMark), 0, [&](Emitter& emitter) { return emitter.mark(domain, details), 0; });
}
// A window is open before the range that opens it begins, and closes when it has ended: opening and closing take time.
int emit_push(std::uint32_t domain, const EventDetails& details) noexcept {
  ThreadBuffer* buffer = session_buffer(DropKind::kRange);
  if (buffer != nullptr && session_watches_ranges()) {
    const int level =
        emit(buffer, NVTX_NO_PUSH_POP_TRACKING, [&](Emitter& emitter) { return emitter.next_level(domain); });
    if (level >= 0) session_range_begins(domain, level, details);
  }
  return emit(buffer, NVTX_NO_PUSH_POP_TRACKING, [&](Emitter& emitter) { return emitter.push(domain, details); });
}
nvtxRangeId_t emit_start(std::uint32_t domain, const EventDetails& details) noexcept {
  return emit(session_buffer(DropKind::kRange), nvtxRangeId_t{0},
              [&](Emitter& emitter) { return emitter.start(domain, details, session_generation()); });
}
int emit_pop(std::uint32_t domain, const nvtxPayloadData_t* payloads, std::size_t count) noexcept {
  const int level = emit(session_buffer(), NVTX_NO_PUSH_POP_TRACKING,
                         [&](Emitter& emitter) { return emitter.pop(domain, payloads, count); });
  if (level >= 0 && session_watches_ranges()) session_range_popped(domain, level);
  return level;
}
void emit_end(std::uint32_t domain, nvtxRangeId_t id, const nvtxPayloadData_t* payloads, std::size_t count) noexcept {
  emit(session_buffer(), 0, [&](Emitter& emitter) { return emitter.end(domain, id, payloads, count), 0; });
}

// Runs an action on what is registered.
template <typename Result, typename Action>
Result with_registry(Result none, Action action) noexcept {
  NvtxRegistry* registry = session_registry();
  return registry == nullptr ? none : action(*registry);
}

// The same for payload types, which allocate. A program that is out of memory goes on without.
template <typename Action>
std::uint64_t with_memory(Action action) noexcept {
  NvtxRegistry* registry = session_registry();
  if (registry == nullptr) return 0;
  try {
    if (can_throw()) return action(*registry);
  } catch (...) {
  }
  session_drop(DropKind::kName);
  return 0;
}

std::string_view text_of(const char* text) { return text == nullptr ? std::string_view() : std::string_view(text); }
const wchar_t* text_of(const wchar_t* text) { return text; }

void mark_ex(const nvtxEventAttributes_t* attributes) { emit_mark(kDefaultDomain, details_of(attributes)); }
void mark_a(const char* text) { emit_mark(kDefaultDomain, details_of_text(text)); }
void mark_w(const wchar_t* text) { emit_mark(kDefaultDomain, details_of_text(text)); }
nvtxRangeId_t range_start_ex(const nvtxEventAttributes_t* attributes) {
  return emit_start(kDefaultDomain, details_of(attributes));
}
nvtxRangeId_t range_start_a(const char* text) { return emit_start(kDefaultDomain, details_of_text(text)); }
nvtxRangeId_t range_start_w(const wchar_t* text) { return emit_start(kDefaultDomain, details_of_text(text)); }
void range_end(nvtxRangeId_t id) { emit_end(kDefaultDomain, id, nullptr, 0); }
int range_push_ex(const nvtxEventAttributes_t* attributes) { return emit_push(kDefaultDomain, details_of(attributes)); }
int range_push_a(const char* text) { return emit_push(kDefaultDomain, details_of_text(text)); }
int range_push_w(const wchar_t* text) { return emit_push(kDefaultDomain, details_of_text(text)); }
int range_pop() { return emit_pop(kDefaultDomain, nullptr, 0); }

template <typename Char>
void name_category(std::uint32_t domain, std::uint32_t category, const Char* name) {
  with_registry(0, [&](NvtxRegistry& registry) { return registry.name_category(domain, category, text_of(name)), 0; });
}
template <typename Char>
void name_thread(std::uint32_t tid, const Char* name) {
  with_registry(0, [&](NvtxRegistry& registry) { return registry.name_thread(tid, text_of(name)), 0; });
}
void name_category_a(std::uint32_t category, const char* name) { name_category(kDefaultDomain, category, name); }
void name_category_w(std::uint32_t category, const wchar_t* name) { name_category(kDefaultDomain, category, name); }
void name_os_thread_a(std::uint32_t tid, const char* name) { name_thread(tid, name); }
void name_os_thread_w(std::uint32_t tid, const wchar_t* name) { name_thread(tid, name); }

void domain_mark_ex(nvtxDomainHandle_t domain, const nvtxEventAttributes_t* attributes) {
  emit_mark(number_of(domain), details_of(attributes));
}
nvtxRangeId_t domain_range_start_ex(nvtxDomainHandle_t domain, const nvtxEventAttributes_t* attributes) {
  return emit_start(number_of(domain), details_of(attributes));
}
void domain_range_end(nvtxDomainHandle_t domain, nvtxRangeId_t id) { emit_end(number_of(domain), id, nullptr, 0); }
int domain_range_push_ex(nvtxDomainHandle_t domain, const nvtxEventAttributes_t* attributes) {
  return emit_push(number_of(domain), details_of(attributes));
}
int domain_range_pop(nvtxDomainHandle_t domain) { return emit_pop(number_of(domain), nullptr, 0); }

// A resource is an object with a name; threads are the ones that a trace has rows for.
nvtxResourceHandle_t domain_resource_create(nvtxDomainHandle_t, nvtxResourceAttributes_t* attributes) {
  if (attributes == nullptr || attributes->identifierType != NVTX_RESOURCE_TYPE_GENERIC_THREAD_NATIVE) return nullptr;
  const auto tid = static_cast<std::uint32_t>(attributes->identifier.ullValue);
  if (attributes->messageType == NVTX_MESSAGE_TYPE_ASCII) name_thread(tid, attributes->message.ascii);
  if (attributes->messageType == NVTX_MESSAGE_TYPE_UNICODE) name_thread(tid, attributes->message.unicode);
  if (attributes->messageType == NVTX_MESSAGE_TYPE_REGISTERED) {
    with_registry(0, [&](NvtxRegistry& registry) {
      return registry.name_thread(tid, registry.string_text(number_of(attributes->message.registered))), 0;
    });
  }
  return nullptr;
}

void domain_name_category_a(nvtxDomainHandle_t domain, std::uint32_t category, const char* name) {
  name_category(number_of(domain), category, name);
}
void domain_name_category_w(nvtxDomainHandle_t domain, std::uint32_t category, const wchar_t* name) {
  name_category(number_of(domain), category, name);
}

template <typename Char>
nvtxStringHandle_t register_string(const Char* text) {
  return with_registry(nvtxStringHandle_t{}, [&](NvtxRegistry& registry) {
    return handle_of<nvtxStringHandle_t>(registry.add_string(text_of(text)));
  });
}
nvtxStringHandle_t domain_register_string_a(nvtxDomainHandle_t, const char* text) { return register_string(text); }
nvtxStringHandle_t domain_register_string_w(nvtxDomainHandle_t, const wchar_t* text) { return register_string(text); }

template <typename Char>
nvtxDomainHandle_t create_domain(const Char* name) {
  return with_registry(nvtxDomainHandle_t{}, [&](NvtxRegistry& registry) {
    return handle_of<nvtxDomainHandle_t>(registry.add_domain(text_of(name)));
  });
}
nvtxDomainHandle_t domain_create_a(const char* name) { return create_domain(name); }
nvtxDomainHandle_t domain_create_w(const wchar_t* name) { return create_domain(name); }

std::uint64_t payload_schema_register(nvtxDomainHandle_t domain, const nvtxPayloadSchemaAttr_t* attributes) {
  if (attributes == nullptr) return 0;
  return with_memory([&](NvtxRegistry& registry) { return registry.add_schema(number_of(domain), *attributes); });
}
std::uint64_t payload_enum_register(nvtxDomainHandle_t domain, const nvtxPayloadEnumAttr_t* attributes) {
  if (attributes == nullptr) return 0;
  return with_memory([&](NvtxRegistry& registry) { return registry.add_enum(number_of(domain), *attributes); });
}
void mark_payload(nvtxDomainHandle_t domain, const nvtxPayloadData_t* payloads, std::size_t count) {
  emit_mark(number_of(domain), details_of_payloads(payloads, count));
}
int range_push_payload(nvtxDomainHandle_t domain, const nvtxPayloadData_t* payloads, std::size_t count) {
  return emit_push(number_of(domain), details_of_payloads(payloads, count));
}
int range_pop_payload(nvtxDomainHandle_t domain, const nvtxPayloadData_t* payloads, std::size_t count) {
  return emit_pop(number_of(domain), payloads, count);
}
nvtxRangeId_t range_start_payload(nvtxDomainHandle_t domain, const nvtxPayloadData_t* payloads, std::size_t count) {
  return emit_start(number_of(domain), details_of_payloads(payloads, count));
}
void range_end_payload(nvtxDomainHandle_t domain, nvtxRangeId_t id, const nvtxPayloadData_t* payloads,
                       std::size_t count) {
  emit_end(number_of(domain), id, payloads, count);
}
// Events with times of other clocks need the program's clock definitions: counted, so that nobody misses them unawares.
void event_submit(nvtxDomainHandle_t, const nvtxPayloadData_t*, std::size_t) { session_drop(DropKind::kUnsupported); }
void event_batch_submit(nvtxDomainHandle_t, const nvtxEventBatch_t*) { session_drop(DropKind::kUnsupported); }

// One function of a table, as the untyped pointer that NVTX's tables have.
struct Hook {
  unsigned int id;
  NvtxFunctionPointer function;
};
template <typename Function>
Hook hook(unsigned int id, Function* function) {
  return {id, reinterpret_cast<NvtxFunctionPointer>(function)};
}

template <std::size_t N>
bool fill_table(const NvtxExportTableCallbacks& callbacks, NvtxCallbackModule module,
                const std::array<Hook, N>& hooks) {
  NvtxFunctionTable table = nullptr;
  unsigned int size = 0;
  if (callbacks.GetModuleFunctionTable(module, &table, &size) == 0 || table == nullptr) return false;
  for (const Hook& entry : hooks) {
    if (entry.id < size && table[entry.id] != nullptr) *table[entry.id] = entry.function;
  }
  return true;
}

}  // namespace

bool hook_nvtx(NvtxGetExportTableFunc_t get_export_table) noexcept {
  const std::array core = {
      hook(NVTX_CBID_CORE_MarkEx, &mark_ex),
      hook(NVTX_CBID_CORE_MarkA, &mark_a),
      hook(NVTX_CBID_CORE_MarkW, &mark_w),
      hook(NVTX_CBID_CORE_RangeStartEx, &range_start_ex),
      hook(NVTX_CBID_CORE_RangeStartA, &range_start_a),
      hook(NVTX_CBID_CORE_RangeStartW, &range_start_w),
      hook(NVTX_CBID_CORE_RangeEnd, &range_end),
      hook(NVTX_CBID_CORE_RangePushEx, &range_push_ex),
      hook(NVTX_CBID_CORE_RangePushA, &range_push_a),
      hook(NVTX_CBID_CORE_RangePushW, &range_push_w),
      hook(NVTX_CBID_CORE_RangePop, &range_pop),
      hook(NVTX_CBID_CORE_NameCategoryA, &name_category_a),
      hook(NVTX_CBID_CORE_NameCategoryW, &name_category_w),
      hook(NVTX_CBID_CORE_NameOsThreadA, &name_os_thread_a),
      hook(NVTX_CBID_CORE_NameOsThreadW, &name_os_thread_w),
  };
  const std::array core2 = {
      hook(NVTX_CBID_CORE2_DomainMarkEx, &domain_mark_ex),
      hook(NVTX_CBID_CORE2_DomainRangeStartEx, &domain_range_start_ex),
      hook(NVTX_CBID_CORE2_DomainRangeEnd, &domain_range_end),
      hook(NVTX_CBID_CORE2_DomainRangePushEx, &domain_range_push_ex),
      hook(NVTX_CBID_CORE2_DomainRangePop, &domain_range_pop),
      hook(NVTX_CBID_CORE2_DomainResourceCreate, &domain_resource_create),
      hook(NVTX_CBID_CORE2_DomainNameCategoryA, &domain_name_category_a),
      hook(NVTX_CBID_CORE2_DomainNameCategoryW, &domain_name_category_w),
      hook(NVTX_CBID_CORE2_DomainRegisterStringA, &domain_register_string_a),
      hook(NVTX_CBID_CORE2_DomainRegisterStringW, &domain_register_string_w),
      hook(NVTX_CBID_CORE2_DomainCreateA, &domain_create_a),
      hook(NVTX_CBID_CORE2_DomainCreateW, &domain_create_w),
  };
  const auto* callbacks = static_cast<const NvtxExportTableCallbacks*>(get_export_table(NVTX_ETID_CALLBACKS));
  if (callbacks == nullptr || callbacks->struct_size < sizeof(NvtxExportTableCallbacks)) return false;
  // Clients older than domains have the first table only.
  fill_table(*callbacks, NVTX_CB_MODULE_CORE2, core2);
  return fill_table(*callbacks, NVTX_CB_MODULE_CORE, core);
}

bool hook_nvtx_extension(nvtxExtModuleInfo_t& module) noexcept {
  if (module.moduleId != NVTX_EXT_PAYLOAD_MODULEID || module.segmentsCount == 0) return false;
  const std::array hooks = {
      hook(NVTX3EXT_CBID_nvtxPayloadSchemaRegister, &payload_schema_register),
      hook(NVTX3EXT_CBID_nvtxPayloadEnumRegister, &payload_enum_register),
      hook(NVTX3EXT_CBID_nvtxMarkPayload, &mark_payload),
      hook(NVTX3EXT_CBID_nvtxRangePushPayload, &range_push_payload),
      hook(NVTX3EXT_CBID_nvtxRangePopPayload, &range_pop_payload),
      hook(NVTX3EXT_CBID_nvtxRangeStartPayload, &range_start_payload),
      hook(NVTX3EXT_CBID_nvtxRangeEndPayload, &range_end_payload),
      hook(NVTX3EXT_CBID_nvtxEventSubmit, &event_submit),
      hook(NVTX3EXT_CBID_nvtxEventBatchSubmit, &event_batch_submit),
  };
  nvtxExtModuleSegment_t& segment = module.segments[0];
  for (const Hook& entry : hooks) {
    if (entry.id < segment.slotCount) segment.functionSlots[entry.id] = reinterpret_cast<std::intptr_t>(entry.function);
  }
  return true;
}

}  // namespace swinscope
