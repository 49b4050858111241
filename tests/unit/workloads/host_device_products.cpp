// host_device.h: products and what updates the parameters.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <map>
#include <stdexcept>

#include "kernels/adamw.h"
#include "kernels/gemm.h"
#include "kernels/matmul.h"
#include "kernels/multi_tensor_adamw.h"
#include "tests/unit/workloads/host_device_memory.h"

namespace swinscope::cuda {
namespace {

class HostMatmul : public Matmul {
 public:
  explicit HostMatmul(const MatmulShape& shape) : shape_(shape) {}
  void run(const MatmulOperands& operands, Stream stream) const override {
    const auto work = [=, shape = shape_] {
      for (std::int64_t i = 0; i < shape.batch; ++i) {
        const auto place = [&](const void* from, std::int64_t elements, ElementType type) {
          return static_cast<const char*>(from) + i * elements * element_bytes(type);
        };
        void* const y = static_cast<char*>(operands.y) + i * shape.m * shape.n * element_bytes(shape.result_type);
        MatmulOperands one = operands;
        one.a = place(operands.a, shape.m * shape.k, shape.operand_type);
        one.b = place(operands.b, shape.k * shape.n, shape.operand_type);
        one.y = y;
        multiply(shape, one);
      }
    };
    test::launch(stream, work, describe(shape_));
  }

 private:
  static const char* name_of(ByteFormat format) { return format == ByteFormat::kInt8 ? "int8" : "e4m3"; }
  static std::string describe(const MatmulShape& s) {
    std::string text = "product";
    for (const std::int64_t extent : {s.m, s.n, s.k})
      text += " " + std::to_string(extent);
    if (s.batch > 1) text += " of " + std::to_string(s.batch);
    if (s.transpose_a) text += " ta";
    if (!s.transpose_b) text += " nb";
    if (s.epilogue == Epilogue::kBias) text += " +bias";
    if (s.epilogue == Epilogue::kBiasGelu) text += " +bias+gelu";
    if (s.accumulate) text += " +y";
    if (s.normalize_result) text += " normalized";
    if (s.result_type != s.operand_type) text += " to fp32";
    if (s.scaled) text += std::string(" in ") + name_of(s.operand_format());
    if (s.byte_result != ByteFormat::kNone)
      text += (s.normalize_result ? " and " : " to ") + std::string(name_of(s.byte_result));
    if (s.spare_multiprocessors > 0) text += " sparing " + std::to_string(s.spare_multiprocessors);
    return text;
  }
  static void normalize(const MatmulShape& shape, const MatmulOperands& operands, std::vector<float>& y) {
    y = test::normalized({shape.m, shape.n}, y, test::load(shape.operand_type, operands.gamma, shape.n),
                         test::load(shape.operand_type, operands.beta, shape.n));
    if (!shape.accumulate) return;
    const std::vector<float> before = test::load(shape.result_type, operands.y, shape.m * shape.n);
    std::ranges::transform(y, before, y.begin(), std::plus<>());
  }
  static void multiply(const MatmulShape& shape, const MatmulOperands& operands) {
    const auto operand = [&](const void* from, std::int64_t count) {
      return shape.scaled ? test::load_bytes(shape.operand_format(), from, count)
                          : test::load(shape.operand_type, from, count);
    };
    const std::vector<float> a = operand(operands.a, shape.m * shape.k);
    const std::vector<float> b = operand(operands.b, shape.k * shape.n);
    std::vector<float> y(static_cast<std::size_t>(shape.m * shape.n));
    const bool adds = shape.accumulate && !shape.normalize_result && !shape.scaled;
    if (adds) y = test::load(shape.result_type, operands.y, shape.m * shape.n);
    GemmShape product{.m = shape.m, .n = shape.n, .k = shape.k};
    if (shape.transpose_a) product.transpose_a = Transpose::kYes;
    if (shape.transpose_b) product.transpose_b = Transpose::kYes;
    cpu::gemm<float>(product, 1.0F, a.data(), b.data(), adds ? 1.0F : 0.0F, y.data());
    for (std::size_t i = 0; shape.scaled && i < y.size(); ++i)
      y[i] *= operands.scales[i % static_cast<std::size_t>(shape.n)];
    if (shape.epilogue != Epilogue::kNone) {
      const std::vector<float> bias = test::load(shape.operand_type, operands.bias, shape.n);
      for (std::size_t i = 0; i < y.size(); ++i)
        y[i] += bias[i % bias.size()];
    }
    if (shape.epilogue == Epilogue::kBiasGelu) test::gelu_tanh(y);
    if (shape.scaled && shape.accumulate && !shape.normalize_result)
      std::ranges::transform(y, test::load(shape.result_type, operands.y, shape.m * shape.n), y.begin(), std::plus<>());
    const ByteFormat bytes = shape.byte_result;
    if (bytes != ByteFormat::kNone && !shape.normalize_result)
      return test::store_bytes(bytes, y, operands.result_scale, operands.y);
    if (shape.normalize_result) normalize(shape, operands, y);
    test::store(shape.result_type, y, operands.y);
    if (bytes != ByteFormat::kNone)
      test::store_bytes(bytes, test::load(shape.result_type, operands.y, shape.m * shape.n), operands.result_scale,
                        operands.bytes);
  }

