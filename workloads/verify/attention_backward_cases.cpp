// The backward pass of window attention against the CPU's in fp64.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "kernels/window_attention.h"
#include "workloads/verify/device_tensor.h"
#include "workloads/verify/gradient_check.h"
#include "workloads/verify/kernel_cases.h"

namespace swinscope {
namespace {

constexpr auto kFloat = ElementType::kFp32;
constexpr auto kDot = AttentionScore::kScaledDot;
constexpr auto kCosine = AttentionScore::kCosine;

struct BackwardCase {
  std::int64_t batch;
  Extent2 map;
  Extent2 window;
  Extent2 shift;
  std::int64_t heads;
  std::int64_t head_dim;
  AttentionScore score;
  bool accumulate = false;
  double logit_scale = 2.0;  // natural logarithm; clamped at ln 100
};

// Every geometry of the models, odd ones, and what only the general path takes.
const std::vector<BackwardCase>& cases() {
  static const std::vector<BackwardCase> all = {
      {1, {7, 7}, {7, 7}, {0, 0}, 1, 32, kDot},
      {2, {14, 14}, {7, 7}, {0, 0}, 4, 32, kDot},
      {2, {14, 14}, {7, 7}, {3, 3}, 4, 32, kDot, true},
      {3, {28, 14}, {7, 7}, {3, 3}, 6, 32, kDot},
      {5, {7, 7}, {7, 7}, {0, 0}, 5, 32, kDot},
      {2, {10, 9}, {7, 7}, {3, 3}, 3, 32, kDot},         // padded
      {1, {20, 15}, {7, 7}, {3, 3}, 2, 32, kDot, true},  // padded
      {2, {8, 8}, {4, 4}, {2, 2}, 2, 32, kDot},
      {1, {9, 12}, {3, 4}, {1, 2}, 1, 32, kDot},
      {2, {16, 16}, {8, 8}, {4, 4}, 4, 32, kDot},
      {2, {16, 16}, {8, 8}, {0, 0}, 4, 32, kCosine},
      {3, {16, 16}, {8, 8}, {4, 4}, 4, 32, kCosine, true},
      {2, {16, 16}, {8, 8}, {4, 4}, 4, 32, kCosine, false, 4.0},
      {2, {16, 16}, {8, 8}, {4, 4}, 4, 32, kCosine, true, 8.0},
      {3, {21, 14}, {7, 7}, {3, 3}, 5, 32, kCosine},
      {2, {16, 16}, {4, 4}, {2, 2}, 2, 16, kDot},
      {2, {16, 16}, {4, 4}, {2, 2}, 4, 16, kCosine},
      {1, {24, 24}, {12, 12}, {6, 6}, 3, 32, kDot},
      {1, {32, 16}, {16, 16}, {8, 0}, 2, 32, kCosine},
      {1, {24, 24}, {24, 24}, {0, 0}, 1, 32, kCosine},
      {1, {20, 20}, {12, 12}, {6, 6}, 2, 32, kDot},  // padded
  };
  return all;
}

std::string describe(const BackwardCase& c, const WindowAttentionShape& shape, ElementType type) {
  return fmt::format("attention backward{}, {}{} x {} map, {} x {} windows, shift {}, {} heads{}{}",
                     cuda::attention_on_tensor_cores(shape, type) ? "" : " (general)",
                     c.score == kCosine ? "cosine, " : "", c.map.height, c.map.width, c.window.height, c.window.width,
                     c.shift.height, c.heads, c.logit_scale > 3.0 ? fmt::format(", scale e^{}", c.logit_scale) : "",
                     c.accumulate ? ", accumulate" : "");
}

// The gradients of an attention with all parameters in one tensor: table, logit scale, padding.
class Problem {
 public:
  Problem(const BackwardCase& c, ElementType element_type)
      : shape{{c.batch, c.map, c.window, c.shift}, c.heads, c.head_dim, c.score},
        type(element_type),
        table_count(bias_table_rows(c.window) * c.heads),
        channels(shape.channels()),
        qkv(make.normal(shape.grid.tokens() * 3 * channels, type)),
        table(make.normal(table_count, kFloat)),
        logit_scale(make.uniform(c.heads, kFloat, c.logit_scale - 0.5, c.logit_scale + 0.5)),
        pad(make.normal(3 * channels, type)),
        dout(make.normal(shape.grid.tokens() * channels, type)),
        lse(make.output(shape.grid.tokens() * c.heads, kFloat)),
        dqkv(make.output(shape.grid.tokens() * 3 * channels, type)),
        dparameters(make.output(table_count + c.heads + 3 * channels, kFloat)),
        bias(cuda::attention_bias_bytes(shape, type)) {
    before = make.normal(table_count + c.heads + 3 * channels, kFloat).values;
    cuda::expand_attention_bias(shape, type, floats(table), bias.data(), make.stream());
  }

  static float* floats(const DeviceTensor& tensor) { return static_cast<float*>(tensor.buffer.data()); }

  void forward(cuda::TokenOrder order, const void* rows, void* out) {
    cuda::WindowAttentionTensors tensors;
    tensors.qkv = rows;
    tensors.bias = bias.data();
    tensors.logit_scale = floats(logit_scale);
    tensors.pad_qkv = pad.data();
    tensors.out = out;
    tensors.lse = floats(lse);
    cuda::window_attention_forward(shape, type, order, tensors, make.stream());
  }

