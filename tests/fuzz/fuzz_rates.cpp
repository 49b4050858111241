// Rates::parse: whatever the bytes, they are refused as bad input, or they become tables whose times are times.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "advisor/rates.h"
#include "store/error.h"
#include "store/utf8.h"
#include "tests/fuzz/memory_file.h"

namespace swinscope::fuzz {
namespace {

void expect_time(const std::optional<double>& ns) {
  expect(!ns || (std::isfinite(*ns) && *ns >= 0.0), "a time is finite and not negative");
}

void check_rates(const Rates& rates) {
  expect(!rates.gpu().empty(), "the GPU has a name");
  for (const std::int64_t size : {std::int64_t{1}, std::int64_t{49}, std::int64_t{768}, std::int64_t{1} << 30}) {
    for (const char* const precision : {"fp32", "fp16", "int8"}) {
      expect_time(rates.product_ns(precision, {1, size, 64, 768}));
      expect_time(rates.product_ns(precision, {1, 49, size, size}));
      expect_time(rates.product_ns(precision, {size, 49, 49, 32}));
    }
    expect_time(rates.bytes_ns(static_cast<double>(size)));
    expect_time(rates.graph_launch_ns(size));
  }
}

}  // namespace
}  // namespace swinscope::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace swinscope;
  try {
    fuzz::check_rates(Rates::parse({reinterpret_cast<const char*>(data), size}, "input"));
  } catch (const Error& error) {
    fuzz::expect(error.kind() == ErrorKind::kInput, "the error is one of the input", error.what());
    fuzz::expect(!error.cause().empty() && is_valid_utf8(error.cause()), "the error says why", error.what());
  }
  return 0;
}
