// Stochastic depth (Huang et al. 2016, arXiv 1603.09382): in training each residual branch of each sample is dropped
// with a probability that rises linearly from 0 at the first block to the given rate at the last one, and the kept ones
// are scaled by 1 / (1 - p). Drawn from counters, so that a sample's draw does not depend on which rank or batch it is
// in.
#pragma once

#include <cstdint>
#include <vector>

namespace swinscope {

// Of a block, of that many, where the last one is dropped at the given rate.
constexpr double drop_probability(double rate, int block, int blocks) {
  return blocks > 1 ? rate * block / (blocks - 1) : rate;
}

template <typename T>
class StochasticDepth {
 public:
  // `rate` in [0, 1); throws std::invalid_argument otherwise. `blocks`: of the whole model.
  StochasticDepth(double rate, int blocks, std::int64_t batch, std::uint64_t seed);

  // Draws all scales of a step. `first_sample`: global number of the batch's first image within the step.
  void draw(std::int64_t step, std::int64_t first_sample);

  // [batch] scales of one of a block's two branches; null where nothing is ever dropped. `block` counts through the
  // model.
  const T* scale(int block, int branch) const;

 private:
  double probability(int block) const { return drop_probability(rate_, block, blocks_); }

  double rate_;
  int blocks_;
  std::int64_t batch_;
  std::uint64_t seed_;
  std::vector<T> scales_;  // [blocks, 2, batch]; empty when the rate is 0
};

}  // namespace swinscope
