#include "collector/cupti/cupti_api.h"

#include <array>
#include <cstdlib>
#include <string_view>
#include <utility>
#include <vector>

#include <dlfcn.h>
#include <fmt/format.h>
#include <link.h>

#include "collector/cupti/cuda_driver.h"

namespace swinscope {
namespace {

using cupti::Result;

constexpr std::array<const char*, 3> kNames = {"libcupti.so.13", "libcupti.so.12", "libcupti.so"};

// CUPTI's functions by their names. Those that older versions lack may be null.
struct Functions {
  Result (*cuptiGetVersion)(std::uint32_t*) = nullptr;
  Result (*cuptiSubscribe)(cupti::Subscriber*, cupti::Callback, void*) = nullptr;
  Result (*cuptiSubscribe_v2)(cupti::Subscriber*, cupti::Callback, void*, cupti::SubscriberParameters*) = nullptr;
  Result (*cuptiEnableCallback)(std::uint32_t, cupti::Subscriber, std::uint32_t, std::uint32_t) = nullptr;
  Result (*cuptiGetCallbackName)(std::uint32_t, std::uint32_t, const char**) = nullptr;
  Result (*cuptiActivityRegisterCallbacks)(cupti::BufferRequested, cupti::BufferCompleted) = nullptr;
  Result (*cuptiActivityRegisterTimestampCallback)(cupti::Timestamp) = nullptr;
  Result (*cuptiSetThreadIdType)(int) = nullptr;
  Result (*cuptiActivitySetAttribute)(int, std::size_t*, void*) = nullptr;
  Result (*cuptiActivityEnable)(cupti::Kind) = nullptr;
  Result (*cuptiActivityDisable)(cupti::Kind) = nullptr;
  Result (*cuptiActivityEnableRuntimeApi)(std::uint32_t, std::uint8_t) = nullptr;
  Result (*cuptiActivityEnableDriverApi)(std::uint32_t, std::uint8_t) = nullptr;
  Result (*cuptiActivityEnableAllSyncRecords)(std::uint8_t) = nullptr;
  Result (*cuptiActivityFlushAll)(std::uint32_t) = nullptr;
  Result (*cuptiActivityGetNextRecord)(std::uint8_t*, std::size_t, cupti::Record**) = nullptr;
  Result (*cuptiActivityGetNumDroppedRecords)(void*, std::uint32_t, std::size_t*) = nullptr;
  Result (*cuptiGetGraphNodeId)(void*, std::uint64_t*) = nullptr;
  Result (*cuptiGetResultString)(Result, const char**) = nullptr;
};

class Library : public CuptiApi {
 public:
  // Returns the name of a function that is missing, or null.
  const char* load(void* library) {
    const char* missing = nullptr;
    const auto find = [&](auto& function, const char* name, bool is_required = true) {
      function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(library, name));
      if (function == nullptr && is_required) missing = name;
    };
    find(f_.cuptiGetVersion, "cuptiGetVersion");
    find(f_.cuptiSubscribe, "cuptiSubscribe");
    find(f_.cuptiSubscribe_v2, "cuptiSubscribe_v2", false);
    find(f_.cuptiEnableCallback, "cuptiEnableCallback");
    find(f_.cuptiGetCallbackName, "cuptiGetCallbackName");
    find(f_.cuptiActivityRegisterCallbacks, "cuptiActivityRegisterCallbacks");
    find(f_.cuptiActivityRegisterTimestampCallback, "cuptiActivityRegisterTimestampCallback");
    find(f_.cuptiSetThreadIdType, "cuptiSetThreadIdType");
    find(f_.cuptiActivitySetAttribute, "cuptiActivitySetAttribute");
    find(f_.cuptiActivityEnable, "cuptiActivityEnable");
    find(f_.cuptiActivityDisable, "cuptiActivityDisable");
    find(f_.cuptiActivityEnableRuntimeApi, "cuptiActivityEnableRuntimeApi");
    find(f_.cuptiActivityEnableDriverApi, "cuptiActivityEnableDriverApi");
    find(f_.cuptiActivityEnableAllSyncRecords, "cuptiActivityEnableAllSyncRecords", false);
    find(f_.cuptiActivityFlushAll, "cuptiActivityFlushAll");
    find(f_.cuptiActivityGetNextRecord, "cuptiActivityGetNextRecord");
    find(f_.cuptiActivityGetNumDroppedRecords, "cuptiActivityGetNumDroppedRecords");
    find(f_.cuptiGetGraphNodeId, "cuptiGetGraphNodeId");
    find(f_.cuptiGetResultString, "cuptiGetResultString");
    return missing;
  }

