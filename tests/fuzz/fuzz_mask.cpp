// decode_mask: whatever the bytes, they are refused as bad input, or they become a mask with a label for each pixel,
// the same again each time.
#include <cstdint>

#include "tests/fuzz/memory_file.h"
#include "workloads/error.h"
#include "workloads/images/label_mask.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace swinscope;
  constexpr std::int64_t kMostFuzzedPixels = std::int64_t{1} << 18;
  try {
    const LabelMask mask = decode_mask({data, size}, "input", kMostFuzzedPixels);
    fuzz::expect(mask.width > 0 && mask.height > 0, "there are pixels");
    fuzz::expect(mask.labels.size() == static_cast<std::size_t>(mask.width) * static_cast<std::size_t>(mask.height),
                 "each pixel has a label");
    fuzz::expect(decode_mask({data, size}, "input").labels == mask.labels, "decoding is repeatable");
  } catch (const WorkloadError& error) {
    fuzz::expect(error.kind() == WorkloadErrorKind::kInput, "the error is one of the input", error.what());
    fuzz::expect(!error.cause().empty(), "the error says why", error.what());
  }
  return 0;
}
