// The module libswinscope_nccl.so: see nccl_module.h.
#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>

#include <dlfcn.h>
#include <nccl.h>

#include "workloads/nccl_module.h"

namespace swinscope {
namespace {

static_assert(sizeof(ncclUniqueId) == kNcclIdBytes);

// An abort ends once the graphs with operations of the communicator are gone. Nobody waits for it longer than this.
constexpr std::chrono::seconds kAbortPatience{5};

// "ncclAllReduce: unhandled system error (what NCCL says)"
std::string describe(const char* call, ncclResult_t result, ncclComm_t communicator) {
  std::string text = std::string(call) + ": " + ncclGetErrorString(result);
  const char* const more = ncclGetLastError(communicator);
  if (more != nullptr && *more != '\0') text += std::string(" (") + more + ")";
  std::erase(text, '\n');
  return text;
}

void check(const char* call, ncclResult_t result, ncclComm_t communicator) {
  if (result != ncclSuccess) throw std::runtime_error(describe(call, result, communicator));
}

ncclDataType_t type_of(ReduceType type) {
  switch (type) {
    case ReduceType::kFp32:
      return ncclFloat32;
    case ReduceType::kFp16:
      return ncclFloat16;
    case ReduceType::kBf16:
      return ncclBfloat16;
    case ReduceType::kFp64:
      return ncclFloat64;
    case ReduceType::kInt64:
      return ncclInt64;
  }
  throw std::runtime_error("a type that cannot be summed");
}

#if NCCL_VERSION_CODE >= NCCL_VERSION(2, 28, 0)
// NCCL's functions for copies, looked up by name: the library of a machine may be too old to have them all.
struct CopyFunctions {
  decltype(&ncclMemAlloc) allocate = find<decltype(&ncclMemAlloc)>("ncclMemAlloc");
  decltype(&ncclMemFree) release = find<decltype(&ncclMemFree)>("ncclMemFree");
  decltype(&ncclCommWindowRegister) enroll = find<decltype(&ncclCommWindowRegister)>("ncclCommWindowRegister");
  decltype(&ncclCommWindowDeregister) withdraw = find<decltype(&ncclCommWindowDeregister)>("ncclCommWindowDeregister");
  decltype(&ncclAlltoAll) all_to_all = find<decltype(&ncclAlltoAll)>("ncclAlltoAll");

  bool complete() const {
    return allocate != nullptr && release != nullptr && enroll != nullptr && withdraw != nullptr &&
           all_to_all != nullptr;
  }

 private:
  template <typename Function>
  static Function find(const char* name) {
    void* const library = dlopen("libnccl.so.2", RTLD_NOW | RTLD_NOLOAD);  // which this module is linked with
    return library == nullptr ? nullptr : reinterpret_cast<Function>(dlsym(library, name));
  }
};
#endif

// Of the thread that aborts and of the one that waits for it, whichever ends last.
struct Abort {
  std::mutex mutex;
  std::condition_variable ended;
  bool begun = false;
  bool done = false;
};

// Its calls block until the operation is enqueued: the kernel is launched, or captured, by the calling thread, within
// NCCL's own annotation of the call.
class NcclTransport : public DeviceTransport {
 public:
  explicit NcclTransport(const NcclOptions& options) {
    ncclUniqueId id;
    std::memcpy(&id, options.id.data(), sizeof(id));
    ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
    config.blocking = 1;
    if (options.most_blocks > 0) config.maxCTAs = options.most_blocks;
#if NCCL_VERSION_CODE >= NCCL_VERSION(2, 28, 0)
    if (options.copies) config.CTAPolicy = NCCL_CTA_POLICY_ZERO;
#endif
    check("ncclCommInitRankConfig", ncclCommInitRankConfig(&communicator_, options.size, id, options.rank, &config),
          nullptr);
  }

  ~NcclTransport() override {
    {
      std::unique_lock lock(abort_->mutex);
      if (abort_->begun) {
        abort_->ended.wait_for(lock, kAbortPatience, [this] { return abort_->done; });
        return;
      }
    }
    // Without effect on the results, which are there: a destructor has nobody to tell.
    (void)ncclCommDestroy(communicator_);
  }
  NcclTransport(const NcclTransport&) = delete;
  NcclTransport& operator=(const NcclTransport&) = delete;
  NcclTransport(NcclTransport&&) = delete;
  NcclTransport& operator=(NcclTransport&&) = delete;

  void all_reduce_sum(void* values, std::int64_t count, ReduceType type, cuda::Stream stream) override {
    require_alive();
    check("ncclAllReduce",
          ncclAllReduce(values, values, static_cast<std::size_t>(count), type_of(type), ncclSum, communicator_, stream),
          communicator_);
  }

