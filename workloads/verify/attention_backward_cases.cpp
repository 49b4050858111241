// The backward pass of window attention against the CPU's in fp64.
#include <algorithm>
#include <cmath>
#include <functional>

#include <fmt/format.h>

#include "kernels/window_attention.h"
#include "workloads/verify/device_tensor.h"
#include "workloads/verify/gradient_check.h"
#include "workloads/verify/kernel_cases.h"
#include "workloads/verify/step_attention.h"

namespace swinscope {
namespace {

constexpr auto kFloat = ElementType::kFp32;
constexpr auto kDot = AttentionScore::kScaledDot;
constexpr auto kCosine = AttentionScore::kCosine;
constexpr auto kImage = cuda::TokenOrder::kImage;
constexpr auto kWindows = cuda::TokenOrder::kWindow;

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
  bool zero_keys = false;    // of padding, as V2's, which has no key bias
};

// Every geometry of the models, and odd ones.
const std::vector<BackwardCase>& cases() {
  static const std::vector<BackwardCase> all = {
      {1, {7, 7}, {7, 7}, {0, 0}, 1, 32, kDot},
      {2, {14, 14}, {7, 7}, {0, 0}, 4, 32, kDot},
      {2, {14, 14}, {7, 7}, {3, 3}, 4, 32, kDot, true},
      {3, {28, 14}, {7, 7}, {3, 3}, 6, 32, kDot},
      {5, {7, 7}, {7, 7}, {0, 0}, 5, 32, kDot},
      {2, {10, 9}, {7, 7}, {3, 3}, 3, 32, kDot},                         // padded
      {2, {12, 11}, {8, 8}, {4, 4}, 3, 32, kCosine, false, 2.0, false},  // padded
      {2, {12, 11}, {8, 8}, {4, 4}, 3, 32, kCosine, true, 2.0, true},
      {2, {6, 7}, {4, 4}, {2, 2}, 2, 16, kCosine, false, 2.0, true},
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
  };
  return all;
}

// What only the general path takes, whatever the type.
const std::vector<BackwardCase>& wide_cases() {
  static const std::vector<BackwardCase> all = {
      {1, {24, 24}, {12, 12}, {6, 6}, 3, 32, kDot},
      {1, {32, 16}, {16, 16}, {8, 0}, 2, 32, kCosine},
      {1, {24, 24}, {24, 24}, {0, 0}, 1, 32, kCosine},
      {1, {20, 20}, {12, 12}, {6, 6}, 2, 32, kDot},  // padded
  };
  return all;
}

std::string describe(const BackwardCase& c, cuda::TokenOrder order) {
  return fmt::format(
      "{}{} x {} map, {} x {} windows, shift {}, {} heads{}{}{}", c.score == kCosine ? "cosine, " : "", c.map.height,
      c.map.width, c.window.height, c.window.width, c.shift.height, c.heads,
      c.logit_scale > 3.0 ? fmt::format(", scale e^{}", c.logit_scale) : (c.zero_keys ? ", zero keys" : ""),
      order == kWindows ? ", cut" : "", c.accumulate ? ", accumulate" : "");
}

// Rows of the map [tokens, columns] as the windows' rows; padding has `pad`, or zeros.
std::vector<double> cut(const WindowGrid& grid, std::int64_t columns, const std::vector<double>& map,
                        const std::vector<double>& pad = {}) {
  std::vector<double> rows(static_cast<std::size_t>(grid.window_count() * grid.window_tokens() * columns));
  for (std::int64_t row = 0; row < grid.window_count() * grid.window_tokens(); ++row) {
    const std::int64_t token = window_token(grid, row / grid.window_tokens(), row % grid.window_tokens());
    if (token != kPaddedToken) {
      std::copy_n(map.begin() + token * columns, columns, rows.begin() + row * columns);
    } else {
      std::ranges::copy(pad, rows.begin() + row * columns);
    }
  }
  return rows;
}

// Back; `pad` gets the sum over padding.
std::vector<double> joined(const WindowGrid& grid, std::int64_t columns, const std::vector<double>& rows,
                           std::vector<double>& pad) {
  std::vector<double> map(static_cast<std::size_t>(grid.tokens() * columns), std::nan(""));
  pad.assign(static_cast<std::size_t>(columns), 0.0);
  for (std::int64_t row = 0; row < grid.window_count() * grid.window_tokens(); ++row) {
    const std::int64_t token = window_token(grid, row / grid.window_tokens(), row % grid.window_tokens());
    const auto from = rows.begin() + row * columns;
    if (token != kPaddedToken) {
      std::copy_n(from, columns, map.begin() + token * columns);
    } else {
      std::transform(from, from + columns, pad.begin(), pad.begin(), std::plus<>());
    }
  }
  return map;
}

// The gradients of an attention with all parameters in one tensor: table, logit scale, qkv bias.
class Problem {
 public:
  Problem(const BackwardCase& c, ElementType element_type, cuda::TokenOrder token_order)
      : order(token_order),
        shape{{c.batch, c.map, c.window, c.shift}, c.heads, c.head_dim, c.score},
        type(element_type),
        table_count(bias_table_rows(c.window) * c.heads),
        channels(shape.channels()),
        qkv(make.normal(shape.grid.tokens() * 3 * channels, type)),
        table(make.normal(table_count, kFloat)),
        logit_scale(make.uniform(c.heads, kFloat, c.logit_scale - 0.5, c.logit_scale + 0.5)),
        pad(padding(c)),
        dout(make.normal(shape.grid.tokens() * channels, type)),
        qkv_rows(rows(qkv, 3 * channels, pad.values)),
        dout_rows(rows(dout, channels, {})),
        lse(make.output(row_count() * c.heads, kFloat)),
        dqkv(make.output(row_count() * 3 * channels, type)),
        dparameters(make.output(table_count + c.heads + 3 * channels, kFloat)),
        bias(cuda::attention_bias_bytes(shape, type)) {
    before = make.normal(table_count + c.heads + 3 * channels, kFloat).values;
    cuda::expand_attention_bias(shape, type, floats(table), bias.data(), make.stream());
  }

