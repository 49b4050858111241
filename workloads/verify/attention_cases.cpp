// Window attention, as one kernel and step by step, against the CPU's in fp64.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "kernels/window_attention.h"
#include "workloads/verify/device_tensor.h"
#include "workloads/verify/kernel_cases.h"
#include "workloads/verify/step_attention.h"

namespace swinscope {
namespace {

struct AttentionCase {
  Extent2 map;
  Extent2 window;
  Extent2 shift;
  std::int64_t heads;
  std::int64_t head_dim;
  AttentionScore score;
  double logit_scale = 2.0;  // natural logarithm; clamped at ln 100
  bool zero_rows = false;    // some tokens are zero: their cosine with everything is 0
};

constexpr auto kDot = AttentionScore::kScaledDot;
constexpr auto kCosine = AttentionScore::kCosine;

// Every geometry of the models, odd ones, and what only the general path takes.
const std::vector<AttentionCase>& cases() {
  static const std::vector<AttentionCase> all = {
      {{14, 14}, {7, 7}, {0, 0}, 4, 32, kDot},
      {{14, 14}, {7, 7}, {3, 3}, 4, 32, kDot},
      {{28, 14}, {7, 7}, {3, 3}, 6, 32, kDot},
      {{7, 7}, {7, 7}, {0, 0}, 5, 32, kDot},
      {{10, 9}, {7, 7}, {3, 3}, 3, 32, kDot},  // padded
      {{8, 8}, {4, 4}, {2, 2}, 2, 32, kDot},
      {{9, 12}, {3, 4}, {1, 2}, 1, 32, kDot},
      {{16, 16}, {8, 8}, {4, 4}, 4, 32, kDot},
      {{16, 16}, {8, 8}, {0, 0}, 4, 32, kCosine},
      {{16, 16}, {8, 8}, {4, 4}, 4, 32, kCosine},
      {{16, 16}, {8, 8}, {4, 4}, 4, 32, kCosine, 8.0},
      {{16, 16}, {8, 8}, {4, 4}, 4, 32, kCosine, 2.0, true},
      {{12, 11}, {8, 8}, {4, 4}, 3, 32, kCosine},  // padded
      {{14, 14}, {7, 7}, {3, 3}, 2, 32, kCosine},
      {{16, 16}, {4, 4}, {2, 2}, 2, 16, kDot},
      {{16, 16}, {4, 4}, {2, 2}, 4, 16, kCosine},
      {{24, 24}, {12, 12}, {6, 6}, 3, 32, kDot},
      {{32, 16}, {16, 16}, {8, 0}, 2, 32, kCosine},
      {{24, 24}, {24, 24}, {0, 0}, 2, 32, kCosine},
      {{20, 20}, {12, 12}, {6, 6}, 2, 32, kDot},  // padded
  };
  return all;
}

WindowAttentionShape shape_of(const AttentionCase& c) {
  return {{2, c.map, c.window, c.shift}, c.heads, c.head_dim, c.score};
}

std::string describe(const AttentionCase& c) {
  return fmt::format("{}{} x {} map, {} x {} windows, shift {}, {} heads of {}{}{}",
                     c.score == kCosine ? "cosine, " : "", c.map.height, c.map.width, c.window.height, c.window.width,
                     c.shift.height, c.heads, c.head_dim, c.logit_scale > 5.0 ? ", scale 100" : "",
                     c.zero_rows ? ", zero tokens" : "");
}

// One call's inputs, and what must come out.
class Problem {
 public:
  Problem(const AttentionCase& c, ElementType type) : shape(shape_of(c)) {
    const std::int64_t channels = shape.channels();
    qkv = make.normal(shape.grid.tokens() * 3 * channels, type);
    if (c.zero_rows) {
      for (std::size_t token = 0; token < static_cast<std::size_t>(shape.grid.tokens()); token += 5) {
        std::fill_n(qkv.values.begin() + static_cast<std::ptrdiff_t>(token) * 3 * channels, 3 * channels, 0.0);
      }
      qkv = make.upload(qkv.values, type);
    }
    table = make.normal(bias_table_rows(c.window) * c.heads, ElementType::kFp32);
    logit_scale = make.uniform(c.heads, ElementType::kFp32, c.logit_scale - 0.5, c.logit_scale + 0.5);
    pad = make.normal(3 * channels, type);
    out = make.output(shape.grid.tokens() * channels, type);
    lse = make.output(shape.grid.tokens() * c.heads, ElementType::kFp32);
    expected.resize(static_cast<std::size_t>(shape.grid.tokens() * channels));
    expected_lse.resize(static_cast<std::size_t>(shape.grid.tokens() * c.heads));
    cpu::window_attention_forward<double>(
        shape, {qkv.values.data(), table.values.data(), logit_scale.values.data(), pad.values.data()}, expected.data(),
        expected_lse.data());
  }

