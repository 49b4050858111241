// The state of a training in a checkpoint: whatever its text is, it is refused as bad input, or training can go on from
// it. The file around it is fuzz_safetensors's.
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

#include "store/utf8.h"
#include "tests/fuzz/memory_file.h"
#include "workloads/checkpoint_state.h"
#include "workloads/error.h"
#include "workloads/safetensors_writer.h"

namespace swinscope::fuzz {
namespace {

constexpr std::int64_t kMostSteps = 1'000'000'000;

void check(const CheckpointState& state) {
  for (const std::int64_t steps : {state.steps_done, state.optimizer_steps, state.good_steps})
    expect(steps >= 0 && steps <= kMostSteps, "a number of steps is one");
  expect(state.loss_scale > 0 && state.loss_scale < std::numeric_limits<float>::max(), "the scale is one");
}

}  // namespace
}  // namespace swinscope::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace swinscope;
  static const fuzz::MemoryFolder folder;
  const std::string text(reinterpret_cast<const char*>(data), size);
  if (!is_valid_utf8(text)) return 0;  // no metadata of such a file
  const float value = 1;
  const std::array<TensorSource, 1> tensors = {{{"a", {1}, {&value, 1}, {}}}};
  const std::filesystem::path path = folder.path() / "checkpoint";
  write_safetensors(path, tensors, {{kCheckpointKey, text}});
  try {
    const CheckpointState state = checkpoint_state(SafetensorsFile(path));
    fuzz::check(state);
    write_safetensors(path, tensors, {{kCheckpointKey, checkpoint_text(state)}});
    fuzz::expect(checkpoint_state(SafetensorsFile(path)).settings == state.settings, "what is written is read again");
  } catch (const WorkloadError& error) {
    fuzz::expect(error.kind() == WorkloadErrorKind::kInput, "the error is one of the input", error.what());
    fuzz::expect(!error.cause().empty() && is_valid_utf8(error.cause()), "the error says why", error.what());
  }
  return 0;
}