  static float* floats(const DeviceTensor& tensor) { return static_cast<float*>(tensor.buffer.data()); }

  DeviceTensor padding(const BackwardCase& c) {
    std::vector<double> values = make.normal(3 * channels, type).values;
    if (c.zero_keys) std::fill_n(values.begin() + channels, channels, 0.0);
    return make.upload(values, type);
  }

  std::int64_t row_count() const {
    return order == kImage ? shape.grid.tokens() : shape.grid.window_count() * shape.grid.window_tokens();
  }

  // A map in the order of the problem.
  DeviceTensor rows(const DeviceTensor& map, std::int64_t columns, const std::vector<double>& padding) {
    return make.upload(order == kImage ? map.values : cut(shape.grid, columns, map.values, padding), type);
  }

  cuda::WindowAttentionTensors inputs(const DeviceTensor& out) const {
    cuda::WindowAttentionTensors tensors;
    tensors.qkv = qkv_rows.data();
    tensors.bias = bias.data();
    tensors.logit_scale = floats(logit_scale);
    tensors.pad_qkv = pad.data();
    tensors.out = out.buffer.data();
    tensors.lse = floats(lse);
    return tensors;
  }

  cuda::WindowAttentionGradientTensors gradients(bool accumulate, void* workspace) {
    if (accumulate) make.write(dparameters, before);
    cuda::WindowAttentionGradientTensors tensors;
    tensors.qkv = qkv_rows.data();
    tensors.bias = bias.data();
    tensors.logit_scale = floats(logit_scale);
    tensors.pad_qkv = pad.data();
    tensors.lse = floats(lse);
    tensors.dout = dout_rows.data();
    tensors.dqkv = dqkv.buffer.data();
    tensors.dtable = floats(dparameters);
    tensors.dlogit_scale = floats(dparameters) + table_count;
    tensors.dqkv_bias = floats(dparameters) + table_count + shape.heads;
    tensors.accumulate = accumulate;
    tensors.workspace = workspace;
    return tensors;
  }

  // [from, from + count) of the parameters' gradients.
  std::vector<double> part(const std::vector<double>& of, std::int64_t from, std::int64_t count) const {
    return {of.begin() + from, of.begin() + from + count};
  }