  MatmulShape shape_;
};

}  // namespace

struct MatmulLibrary::State {
  std::map<MatmulShape, HostMatmul> matmuls;
  std::string preferred;
};

MatmulLibrary::MatmulLibrary(const std::filesystem::path& /*cache_folder*/, const std::string& /*purpose*/)
    : state_(std::make_unique<State>()) {}
MatmulLibrary::~MatmulLibrary() = default;
const Matmul& MatmulLibrary::prepare(const MatmulShape& shape, Stream /*stream*/) {
  return state_->matmuls.try_emplace(shape, shape).first->second;
}
// What the GPU would decide by time goes one way here: a kernel that normalizes is taken where it is asked for.
const Matmul* MatmulLibrary::prepare_result_normalized(const MatmulShape& shape, Stream stream) {
  MatmulShape normalized = shape;
  normalized.normalize_result = true;
  return &prepare(normalized, stream);
}
std::vector<MatmulChoice> MatmulLibrary::open_choices() const { return {}; }
void MatmulLibrary::use(const MatmulChoice& /*choice*/, int /*way*/) {}
MatmulStatistics MatmulLibrary::statistics() const { return {static_cast<int>(state_->matmuls.size()), 0, 0}; }
std::string MatmulLibrary::choices() const { return "host\n" + std::to_string(state_->matmuls.size()); }
void MatmulLibrary::prefer(const std::string& choices) { state_->preferred = choices; }
void MatmulLibrary::finish_tuning() {}

// Keeps the spans where the device keeps its table.
MultiTensorAdamW::MultiTensorAdamW(std::span<const AdamWSpan> spans, const AdamWSettings& settings, Stream /*stream*/)
    : settings_(settings),
      chunks_(static_cast<std::int64_t>(spans.size())),
      table_(static_cast<std::int64_t>(spans.size_bytes())) {
  std::memcpy(table_.data(), spans.data(), spans.size_bytes());
  for (const AdamWSpan& span : spans) {
    if (span.offset % 8 != 0) throw std::invalid_argument("MultiTensorAdamW: offsets");
  }
}

void MultiTensorAdamW::step(const AdamWBuffers& buffers, OptimizerState* state, Stream stream) const {
  const std::span spans(static_cast<const AdamWSpan*>(table_.data()), static_cast<std::size_t>(chunks_));
  test::launch(stream, [=, settings = settings_] {
    std::vector<AdamWTensor<float>> tensors;
    std::vector<GradientTensor<float>> gradients;
    std::int64_t end = 0;
    for (const AdamWSpan& span : spans)
      end = std::max(end, span.offset + span.count);
    const std::vector<float> exact = test::load(buffers.gradient_type, buffers.gradients, end);
    const float* const flat = exact.data();
    for (const AdamWSpan& span : spans) {
      tensors.push_back({buffers.parameters + span.offset, flat + span.offset, buffers.first_moment + span.offset,
                         buffers.second_moment + span.offset, span.count, span.weight_decay});
      gradients.push_back({flat + span.offset, span.count});
    }
    const double norm = cpu::gradient_norm<float>(gradients) / static_cast<double>(state->loss_scale);
    state->gradient_norm = norm;
    if (!std::isfinite(norm)) {
      ++state->skipped;
      state->good_steps = 0;
      if (settings.growth_interval > 0) state->loss_scale *= 0.5F;
      return;
    }
    AdamWOptions options;
    options.learning_rate = state->learning_rate;
    options.beta1 = settings.beta1;
    options.beta2 = settings.beta2;
    options.epsilon = settings.epsilon;
    options.step = ++state->updates;
    options.gradient_scale = (settings.clip_norm > 0.0 ? clip_factor(norm, settings.clip_norm) : 1.0) /
                             static_cast<double>(state->loss_scale);
    cpu::adamw_step<float>(options, tensors);
    ++state->good_steps;
    if (settings.growth_interval > 0 && state->good_steps >= settings.growth_interval) {
      state->loss_scale = std::min(2.0F * state->loss_scale, settings.largest_scale);
      state->good_steps = 0;
    }
    if (buffers.copies == nullptr) return;
    for (const AdamWSpan& span : spans) {
      const std::vector<float> values(buffers.parameters + span.offset, buffers.parameters + span.offset + span.count);
      test::store(buffers.copy_type, values,
                  static_cast<char*>(buffers.copies) + span.offset * element_bytes(buffers.copy_type));
    }
  });
}

}  // namespace swinscope::cuda