  void backward(cuda::TokenOrder order, bool accumulate, void* workspace) {
    if (accumulate) make.write(dparameters, before);
    cuda::WindowAttentionGradientTensors tensors;
    tensors.qkv = qkv.data();
    tensors.bias = bias.data();
    tensors.logit_scale = floats(logit_scale);
    tensors.pad_qkv = pad.data();
    tensors.lse = floats(lse);
    tensors.dout = dout.data();
    tensors.dqkv = dqkv.buffer.data();
    tensors.dtable = floats(dparameters);
    tensors.dlogit_scale = floats(dparameters) + table_count;
    tensors.dpad_qkv = floats(dparameters) + table_count + shape.heads;
    tensors.accumulate = accumulate;
    tensors.workspace = workspace;
    cuda::window_attention_backward(shape, type, order, tensors, make.stream());
  }

  // [from, from + count) of the parameters' gradients.
  std::vector<double> part(const std::vector<double>& of, std::int64_t from, std::int64_t count) const {
    return {of.begin() + from, of.begin() + from + count};
  }

  TensorFactory make{61};
  WindowAttentionShape shape;
  ElementType type;
  std::int64_t table_count;
  std::int64_t channels;
  DeviceTensor qkv, table, logit_scale, pad, dout, lse, dqkv, dparameters;
  cuda::DeviceBuffer bias;
  std::vector<double> before;
};

// Expected gradients by the CPU in fp64.
struct Expected {
  explicit Expected(const Problem& p, bool accumulate)
      : dqkv(p.qkv.values.size()), parameters(accumulate ? p.before : std::vector<double>(p.before.size())) {
    const WindowAttentionInputs<double> inputs{p.qkv.values.data(), p.table.values.data(), p.logit_scale.values.data(),
                                               p.pad.values.data()};
    std::vector<double> out(p.dout.values.size());
    std::vector<double> lse(static_cast<std::size_t>(p.shape.grid.tokens() * p.shape.heads));
    std::vector<double> workspace(static_cast<std::size_t>(cpu::window_attention_backward_workspace(p.shape)));
    cpu::window_attention_forward<double>(p.shape, inputs, out.data(), lse.data());
    WindowAttentionGradients<double> gradients;
    gradients.qkv = dqkv.data();
    gradients.bias_table = parameters.data();
    gradients.logit_scale = parameters.data() + p.table_count;
    gradients.pad_qkv = parameters.data() + p.table_count + p.shape.heads;
    cpu::window_attention_backward<double>(p.shape, inputs, lse.data(), p.dout.values.data(), gradients,
                                           workspace.data());
  }
  std::vector<double> dqkv, parameters;
};

// One third of each token's row.
std::vector<double> third(const std::vector<double>& rows, std::int64_t channels, std::int64_t which) {
  std::vector<double> result;
  for (auto row = rows.begin(); row != rows.end(); row += 3 * channels)
    result.insert(result.end(), row + which * channels, row + (which + 1) * channels);
  return result;
}

void check_one(const BackwardCase& c, ElementType type, const VerifyReport& report) {
  Problem p(c, type);
  const auto order = cuda::TokenOrder::kImage;
  const DeviceTensor out = p.make.output(p.shape.grid.tokens() * p.channels, type);
  p.forward(order, p.qkv.data(), out.buffer.data());
  const cuda::DeviceBuffer workspace(cuda::attention_backward_workspace_bytes(p.shape, type, order));
  GradientCheck check(report, p.make, describe(c, p.shape, type), type);
  check.run_twice({&p.dqkv, &p.dparameters}, [&] { p.backward(order, c.accumulate, workspace.data()); });

  const Expected expected(p, c.accumulate);
  const std::vector<double> dqkv = p.make.download(p.dqkv);
  // Scores of up to 100 are exact to 1e-7 of that in fp32, which the exponential turns into the same error.
  const double tolerance = by_type(type, c.logit_scale > 3.0 ? 1e-4 : 2e-5, 1.5e-3, 1e-2);
  for (std::int64_t i = 0; i < 3; ++i) {
    check.error(i == 0 ? "dq" : (i == 1 ? "dk" : "dv"),
                relative_error(third(dqkv, p.channels, i), third(expected.dqkv, p.channels, i)), tolerance);
  }
  const std::vector<double> parameters = p.make.download(p.dparameters);
  const auto compare = [&](const char* name, std::int64_t from, std::int64_t count, double allowed) {
    check.error(name, relative_error(p.part(parameters, from, count), p.part(expected.parameters, from, count)),
                allowed);
  };
  const double sums = by_type(type, c.logit_scale > 3.0 ? 1e-4 : 2e-5, 5e-4, 4e-3);
  compare("dtable", 0, p.table_count, sums);
  // A sum over everything that mostly cancels.
  if (c.score == kCosine)
    compare("dlogit_scale", p.table_count, p.shape.heads, by_type(type, c.logit_scale > 3.0 ? 5e-4 : 1e-4, 1e-3, 4e-3));
  if (p.shape.grid.padded()) {
    compare("dpad", p.table_count + p.shape.heads, 3 * p.channels, by_type(type, 1e-4, 1.5e-3, 1e-2));
  }
}

}  // namespace

void check_attention_backward(const VerifyReport& report) {
  for (const BackwardCase& c : cases()) {
    for (const ElementType type : {ElementType::kFp32, ElementType::kFp16, ElementType::kBf16})
      check_one(c, type, report);
  }
}

}  // namespace swinscope
