// A step of one thread, call by call: each launch takes 2 and the next one follows 2 later, a kernel starts 5 after its
// launch began or 1 after the one before it on its stream, and a wait returns 5 after all kernels have ended.
#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "tests/unit/analyzer/hand_trace.h"

namespace swinscope::test {

inline constexpr std::string_view kGemm = "ampere_sgemm_128x64_tn";
inline constexpr std::string_view kAdd = "vectorized_elementwise_kernel";
inline constexpr std::string_view kNorm = "layer_norm_kernel";
inline constexpr std::string_view kSoftmax = "softmax_warp_forward";
inline constexpr std::string_view kCat = "CatArrayBatchedCopy";

class HandStep {
 public:
  explicit HandStep(HandRank& rank, std::int64_t begin = 0) : rank_(rank), begin_(begin), now_(begin) {}

  // The kernel belongs to an operation where `payload` is one: its own keys, without those that say so.
  HandStep& kernel(std::string_view name, std::int64_t duration, const Stream& on = {}, std::string_view payload = {},
                   std::int32_t threads = 0) {
    const std::int64_t length = std::exchange(launch_length_, kLaunchLength);
    const auto before = end_of_.find(on.stream);
    const std::int64_t start = std::max(now_ + length + 3, before == end_of_.end() ? 0 : before->second + 1);
    end_of_[on.stream] = start + duration;
    rank_.kernel(name, rank_.call("cudaLaunchKernel", now_, now_ + length), start, start + duration, on, 0, threads);
    if (!payload.empty()) {
      rank_.own_range(path_, now_, now_ + length + 1,
                      R"({"$schema": "swinscope.operation/1", )" + std::string(payload) + "}");
    }
    now_ += length + 2;
    return *this;
  }
  // Of the next kernel alone.
  HandStep& launch_takes(std::int64_t length) {
    launch_length_ = length;
    return *this;
  }
  // Memory is set to a value, on the first stream.
  HandStep& set(std::int64_t duration) {
    const std::int64_t start = std::max(now_ + 5, end_of_[0] + 1);
    end_of_[0] = start + duration;
    rank_.set(rank_.call("cudaMemsetAsync", now_, now_ + 2), start, start + duration);
    now_ += 4;
    return *this;
  }
  // The kernel of an operator of PyTorch with these inputs.
  HandStep& kernel_of(std::string_view torch_operator, std::string_view json, std::string_view name,
                      std::int64_t duration) {
    rank_.torch_operator(torch_operator, now_, now_ + 3, json);
    return kernel(name, duration);
  }
  // Of the operations that follow.
  HandStep& at(std::string_view path) {
    path_ = path;
    return *this;
  }
  HandStep& phase(std::string_view name) {
    end_phase();
    phase_ = name;
    phase_begin_ = now_;
    return *this;
  }
  // The host does something else.
  HandStep& pause(std::int64_t length) {
    now_ += length;
    return *this;
  }
  HandStep& wait() {
    std::int64_t end = now_ + 5;
    for (const auto& [stream, kernel_end] : end_of_)
      end = std::max(end, kernel_end + 5);
    rank_.call("cudaDeviceSynchronize", now_, end);
    now_ = end + 2;
    return *this;
  }
  // Returns when it ends.
  std::int64_t end() {
    end_phase();
    rank_.step(begin_, now_);
    return now_;
  }

 private:
  void end_phase() {
    if (!phase_.empty()) rank_.own_range(phase_, phase_begin_, now_);
    phase_.clear();
  }

  HandRank& rank_;
  std::int64_t begin_;
  std::int64_t now_;
  static constexpr std::int64_t kLaunchLength = 2;
  std::int64_t launch_length_ = kLaunchLength;
  std::map<std::uint32_t, std::int64_t> end_of_;  // by stream
  std::string path_ = "operation";
  std::string phase_;
  std::int64_t phase_begin_ = 0;
};

// A trace of one step that ends with a wait. What `record` costs is known, and is taken away: this is another recorder.
inline Trace trace_of_step(const std::function<void(HandStep&)>& step, std::string_view source = "another recorder") {
  HandTrace hand;
  HandRank& rank = hand.add_rank();
  rank.run.source = source;
  HandStep made(rank);
  step(made);
  made.wait().end();
  return hand.build();
}

// A trace of one step on a GPU of that compute capability.
inline Trace trace_on_gpu(int compute_major, const std::function<void(HandStep&)>& step) {
  HandTrace hand;
  HandRank& rank = hand.add_rank();
  GpuInfo gpu;
  gpu.name = "Test GPU";
  gpu.compute_major = compute_major;
  rank.run.gpus = {gpu};
  HandStep made(rank);
  step(made);
  made.end();
  return hand.build();
}

}  // namespace swinscope::test
