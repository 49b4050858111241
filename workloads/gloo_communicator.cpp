// The module libswinscope_gloo.so: see gloo_module.h.
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <filesystem>
#include <memory>
#include <set>
#include <system_error>
#include <vector>

#include <fcntl.h>
#include <gloo/allreduce.h>
#include <gloo/barrier.h>
#include <gloo/broadcast.h>
#include <gloo/math.h>
#include <gloo/rendezvous/context.h>
#include <gloo/rendezvous/file_store.h>
#include <gloo/transport/tcp/device.h>
#include <sys/socket.h>
#include <unistd.h>

#include "workloads/gloo_module.h"

namespace swinscope {
namespace {

namespace fs = std::filesystem;

// Connected TCP sockets of this process.
std::set<int> connections() {
  std::set<int> found;
  std::error_code none;
  for (const fs::directory_entry& entry : fs::directory_iterator("/proc/self/fd", none)) {
    const int descriptor = std::atoi(entry.path().filename().c_str());
    sockaddr_storage peer{};
    socklen_t size = sizeof(peer);
    if (getpeername(descriptor, reinterpret_cast<sockaddr*>(&peer), &size) == 0 &&
        (peer.ss_family == AF_INET || peer.ss_family == AF_INET6))
      found.insert(descriptor);
  }
  return found;
}

// Whoever waits for a rank in Gloo is not woken by closing the own end, only by the end of the connection: it is shut
// down. By descriptors of our own, which Gloo does not close, so that none of them is another file meanwhile.
class Connections {
 public:
  explicit Connections(const std::set<int>& others) {
    for (const int descriptor : connections()) {
      const int own = others.contains(descriptor) ? -1 : fcntl(descriptor, F_DUPFD_CLOEXEC, 0);
      if (own >= 0) descriptors_.push_back(own);
    }
  }
  Connections(const Connections&) = delete;
  Connections& operator=(const Connections&) = delete;
  Connections(Connections&&) = delete;
  Connections& operator=(Connections&&) = delete;
  ~Connections() {
    for (const int descriptor : descriptors_)
      close(descriptor);
  }

  void shut_down() noexcept {
    for (const int descriptor : descriptors_)
      shutdown(descriptor, SHUT_RDWR);  // fails where it is over already
  }

 private:
  std::vector<int> descriptors_;
};

class GlooTransport : public RankTransport {
 public:
  explicit GlooTransport(const GlooOptions& options) {
    gloo::transport::tcp::attr attributes;
    attributes.hostname = options.host;
    auto device = gloo::transport::tcp::CreateDevice(attributes);
    gloo::rendezvous::FileStore store(options.folder);
    context_ = std::make_shared<gloo::rendezvous::Context>(options.rank, options.size);
    context_->setTimeout(options.connect_timeout);
    const std::set<int> others = connections();
    context_->connectFullMesh(store, device);
    connections_ = std::make_unique<Connections>(others);
    context_->setTimeout(options.operation_timeout);
  }

  void all_reduce_sum(float* values, std::size_t count) override { reduce(values, count); }
  void all_reduce_sum(double* values, std::size_t count) override { reduce(values, count); }

  void broadcast(void* bytes, std::size_t count, int root) override {
    gloo::BroadcastOptions options(context_);
    options.setOutput(static_cast<char*>(bytes), count);
    options.setRoot(root);
    gloo::broadcast(options);
  }

  void barrier() override {
    gloo::BarrierOptions options(context_);
    gloo::barrier(options);
  }

  void abort() noexcept override { connections_->shut_down(); }

 private:
  template <typename T>
  void reduce(T* values, std::size_t count) {
    if (count == 0) return;
    gloo::AllreduceOptions options(context_);
    options.setOutput(values, count);
    // As a function pointer type of the options: Gloo adds b to a into c.
    options.setReduceFunction([](void* c, const void* a, const void* b, std::size_t n) { gloo::sum<T>(c, a, b, n); });
    gloo::allreduce(options);
  }

  std::shared_ptr<gloo::rendezvous::Context> context_;
  std::unique_ptr<Connections> connections_;
};

}  // namespace
}  // namespace swinscope

extern "C" swinscope::RankTransport* swinscope_open_gloo(const swinscope::GlooOptions& options, char* message,
                                                         std::size_t capacity) {
  try {
    return new swinscope::GlooTransport(options);
  } catch (const std::exception& error) {
    const std::size_t length = std::min(std::strlen(error.what()), capacity - 1);
    std::memcpy(message, error.what(), length);
    message[length] = '\0';
    return nullptr;
  }
}
