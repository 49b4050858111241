#include "collector/injected/nccl_plugin.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <initializer_list>
#include <string_view>

#include "collector/base/clock.h"
#include "collector/base/collector_settings.h"
#include "collector/base/keep_errno.h"
#include "collector/injected/loading.h"
#include "collector/injected/session.h"
#include "collector/nccl/nccl_event.h"
#include "collector/nvtx/nvtx_emitter.h"

namespace swinscope {
namespace {

constexpr std::uint64_t kWantedV4 = nccl::kPlan | nccl::kCollective | nccl::kPointToPoint | nccl::kKernelChannel;
constexpr std::uint64_t kWantedV5 =
    kWantedV4 | nccl::kCallGroup | nccl::kCollectiveCall | nccl::kPointToPointCall | nccl::kKernelLaunch;
constexpr std::uint64_t kWantedV6 = kWantedV5 | nccl::kCopyEngineCollective;

// Names are short; longer ones are cut.
constexpr std::size_t kMaxText = 256;

// Of all processes that come of this one by fork: a number is not used twice in a file.
std::atomic<std::uint64_t> last_number = 0;
std::uint64_t next_number() noexcept { return last_number.fetch_add(1, std::memory_order_relaxed) + 1; }

enum class HandleKind : std::uint8_t { kPlan = 1, kOperation, kChannel, kLaunch, kCallGroup, kCall };

// See the header. Zero, NCCL's null, is none of them.
struct Handle {
  HandleKind kind = HandleKind::kPlan;
  bool is_captured = false;
  std::uint64_t number = 0;

  static constexpr unsigned kShift = 4;
  static constexpr std::uint64_t kCaptured = 8;
  static constexpr std::uint64_t kKinds = 7;

  static Handle from(const void* handle) noexcept {
    const auto bits = reinterpret_cast<std::uintptr_t>(handle);
    return {static_cast<HandleKind>(bits & kKinds), (bits & kCaptured) != 0, bits >> kShift};
  }
  void* to_nccl() const noexcept {
    const std::uint64_t bits = number << kShift | (is_captured ? kCaptured : 0) | static_cast<std::uint64_t>(kind);
    return reinterpret_cast<void*>(static_cast<std::uintptr_t>(bits));  // NOLINT(performance-no-int-to-ptr)
  }
};

// The number of what a handle stands for when it is of this kind; 0 when it is not.
std::uint64_t number_of(const void* handle, HandleKind kind) noexcept {
  const Handle known = Handle::from(handle);
  return known.kind == kind ? known.number : 0;
}

// Texts one after the other, each with its zero.
class Texts {
 public:
  Texts(std::initializer_list<const char*> texts) noexcept {
    for (const char* text : texts)
      add(text);
  }
  std::string_view all() const { return {bytes_.data(), used_}; }

 private:
  void add(const char* text) noexcept {
    const std::size_t room = std::min(kMaxText, bytes_.size() - used_) - 1;
    const std::size_t bytes = text == nullptr ? 0 : strnlen(text, room);
    if (bytes != 0) std::memcpy(bytes_.data() + used_, text, bytes);
    used_ += bytes;
    bytes_[used_++] = '\0';
  }