  const float* floats(const DeviceTensor& tensor) const { return static_cast<const float*>(tensor.data()); }
  void poison() {
    make.write(out, std::vector<double>(expected.size(), std::nan("")));
    make.write(lse, std::vector<double>(expected_lse.size(), std::nan("")));
  }

  TensorFactory make{17};
  WindowAttentionShape shape;
  DeviceTensor qkv, table, logit_scale, pad, out, lse;
  std::vector<double> expected, expected_lse;
};

// Scores of up to 100 are exact to 1e-7 of that in fp32, which softmax turns into the same absolute error.
double tolerance(const AttentionCase& c, ElementType type) {
  return by_type(type, c.logit_scale > 5.0 ? 3e-5 : 5e-6, 8e-4, 6e-3);
}

void check_one(const AttentionCase& c, ElementType type, const VerifyReport& report) {
  Problem problem(c, type);
  const cuda::Stream stream = problem.make.stream();
  const cuda::DeviceBuffer bias(cuda::attention_bias_bytes(problem.shape, type));
  cuda::expand_attention_bias(problem.shape, type, problem.floats(problem.table), bias.data(), stream);
  cuda::WindowAttentionTensors tensors;
  tensors.qkv = problem.qkv.data();
  tensors.bias = bias.data();
  tensors.logit_scale = problem.floats(problem.logit_scale);
  tensors.pad_qkv = problem.pad.data();
  tensors.out = problem.out.buffer.data();
  tensors.lse = static_cast<float*>(problem.lse.buffer.data());
  const bool turns = cuda::attention_on_tensor_cores(problem.shape, type);
  for (const bool backwards : {false, true}) {
    if (backwards && !turns) continue;
    tensors.backwards = backwards;
    tensors.out_eviction = backwards ? cuda::Eviction::kLast : cuda::Eviction::kNormal;
    problem.poison();
    cuda::window_attention_forward(problem.shape, type, cuda::TokenOrder::kImage, tensors, stream);
    const std::string name =
        (turns ? "attention, " : "attention (general), ") + describe(c) + (backwards ? ", backwards" : "");
    report({name, type_name(type), relative_error(problem.make.download(problem.out), problem.expected),
            tolerance(c, type)});
    // The tensor core path holds the bias in fp16.
    report({name + ", LSE", type_name(type), relative_error(problem.make.download(problem.lse), problem.expected_lse),
            by_type(type, 2e-6, 3e-4, 3e-4)});
  }
}

void check_by_steps(const AttentionCase& c, ElementType type, cuda::MatmulLibrary& library,
                    const VerifyReport& report) {
  Problem problem(c, type);
  cuda::WindowAttentionTensors tensors;
  tensors.qkv = problem.qkv.data();
  tensors.logit_scale = problem.floats(problem.logit_scale);
  tensors.pad_qkv = problem.pad.data();
  tensors.out = problem.out.buffer.data();
  const StepAttention attention(problem.shape, type, cuda::TokenOrder::kImage, problem.floats(problem.table),
                                problem.make, library);
  attention.forward(tensors);
  report({"attention by steps, " + describe(c), type_name(type),
          relative_error(problem.make.download(problem.out), problem.expected), tolerance(c, type)});
}

}  // namespace

void check_attention(const VerifyReport& report) {
  for (const AttentionCase& c : cases()) {
    for (const ElementType type : {ElementType::kFp32, ElementType::kFp16, ElementType::kBf16})
      check_one(c, type, report);
  }
}

void check_attention_steps(const VerifyReport& report, const std::filesystem::path& algorithm_folder) {
  cuda::MatmulLibrary library(algorithm_folder);  // cases of equal products share them
  for (const AttentionCase& c : cases()) {
    if (c.window.area() > 64) continue;
    for (const ElementType type : {ElementType::kFp32, ElementType::kFp16, ElementType::kBf16})
      check_by_steps(c, type, library, report);
  }
  library.finish_tuning();
}

}  // namespace swinscope
