// host_device.h: window attention as one operation, and the copies of windows.
#include <algorithm>

#include "kernels/window_attention.h"
#include "tests/unit/workloads/host_device_memory.h"

namespace swinscope::cuda {
namespace {

using namespace test;

// Rows of windows as rows of the map. All padding holds the same: `pad`, if wanted.
Floats to_image(const WindowGrid& grid, TokenOrder order, const Floats& rows, std::int64_t columns,
                Floats* pad = nullptr) {
  if (order == TokenOrder::kImage) return rows;
  Floats map = zeros(grid.tokens() * columns);
  for (std::int64_t row = 0; row < window_rows(grid); ++row) {
    const std::int64_t token = token_of(grid, row);
    const auto from = rows.begin() + row * columns;
    if (token != kPaddedToken) {
      std::copy_n(from, columns, map.begin() + token * columns);
    } else if (pad != nullptr) {
      pad->assign(from, from + columns);
    }
  }
  return map;
}

// Back; the first padded row holds `pad`, all others zeros.
Floats from_image(const WindowGrid& grid, TokenOrder order, const Floats& map, std::int64_t columns, Floats pad = {}) {
  if (order == TokenOrder::kImage) return map;
  Floats rows = zeros(window_rows(grid) * columns);
  for (std::int64_t row = 0; row < window_rows(grid); ++row) {
    const std::int64_t token = token_of(grid, row);
    if (token != kPaddedToken) {
      std::copy_n(map.begin() + token * columns, columns, rows.begin() + row * columns);
    } else {
      std::copy(pad.begin(), pad.end(), rows.begin() + row * columns);
      pad.clear();
    }
  }
  return rows;
}

struct AttentionInputs {
  Floats qkv, pad;
  WindowAttentionInputs<float> get(const void* bias, const float* logit_scale) const {
    return {qkv.data(), static_cast<const float*>(bias), logit_scale, pad.empty() ? nullptr : pad.data()};
  }
};

AttentionInputs load_inputs(const WindowAttentionShape& shape, ElementType type, TokenOrder order, const void* qkv,
                            const void* pad_qkv, ByteFormat format = ByteFormat::kNone, float scale = 0.0F) {
  const std::int64_t columns = 3 * shape.channels();
  const std::int64_t count = rows_of(shape.grid, order) * columns;
  AttentionInputs inputs;
  if (pad_qkv != nullptr) inputs.pad = load(type, pad_qkv, columns);
  inputs.qkv =
      to_image(shape.grid, order, scale > 0.0F ? load_bytes(format, qkv, count, scale) : load(type, qkv, count),
               columns, &inputs.pad);
  return inputs;
}

}  // namespace

// One way serves all.
bool attention_on_tensor_cores(const WindowAttentionShape& /*shape*/, ElementType /*type*/) { return true; }

// The table as it is: the CPU's attention takes that.
std::int64_t attention_bias_bytes(const WindowAttentionShape& shape, ElementType /*type*/) {
  return bias_table_rows(shape.grid.window) * shape.heads * 4;
}
void expand_attention_bias(const WindowAttentionShape& shape, ElementType /*type*/, const float* table, void* bias,
                           Stream stream) {
  launch(stream,
         [=] { std::copy_n(table, bias_table_rows(shape.grid.window) * shape.heads, static_cast<float*>(bias)); });
}

void window_attention_forward(const WindowAttentionShape& shape, ElementType type, TokenOrder order,
                              const WindowAttentionTensors& t, Stream stream) {
  launch(stream, [=] {
    const AttentionInputs inputs = load_inputs(shape, type, order, t.qkv, t.pad_qkv, t.byte_format, t.qkv_scale);
    Floats out = zeros(shape.grid.tokens() * shape.channels()), lse = zeros(shape.grid.tokens() * shape.heads);
    cpu::window_attention_forward<float>(shape, inputs.get(t.bias, t.logit_scale), out.data(), lse.data());
    const Floats rows = from_image(shape.grid, order, out, shape.channels());
    if (t.out_scale > 0.0F) {
      store_bytes(t.byte_format, rows, t.out_scale, t.out);
    } else {
      store(type, rows, t.out, t.copy);
    }
    if (t.lse != nullptr) store(ElementType::kFp32, from_image(shape.grid, order, lse, shape.heads), t.lse);
  });
}

std::int64_t attention_backward_workspace_bytes(const WindowAttentionShape& shape, ElementType /*type*/,
                                                TokenOrder /*order*/) {
  return cpu::window_attention_backward_workspace(shape) * 8;
}

void window_attention_backward(const WindowAttentionShape& shape, ElementType type, TokenOrder order,
                               const WindowAttentionGradientTensors& t, Stream stream) {
  launch(stream, [=] {
    const std::int64_t channels = shape.channels();
    const std::int64_t rows = rows_of(shape.grid, order);
    const AttentionInputs inputs = load_inputs(shape, type, order, t.qkv, t.pad_qkv);
    const Floats dout = to_image(shape.grid, order, load(type, t.dout, rows * channels), channels);
    const Floats lse = to_image(shape.grid, order, load(ElementType::kFp32, t.lse, rows * shape.heads), shape.heads);
    Floats dqkv(inputs.qkv.size()), dpad = zeros(3 * channels);
    begin_gradient(t.dtable, bias_table_rows(shape.grid.window) * shape.heads, t.accumulate);
    begin_gradient(t.dlogit_scale, shape.heads, t.accumulate);
    begin_gradient(t.dqkv_bias, 3 * channels, t.accumulate);
    cpu::window_attention_backward<float>(shape, inputs.get(t.bias, t.logit_scale), lse.data(), dout.data(),
                                          {dqkv.data(), t.dtable, t.dlogit_scale, dpad.data()},
                                          static_cast<double*>(t.workspace));
    // As on a GPU, where the CPU's gradient of order 1e12 would be infinite in 16 bits: V2's keys of padding are zero.
    if (shape.score == AttentionScore::kCosine && !inputs.pad.empty() &&
        std::all_of(inputs.pad.begin() + channels, inputs.pad.begin() + 2 * channels,
                    [](float k) { return k == 0.0F; })) {
      std::fill_n(dpad.begin() + channels, channels, 0.0F);
    }
    const Floats in_order = from_image(shape.grid, order, dqkv, 3 * channels, dpad);
    store(type, in_order, t.dqkv, t.copy);
    for (std::int64_t i = 0; i < rows * 3 * channels; ++i)
      t.dqkv_bias[i % (3 * channels)] += in_order[static_cast<std::size_t>(i)];
    for (std::int64_t i = 0; order == TokenOrder::kImage && i < 3 * channels; ++i)
      t.dqkv_bias[i] += dpad[static_cast<std::size_t>(i)];
  });
}

void window_roll(const WindowGrid& grid, std::int64_t channels, ElementType type, bool forward, const void* x, void* y,
                 Stream stream) {
  launch(stream, [=] {
    const Floats from = load(type, x, grid.tokens() * channels);
    Floats to(from.size());
    const Extent2 map = grid.map;
    for (std::int64_t token = 0; token < grid.tokens(); ++token) {
      const std::int64_t row = token / map.width % map.height;
      const std::int64_t source_row = (row + grid.shift.height) % map.height;
      const std::int64_t source_column = (token % map.width + grid.shift.width) % map.width;
      const std::int64_t moved = (token / map.area() * map.height + source_row) * map.width + source_column;
      const std::int64_t target = forward ? token : moved;
      const std::int64_t source = forward ? moved : token;
      std::copy_n(from.begin() + source * channels, channels, to.begin() + target * channels);
    }
    store(type, to, y);
  });
}

void window_partition(const WindowGrid& grid, std::int64_t channels, ElementType type, const void* x, void* y,
                      Stream stream) {
  launch(stream, [=] {
    const WindowGrid rolled{grid.batch, grid.map, grid.window, {0, 0}};
    store(type, from_image(rolled, TokenOrder::kWindow, load(type, x, grid.tokens() * channels), channels), y);
  });
}

void window_reverse(const WindowGrid& grid, std::int64_t channels, ElementType type, const void* x, void* y,
                    Stream stream) {
  launch(stream, [=] {
    const WindowGrid rolled{grid.batch, grid.map, grid.window, {0, 0}};
    store(type, to_image(rolled, TokenOrder::kWindow, load(type, x, window_rows(grid) * channels), channels), y);
  });
}

}  // namespace swinscope::cuda
