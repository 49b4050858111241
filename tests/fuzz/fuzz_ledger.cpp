// Ledger::parse: whatever the bytes, they are refused as bad input, or they become predictions that are written and
// read again as they are, and that can be scored.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <variant>

#include "advisor/ledger.h"
#include "store/error.h"
#include "store/utf8.h"
#include "tests/fuzz/memory_file.h"

namespace swinscope::fuzz {
namespace {

void check_ledger(const Ledger& ledger) {
  const std::string text = ledger.text();
  expect(Ledger::parse(text, "text").text() == text, "what is written is read again");
  for (const Prediction& prediction : ledger.predictions) {
    expect(prediction.step_ns >= 0, "a step is a time");
    for (const std::int64_t ns : prediction.predicted_ns)
      expect(ns >= 0, "a predicted step is a time");
  }
  for (const std::int64_t measured_ns : {std::int64_t{0}, std::int64_t{1}, std::numeric_limits<std::int64_t>::max()}) {
    const Table table = score_table(ledger, measured_ns);
    expect(table.rows.size() == ledger.predictions.size(), "each prediction has a score");
    const std::size_t error = find_column(table, "effect_error_percent");
    for (const auto& row : table.rows)
      expect(std::isfinite(std::get<double>(row[error])), "an error is finite");
  }
}

}  // namespace
}  // namespace swinscope::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace swinscope;
  Ledger ledger;
  try {
    ledger = Ledger::parse({reinterpret_cast<const char*>(data), size}, "input");
  } catch (const Error& error) {
    fuzz::expect(error.kind() == ErrorKind::kInput, "the error is one of the input", error.what());
    fuzz::expect(!error.cause().empty() && is_valid_utf8(error.cause()), "the error says why", error.what());
    return 0;
  }
  fuzz::check_ledger(ledger);
  return 0;
}
