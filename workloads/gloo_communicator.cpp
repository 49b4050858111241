// The module libswinscope_gloo.so: see gloo_module.h.
#include <algorithm>
#include <cstring>
#include <exception>
#include <memory>

#include <gloo/allreduce.h>
#include <gloo/barrier.h>
#include <gloo/broadcast.h>
#include <gloo/math.h>
#include <gloo/rendezvous/context.h>
#include <gloo/rendezvous/file_store.h>
#include <gloo/transport/tcp/device.h>

#include "workloads/gloo_module.h"

namespace swinscope {
namespace {

class GlooTransport : public RankTransport {
 public:
  explicit GlooTransport(const GlooOptions& options) {
    gloo::transport::tcp::attr attributes;
    attributes.hostname = options.host;
    auto device = gloo::transport::tcp::CreateDevice(attributes);
    gloo::rendezvous::FileStore store(options.folder);
    context_ = std::make_shared<gloo::rendezvous::Context>(options.rank, options.size);
    context_->setTimeout(options.connect_timeout);
    context_->connectFullMesh(store, device);
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

  void abort() noexcept override {
    try {
      context_->closeConnections();
    } catch (const std::exception&) {
      // The connections were broken already, which is what was asked for.
    }
  }

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
