#include "kernels/matmul_tuning.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/check.h"
#include "kernels/convert.h"

namespace swinscope::cuda {
namespace {

constexpr std::int64_t kWeightPoolBytes = std::int64_t{192} << 20;
constexpr double kTimedMicroseconds = 400.0;
constexpr int kMaxTimedLaunches = 16;
constexpr int kRounds = 3;
constexpr std::int64_t kFewRows = 256;
constexpr double kEarlyLaunchMicroseconds = 1.0;

}  // namespace

void TuningData::fit(const MatmulShape& s, Stream stream) {
  const bool bytes = s.operand_bytes() == 1;
  weight_bytes_ = (s.batch * s.n * s.k * s.operand_bytes() + 255) / 256 * 256;
  grow(a_, s.batch * s.m * s.k * s.operand_bytes(), s.operand_type, bytes, stream);
  grow(weights_, std::max(weight_bytes_, kWeightPoolBytes), s.operand_type, bytes, stream);
  const bool integers = s.arithmetic == MatmulArithmetic::kInt8 && !s.scaled;
  const std::int64_t result_bytes = integers ? 4 : element_bytes(s.result_type);
  grow(y_, s.batch * s.m * s.n * result_bytes, s.result_type, false, stream);
  if (s.normalize_result) grow(stream_, s.m * s.n * result_bytes, s.result_type, false, stream);
  // Long enough for a normalization's parameters, too.
  grow(bias_, std::max(s.n, s.k) * element_bytes(s.operand_type), s.operand_type, false, stream);
  if (s.normalize_result && s.byte_result != ByteFormat::kNone) grow(bytes_, s.m * s.n, s.operand_type, true, stream);
  if (s.scaled) grow(scales_, s.n * element_bytes(ElementType::kFp32), ElementType::kFp32, false, stream);
}

MatmulOperands TuningData::operands(int launch) const {
  const std::int64_t place = launch % (weights_.buffer.bytes() / weight_bytes_);
  MatmulOperands operands{a_.buffer.data(),    static_cast<const char*>(weights_.buffer.data()) + place * weight_bytes_,
                          bias_.buffer.data(), y_.buffer.data(),
                          bias_.buffer.data(), bias_.buffer.data()};
  operands.bytes = bytes_.buffer.data();
  operands.scales = static_cast<const float*>(scales_.buffer.data());
  return operands;
}

void TuningData::grow(Operand& operand, std::int64_t bytes, ElementType type, bool single_bytes, Stream stream) {
  if (operand.buffer.bytes() >= bytes && operand.type == type && operand.single_bytes == single_bytes) return;
  const std::int64_t size = (std::max(operand.buffer.bytes(), bytes) + 3) / 4 * 4;
  operand.buffer = DeviceBuffer();  // first, so that both are never there
  operand.buffer = DeviceBuffer(size);
  operand.type = type;
  operand.single_bytes = single_bytes;
  if (single_bytes) return fill_random_bytes(size, 1, operand.buffer.data(), stream);
  fill_random(size / element_bytes(type), type, 1, operand.buffer.data(), stream);
}

std::optional<double> time_launches(const std::function<bool(int)>& launch, Stream stream) {
  if (!launch(0)) return std::nullopt;
  Event begin;
  Event end;
  begin.record(stream);
  bool accepted = launch(1);
  end.record(stream);
  const double once = std::max(1.0, 1e3 * static_cast<double>(Event::milliseconds(begin, end)));
  const int launches = std::clamp(static_cast<int>(kTimedMicroseconds / once), 2, kMaxTimedLaunches);
  Graph graph;
  graph.begin_capture(stream);
  for (int i = 0; i < launches; ++i)
    accepted = launch(i) && accepted;
  graph.end_capture(stream);
  require(accepted, "matmul", "a launch was refused that was accepted before");
  double best = std::numeric_limits<double>::infinity();
  for (int round = 0; round < kRounds; ++round) {
    begin.record(stream);
    graph.launch(stream);
    end.record(stream);
    best = std::min(best, 1e3 * static_cast<double>(Event::milliseconds(begin, end)) / launches);
  }
  return best;
}

bool takes_own_kernel(std::int64_t rows, double own_microseconds, double lt_microseconds) {
  const double head_start = rows <= kFewRows ? kEarlyLaunchMicroseconds : 0.0;
  return !std::isinf(own_microseconds) && own_microseconds <= lt_microseconds + head_start;
}

}  // namespace swinscope::cuda