  TensorFactory make{61};
  cuda::TokenOrder order;
  WindowAttentionShape shape;
  ElementType type;
  std::int64_t table_count;
  std::int64_t channels;
  DeviceTensor qkv, table, logit_scale, pad, dout;  // of the map
  DeviceTensor qkv_rows, dout_rows, lse, dqkv;      // in the order of the problem
  DeviceTensor dparameters;
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

void compare(const BackwardCase& c, Problem& p, GradientCheck& check) {
  Expected expected(p, c.accumulate);
  if (c.zero_keys) {  // the CPU's gradient, of order 1e12, is of no use
    for (std::int64_t i = p.table_count + p.shape.heads + p.channels;
         i < p.table_count + p.shape.heads + 2 * p.channels; ++i)
      expected.parameters[static_cast<std::size_t>(i)] = c.accumulate ? p.before[static_cast<std::size_t>(i)] : 0.0;
  }
  std::vector<double> dqkv = p.make.download(p.dqkv);
  std::vector<double> dpad;
  if (p.order == kWindows) dqkv = joined(p.shape.grid, 3 * p.channels, dqkv, dpad);
  const ElementType type = p.type;
  // Scores of up to 100 are exact to 1e-7 of that in fp32, which the exponential turns into the same error.
  const double tolerance = by_type(type, c.logit_scale > 3.0 ? 1e-4 : 2e-5, 1.5e-3, 1e-2);
  for (std::int64_t i = 0; i < 3; ++i) {
    check.error(i == 0 ? "dq" : (i == 1 ? "dk" : "dv"),
                relative_error(third(dqkv, p.channels, i), third(expected.dqkv, p.channels, i)), tolerance);
  }
  const std::vector<double> parameters = p.make.download(p.dparameters);
  const auto compare_part = [&](const char* name, std::int64_t from, std::int64_t count, double allowed) {
    check.error(name, relative_error(p.part(parameters, from, count), p.part(expected.parameters, from, count)),
                allowed);
  };
  const double sums = by_type(type, c.logit_scale > 3.0 ? 1e-4 : 2e-5, 5e-4, 4e-3);
  compare_part("dtable", 0, p.table_count, sums);
  // A sum over everything that mostly cancels.
  if (c.score == kCosine) {
    compare_part("dlogit_scale", p.table_count, p.shape.heads,
                 by_type(type, c.logit_scale > 3.0 ? 5e-4 : 1e-4, 1e-3, 4e-3));
  }
  // Of the tokens' rows and of padding, as padding alone.
  const std::int64_t bias_place = p.table_count + p.shape.heads;
  const double bias_tolerance = by_type(type, 1e-4, 1.5e-3, 1e-2);
  std::vector<double> of_padding = p.part(expected.parameters, bias_place, 3 * p.channels);
  for (std::size_t i = 0; i < expected.dqkv.size(); ++i)
    expected.parameters[static_cast<std::size_t>(bias_place) + i % of_padding.size()] += expected.dqkv[i];
  compare_part("dqkv_bias", bias_place, 3 * p.channels, bias_tolerance);
  if (!p.shape.grid.padded() || p.order == kImage) return;
  for (std::size_t i = 0; c.accumulate && i < of_padding.size(); ++i)
    of_padding[i] -= p.before[static_cast<std::size_t>(bias_place) + i];
  check.error("sum of padding", relative_error(dpad, of_padding), bias_tolerance);
}

void check_one(const BackwardCase& c, ElementType type, cuda::TokenOrder order, const VerifyReport& report) {
  Problem p(c, type, order);
  const DeviceTensor out = p.make.output(p.row_count() * p.channels, type);
  cuda::window_attention_forward(p.shape, type, order, p.inputs(out), p.make.stream());
  const cuda::DeviceBuffer workspace(cuda::attention_backward_workspace_bytes(p.shape, type, order));
  const char* const path = cuda::attention_on_tensor_cores(p.shape, type) ? "" : " (general)";
  GradientCheck check(report, p.make, fmt::format("attention backward{}, {}", path, describe(c, order)), type);
  check.run_twice({&p.dqkv, &p.dparameters}, [&] {
    cuda::window_attention_backward(p.shape, type, order, p.gradients(c.accumulate, workspace.data()), p.make.stream());
  });
  compare(c, p, check);
}

void check_by_steps(const BackwardCase& c, ElementType type, cuda::TokenOrder order, cuda::MatmulLibrary& library,
                    const VerifyReport& report) {
  Problem p(c, type, order);
  const DeviceTensor out = p.make.output(p.row_count() * p.channels, type);
  const StepAttention attention(p.shape, type, order, Problem::floats(p.table), p.make, library);
  attention.forward(p.inputs(out));
  GradientCheck check(report, p.make, "attention by steps backward, " + describe(c, order), type);
  check.run_twice({&p.dqkv, &p.dparameters}, [&] { attention.backward(p.gradients(c.accumulate, nullptr)); });
  compare(c, p, check);
}

// In windows' order rows are only found otherwise: where maps are padded or shifted, and where they are neither.
bool cut_too(const BackwardCase& c) { return c.batch <= 2 && c.window.area() <= 64 && c.head_dim == 32; }

void check_all(const std::vector<BackwardCase>& all, const VerifyReport& report) {
  for (const BackwardCase& c : all) {
    for (const ElementType type : {ElementType::kFp32, ElementType::kFp16, ElementType::kBf16}) {
      check_one(c, type, kImage, report);
      if (cut_too(c)) check_one(c, type, kWindows, report);
    }
  }
}

}  // namespace

void check_attention_backward(const VerifyReport& report) { check_all(cases(), report); }
void check_wide_attention_backward(const VerifyReport& report) { check_all(wide_cases(), report); }

void check_attention_steps_backward(const VerifyReport& report, const std::filesystem::path& algorithm_folder) {
  cuda::MatmulLibrary library(algorithm_folder);  // cases of equal products share them
  for (const BackwardCase& c : cases()) {
    for (const ElementType type : {ElementType::kFp32, ElementType::kFp16, ElementType::kBf16}) {
      check_by_steps(c, type, kImage, library, report);
      if (cut_too(c)) check_by_steps(c, type, kWindows, library, report);
    }
  }
  library.finish_tuning();
}

}  // namespace swinscope