  std::uint32_t version() override {
    std::uint32_t version = 0;
    f_.cuptiGetVersion(&version);
    return version;
  }
  Result subscribe(cupti::Callback callback, void* user_data, std::string& holder) override {
    if (f_.cuptiSubscribe_v2 == nullptr) return f_.cuptiSubscribe(&subscriber_, callback, user_data);
    std::array<char, cupti::kSubscriberNameBytes> old_name{};
    cupti::SubscriberParameters parameters{sizeof(parameters), "swinscope", old_name.data(), old_name.size()};
    const Result result = f_.cuptiSubscribe_v2(&subscriber_, callback, user_data, &parameters);
    old_name.back() = '\0';
    holder = old_name.data();
    return result;
  }
  Result enable_callback(std::uint32_t domain, std::uint32_t callback, bool enable) override {
    return f_.cuptiEnableCallback(enable ? 1 : 0, subscriber_, domain, callback);
  }
  Result register_buffers(cupti::BufferRequested requested, cupti::BufferCompleted completed) override {
    return f_.cuptiActivityRegisterCallbacks(requested, completed);
  }
  Result register_clock(cupti::Timestamp clock) override { return f_.cuptiActivityRegisterTimestampCallback(clock); }
  Result use_system_thread_ids() override { return f_.cuptiSetThreadIdType(cupti::kSystemThreadIds); }
  Result set_attribute(int attribute, std::size_t bytes, void* value) override {
    return f_.cuptiActivitySetAttribute(attribute, &bytes, value);
  }
  Result enable(cupti::Kind kind, bool enable) override {
    return enable ? f_.cuptiActivityEnable(kind) : f_.cuptiActivityDisable(kind);
  }
  Result enable_call(std::uint32_t domain, std::uint32_t callback, bool enable) override {
    const auto function =
        domain == cupti::kDriverDomain ? f_.cuptiActivityEnableDriverApi : f_.cuptiActivityEnableRuntimeApi;
    return function(callback, enable ? 1 : 0);
  }
  void leave_out_queries() override {
    if (f_.cuptiActivityEnableAllSyncRecords != nullptr) f_.cuptiActivityEnableAllSyncRecords(0);
  }
  Result flush(std::uint32_t flag) override { return f_.cuptiActivityFlushAll(flag); }
  const cupti::Record* next_record(std::uint8_t* buffer, std::size_t valid_bytes,
                                   const cupti::Record* previous) override {
    auto* record = const_cast<cupti::Record*>(previous);
    return f_.cuptiActivityGetNextRecord(buffer, valid_bytes, &record) == cupti::kSuccess ? record : nullptr;
  }
  std::size_t dropped_records() override {
    std::size_t dropped = 0;
    return f_.cuptiActivityGetNumDroppedRecords(nullptr, 0, &dropped) == cupti::kSuccess ? dropped : 0;
  }
  const char* callback_name(std::uint32_t domain, std::uint32_t callback) override {
    const char* name = nullptr;
    return f_.cuptiGetCallbackName(domain, callback, &name) == cupti::kSuccess ? name : nullptr;
  }
  std::uint64_t node_id(void* node) override {
    std::uint64_t id = 0;
    return f_.cuptiGetGraphNodeId(node, &id) == cupti::kSuccess ? id : 0;
  }
  std::string error_text(Result result) override {
    const char* text = nullptr;
    f_.cuptiGetResultString(result, &text);
    return text == nullptr ? fmt::format("CUPTI error {}", result) : text;
  }
  std::vector<GpuInfo> devices() override { return driver_devices(); }
  void wait_for_gpu() override { wait_for_context(); }

 private:
  Functions f_;
  cupti::Subscriber subscriber_ = nullptr;
};

std::string path_of(void* library) {
  link_map* map = nullptr;
  return dlinfo(library, RTLD_DI_LINKMAP, &map) == 0 && map != nullptr ? map->l_name : "";
}

std::vector<std::string> candidates() {
  std::vector<std::string> paths;
  const auto variable = [](const char* name) {
    const char* value = std::getenv(name);
    return std::string(value == nullptr ? "" : value);
  };
  if (const std::string given = variable("SWINSCOPE_CUPTI"); !given.empty()) paths.push_back(given);
  for (const char* name : kNames)
    paths.emplace_back(name);
  for (const std::string& root : {variable("CUDA_HOME"), variable("CUDA_PATH"), std::string("/usr/local/cuda")}) {
    if (root.empty()) continue;
    for (const char* folder : {"/extras/CUPTI/lib64/", "/lib64/", "/targets/x86_64-linux/lib/", "/lib/"}) {
      for (const char* name : kNames)
        paths.push_back(root + folder + name);
    }
  }
  return paths;
}

}  // namespace

std::string cupti_version_text(std::uint32_t version) {
  constexpr std::uint32_t kNewScheme = 100'000;
  if (version < kNewScheme) return fmt::format("API {}", version);
  return fmt::format("{}.{}", version / 10'000, version / 100 % 100);
}

OpenedCupti open_cupti() {
  OpenedCupti opened;
  void* library = nullptr;
  for (const char* name : kNames) {
    if (library == nullptr) library = dlopen(name, RTLD_NOW | RTLD_NOLOAD);
  }
  for (const std::string& path : candidates()) {
    if (library == nullptr) library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  }
  if (library == nullptr) {
    opened.problem = "no libcupti was found; set SWINSCOPE_CUPTI to the path of libcupti.so.13 or libcupti.so.12";
    return opened;
  }
  opened.path = path_of(library);
  auto api = std::make_unique<Library>();
  if (const char* missing = api->load(library)) {
    opened.problem = fmt::format("{} has no {}: it is too old; CUDA 12.4 or newer is needed", opened.path, missing);
    return opened;
  }
  if (const std::uint32_t version = api->version(); !is_supported_cupti(version)) {
    opened.problem = fmt::format("{} is version {}; supported are those of CUDA 12.4 to 13", opened.path,
                                 cupti_version_text(version));
    return opened;
  }
  opened.api = std::move(api);
  return opened;
}

}  // namespace swinscope
