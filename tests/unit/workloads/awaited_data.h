// Images that are waited for as long as they say.
#pragma once

#include <cstdint>
#include <span>

#include "workloads/synthetic_data.h"

namespace swinscope::test {

class AwaitedData : public SyntheticData {
 public:
  static constexpr std::int64_t kEachNs = 7;  // a batch

  using SyntheticData::load;
  using SyntheticData::SyntheticData;
  void load(std::int64_t first, std::span<float> images, const Labels& labels) override {
    waited_ns_ += kEachNs;
    SyntheticData::load(first, images, labels);
  }
  std::int64_t waited_ns() const override { return waited_ns_; }

 private:
  std::int64_t waited_ns_ = 1000;  // before the training
};

}  // namespace swinscope::test