  void broadcast(void* data, std::int64_t bytes, int root, cuda::Stream stream) override {
    require_alive();
    check("ncclBroadcast",
          ncclBroadcast(data, data, static_cast<std::size_t>(bytes), ncclChar, root, communicator_, stream),
          communicator_);
  }

#if NCCL_VERSION_CODE >= NCCL_VERSION(2, 28, 0)
  std::shared_ptr<void> allocate(std::int64_t bytes) override {
    require_alive();
    if (!copy_.complete()) refuse_copies("this machine's NCCL is older than 2.28");
    const auto size = static_cast<std::size_t>(bytes);
    void* data = nullptr;
    check("ncclMemAlloc", copy_.allocate(&data, size), communicator_);
    std::unique_ptr<void, decltype(copy_.release)> memory(data, copy_.release);
    ncclWindow_t window = nullptr;
    check("ncclCommWindowRegister", copy_.enroll(communicator_, data, size, &window, NCCL_WIN_COLL_SYMMETRIC),
          communicator_);
    if (window == nullptr) refuse_copies("NCCL does not map the memory of one GPU into another's here");
    const auto release = [this, window](void* taken) {
      if (is_alive()) (void)copy_.withdraw(communicator_, window);  // nobody to tell
      (void)copy_.release(taken);
    };
    return {memory.release(), release};
  }

  void all_to_all(const void* parts, void* received, std::int64_t count, ReduceType type,
                  cuda::Stream stream) override {
    require_alive();
    check("ncclAlltoAll",
          copy_.all_to_all(parts, received, static_cast<std::size_t>(count), type_of(type), communicator_, stream),
          communicator_);
  }

  void all_gather(void* parts, std::int64_t count, ReduceType type, cuda::Stream stream) override {
    require_alive();
    int rank = 0;
    check("ncclCommUserRank", ncclCommUserRank(communicator_, &rank), communicator_);
    const void* const own = static_cast<char*>(parts) + rank * count * reduce_bytes(type);
    check("ncclAllGather",
          ncclAllGather(own, parts, static_cast<std::size_t>(count), type_of(type), communicator_, stream),
          communicator_);
  }
#else
  std::shared_ptr<void> allocate(std::int64_t /*bytes*/) override {
    refuse_copies("this build was made with an NCCL older than 2.28");
  }
  void all_to_all(const void*, void*, std::int64_t, ReduceType, cuda::Stream) override {
    refuse_copies("this build was made with an NCCL older than 2.28");
  }
  void all_gather(void*, std::int64_t, ReduceType, cuda::Stream) override {
    refuse_copies("this build was made with an NCCL older than 2.28");
  }
#endif

  std::optional<std::string> trouble() noexcept override {
    try {
      const std::lock_guard lock(abort_->mutex);
      if (abort_->begun) return std::nullopt;
      ncclResult_t state = ncclSuccess;
      const ncclResult_t asked = ncclCommGetAsyncError(communicator_, &state);
      if (asked != ncclSuccess) return describe("ncclCommGetAsyncError", asked, communicator_);
      if (state == ncclSuccess || state == ncclInProgress) return std::nullopt;
      return describe("NCCL", state, communicator_);
    } catch (const std::exception&) {
      return std::nullopt;
    }
  }

  void abort() noexcept override {
    try {
      const std::lock_guard lock(abort_->mutex);
      if (abort_->begun) return;
      abort_->begun = true;
      std::thread([state = abort_, communicator = communicator_] {
        (void)ncclCommAbort(communicator);
        const std::lock_guard ended(state->mutex);
        state->done = true;
        state->ended.notify_all();
      }).detach();
    } catch (const std::exception&) {
      // No thread could be started: the watch ends the process after its grace time.
    }
  }

 private:
  bool is_alive() const {
    const std::lock_guard lock(abort_->mutex);
    return !abort_->begun;
  }
  void require_alive() const {
    if (!is_alive()) throw std::runtime_error("the connection between the GPUs has been ended");
  }
  [[noreturn]] static void refuse_copies(const char* why) {
    throw std::runtime_error(std::string("--all-reduce copies: ") + why + "; --all-reduce kernels needs none of that");
  }

  ncclComm_t communicator_ = nullptr;
#if NCCL_VERSION_CODE >= NCCL_VERSION(2, 28, 0)
  CopyFunctions copy_;
#endif
  std::shared_ptr<Abort> abort_ = std::make_shared<Abort>();
};

void write_message(const std::string& text, char* message, std::size_t capacity) {
  const std::size_t length = std::min(text.size(), capacity - 1);
  std::memcpy(message, text.data(), length);
  message[length] = '\0';
}

}  // namespace
}  // namespace swinscope

extern "C" bool swinscope_nccl_offers_copies() {
#if NCCL_VERSION_CODE >= NCCL_VERSION(2, 28, 0)
  return swinscope::CopyFunctions().complete();
#else
  return false;
#endif
}

extern "C" bool swinscope_make_nccl_id(swinscope::NcclId& id, char* message, std::size_t capacity) {
  ncclUniqueId made;
  const ncclResult_t result = ncclGetUniqueId(&made);
  if (result != ncclSuccess) {
    swinscope::write_message(swinscope::describe("ncclGetUniqueId", result, nullptr), message, capacity);
    return false;
  }
  std::memcpy(id.data(), &made, sizeof(made));
  return true;
}

extern "C" swinscope::DeviceTransport* swinscope_open_nccl(const swinscope::NcclOptions& options, char* message,
                                                           std::size_t capacity) {
  try {
    return new swinscope::NcclTransport(options);
  } catch (const std::exception& error) {
    swinscope::write_message(error.what(), message, capacity);
    return nullptr;
  }
}