  std::array<char, 4 * kMaxText> bytes_;  // no more texts than four
  std::size_t used_ = 0;
};

void emit(NcclEventKind kind, std::uint64_t number, const void* body = nullptr, std::size_t bytes = 0,
          std::string_view text = {}) noexcept {
  const KeepErrno keep;
  ThreadBuffer* buffer = session_buffer(DropKind::kNccl);
  if (buffer != nullptr)
    Emitter(*buffer, recorded_registry()).nccl(static_cast<std::uint32_t>(kind), number, body, bytes, text);
}
template <typename Body>
void emit(NcclEventKind kind, std::uint64_t number, const Body& body, std::string_view text = {}) noexcept {
  emit(kind, number, &body, sizeof(body), text);
}

bool is_wanted() noexcept {
  const KeepErrno keep;
  const bool is_recording = ensure_session();
  loading_ends();
  if (!is_recording || !can_throw()) return false;
  try {
    return CollectorSettings::from_environment().trace.nccl;
  } catch (...) {
    return false;  // no memory
  }
}

int begin_communicator(void** context, int* wanted, std::uint64_t events, const char* name,
                       const NcclCommunicator& said) noexcept {
  if (context != nullptr) *context = nullptr;
  if (wanted != nullptr) *wanted = 0;
  if (context == nullptr || wanted == nullptr || !is_wanted()) return nccl::kSuccess;
  const std::uint64_t number = next_number();
  *context = reinterpret_cast<void*>(static_cast<std::uintptr_t>(number));  // NOLINT(performance-no-int-to-ptr)
  *wanted = static_cast<int>(events);
  emit(NcclEventKind::kCommunicator, number, said, Texts({name}).all());
  return nccl::kSuccess;
}

int init_v4(void** context, int* wanted, const char* name, std::uint64_t hash, int nodes, int ranks, int rank,
            void* /*log*/) noexcept {
  return begin_communicator(context, wanted, kWantedV4, name, {hash, rank, ranks, nodes});
}
template <std::uint64_t kWanted>
int init_v5(void** context, std::uint64_t hash, int* wanted, const char* name, int nodes, int ranks, int rank,
            void* /*log*/) noexcept {
  return begin_communicator(context, wanted, kWanted, name, {hash, rank, ranks, nodes});
}

int finalize(void* context) noexcept {
  if (context != nullptr) emit(NcclEventKind::kCommunicatorEnd, reinterpret_cast<std::uintptr_t>(context));
  return nccl::kSuccess;
}

std::uint64_t communicator_of(const void* context) noexcept { return reinterpret_cast<std::uintptr_t>(context); }

// Where the operation comes from. Version 4 has the plan for a parent and knows of no calls.
void set_origin(NcclOperation& to, const nccl::DescriptorV4& event, const void* /*plan*/) noexcept {
  to.plan = number_of(event.parent, HandleKind::kPlan);
  to.is_captured = -1;
}
void set_origin(NcclOperation& to, const nccl::DescriptorV5& event, const void* plan) noexcept {
  to.plan = number_of(plan, HandleKind::kPlan);
  to.call_group = number_of(event.parent, HandleKind::kCall);
  const Handle call = Handle::from(event.parent);
  to.is_captured = call.kind != HandleKind::kCall ? -1 : static_cast<std::int32_t>(call.is_captured);
}

Handle begin_operation(const NcclOperation& operation, const Texts& texts) noexcept {
  const std::uint64_t number = next_number();
  emit(NcclEventKind::kOperation, number, operation, texts.all());
  return {HandleKind::kOperation, false, number};
}

template <typename Descriptor>
Handle begin_collective(void* context, const Descriptor& event, const nccl::CollectiveV4& said,
                        const void* plan) noexcept {
  NcclOperation operation{};
  operation.communicator = communicator_of(context);
  set_origin(operation, event, plan);
  operation.count = said.count;
  operation.sequence = static_cast<std::int64_t>(said.sequence);
  operation.peer = said.root;
  operation.channels = said.channels;
  operation.kind = NcclOperationKind::kCollective;
  return begin_operation(operation, {said.function, said.datatype, said.algorithm, said.protocol});
}

template <typename Descriptor>
Handle begin_point_to_point(void* context, const Descriptor& event, const nccl::PointToPointV4& said,
                            const void* plan) noexcept {
  NcclOperation operation{};
  operation.communicator = communicator_of(context);
  set_origin(operation, event, plan);
  operation.count = said.count;
  operation.sequence = -1;
  operation.peer = said.peer;
  operation.channels = said.channels;
  operation.kind = NcclOperationKind::kPointToPoint;
  return begin_operation(operation, {said.function, said.datatype, nullptr, nullptr});
}

Handle begin_copy_engine(void* context, const nccl::DescriptorV5& event) noexcept {
  const nccl::CopyEngineCollective& said = event.copy_engine;
  NcclOperation operation{};
  operation.communicator = communicator_of(context);
  set_origin(operation, event, nullptr);
  operation.count = said.count;
  operation.sequence = static_cast<std::int64_t>(said.sequence);
  operation.peer = said.root;
  operation.channels = -1;
  operation.kind = NcclOperationKind::kCopyEngine;
  return begin_operation(operation, {said.function, said.datatype, nullptr, nullptr});
}

Handle begin_channel(const void* operation, const nccl::KernelChannel& said) noexcept {
  const Handle handle{HandleKind::kChannel, false, next_number()};
  emit(NcclEventKind::kChannel, handle.number,
       NcclChannel{number_of(operation, HandleKind::kOperation), said.timer, said.channel});
  return handle;
}

Handle begin_launch(void* context, const nccl::DescriptorV5& event) noexcept {
  const Handle handle{HandleKind::kLaunch, false, next_number()};
  emit(NcclEventKind::kLaunch, handle.number,
       NcclLaunch{communicator_of(context), number_of(event.parent, HandleKind::kCallGroup)});
  return handle;
}

Handle call_in(const void* group, bool is_captured) noexcept {
  return {HandleKind::kCall, is_captured, number_of(group, HandleKind::kCallGroup)};
}

void* begin_event(void* context, const nccl::DescriptorV4& event) noexcept {
  switch (event.type) {
    case nccl::kPlan:
      return Handle{HandleKind::kPlan, false, next_number()}.to_nccl();
    case nccl::kCollective:
      return begin_collective(context, event, event.collective, nullptr).to_nccl();
    case nccl::kPointToPoint:
      return begin_point_to_point(context, event, event.point_to_point, nullptr).to_nccl();
    case nccl::kKernelChannel:
      return begin_channel(event.parent, event.channel).to_nccl();
    default:
      return nullptr;
  }
}

void* begin_event(void* context, const nccl::DescriptorV5& event) noexcept {
  switch (event.type) {
    case nccl::kPlan:
      return Handle{HandleKind::kPlan, false, next_number()}.to_nccl();
    case nccl::kCallGroup:
      return Handle{HandleKind::kCallGroup, event.call_group.is_captured != 0, next_number()}.to_nccl();
    case nccl::kCollectiveCall:
      return call_in(event.parent, event.collective_call.is_captured != 0).to_nccl();
    case nccl::kPointToPointCall:
      return call_in(event.parent, event.point_to_point_call.is_captured != 0).to_nccl();
    case nccl::kKernelLaunch:
      return begin_launch(context, event).to_nccl();
    case nccl::kCollective:
      return begin_collective(context, event, event.collective.collective, event.collective.plan).to_nccl();
    case nccl::kPointToPoint:
      return begin_point_to_point(context, event, event.point_to_point.point_to_point, event.point_to_point.plan)
          .to_nccl();
    case nccl::kKernelChannel:
      return begin_channel(event.parent, event.channel).to_nccl();
    case nccl::kCopyEngineCollective:
      return begin_copy_engine(context, event).to_nccl();
    default:
      return nullptr;
  }
}

template <typename Descriptor>
int start_event(void* context, void** handle, Descriptor* event) noexcept {
  if (handle == nullptr) return nccl::kSuccess;
  *handle = context == nullptr || event == nullptr ? nullptr : begin_event(context, *event);
  return nccl::kSuccess;
}

int stop_event(void* handle) noexcept {
  const Handle known = Handle::from(handle);
  if (known.kind == HandleKind::kOperation) emit(NcclEventKind::kOperationEnd, known.number);
  if (known.kind == HandleKind::kLaunch) emit(NcclEventKind::kLaunchEnd, known.number);
  return nccl::kSuccess;
}

// Of a channel this is the end; that NCCL stops the event afterwards says nothing new.
int record_state(void* handle, int state, nccl::StateArguments* arguments) noexcept {
  const Handle known = Handle::from(handle);
  if (known.kind == HandleKind::kChannel && state == nccl::kKernelChannelStop && arguments != nullptr)
    emit(NcclEventKind::kChannelEnd, known.number, arguments->timer);
  return nccl::kSuccess;
}

constexpr const char* kName = "swinscope";

}  // namespace
}  // namespace swinscope

extern "C" {

const swinscope::nccl::PluginV4 ncclProfiler_v4 = {
    swinscope::kName,       &swinscope::init_v4,      &swinscope::start_event<swinscope::nccl::DescriptorV4>,
    &swinscope::stop_event, &swinscope::record_state, &swinscope::finalize};
const swinscope::nccl::PluginV5 ncclProfiler_v5 = {swinscope::kName,
                                                   &swinscope::init_v5<swinscope::kWantedV5>,
                                                   &swinscope::start_event<swinscope::nccl::DescriptorV5>,
                                                   &swinscope::stop_event,
                                                   &swinscope::record_state,
                                                   &swinscope::finalize};
const swinscope::nccl::PluginV5 ncclProfiler_v6 = {swinscope::kName,
                                                   &swinscope::init_v5<swinscope::kWantedV6>,
                                                   &swinscope::start_event<swinscope::nccl::DescriptorV5>,
                                                   &swinscope::stop_event,
                                                   &swinscope::record_state,
                                                   &swinscope::finalize};

}  // extern "C"
