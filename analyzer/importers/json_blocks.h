// Looks at JSON text 64 characters at a time: which of them are quotes, backslashes and braces.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#ifdef __SSE2__
#include <immintrin.h>
#endif

namespace swinscope {

// Which of 64 characters are what: a bit for each, the lowest for the first.
struct Block {
  std::uint64_t quotes = 0;
  std::uint64_t backslashes = 0;
  std::uint64_t braces = 0;
};
inline constexpr std::size_t kBlockBytes = 64;

inline Block look_at(std::string_view text) {
  Block block;
  std::array<char, kBlockBytes> padded{};
  if (text.size() < kBlockBytes) {
    text.copy(padded.data(), text.size());
    text = {padded.data(), kBlockBytes};
  }
#ifdef __SSE2__
  for (unsigned at = 0; at < kBlockBytes; at += 16) {
    const __m128i part = _mm_loadu_si128(reinterpret_cast<const __m128i*>(text.data() + at));
    const auto is = [&](char c) { return _mm_cmpeq_epi8(part, _mm_set1_epi8(c)); };
    const auto bits = [&](__m128i found) {
      return std::uint64_t{static_cast<std::uint16_t>(_mm_movemask_epi8(found))} << at;
    };
    block.quotes |= bits(is('"'));
    block.backslashes |= bits(is('\\'));
    block.braces |= bits(_mm_or_si128(is('{'), is('}')));
  }
#else
  for (unsigned at = 0; at < kBlockBytes; ++at) {
    block.quotes |= std::uint64_t{text[at] == '"'} << at;
    block.backslashes |= std::uint64_t{text[at] == '\\'} << at;
    block.braces |= std::uint64_t{text[at] == '{' || text[at] == '}'} << at;
  }
#endif
  return block;
}

// The bits from each odd one set in `bits` (first, third, ...) up to the next: from opening quotes to before closing
// ones.
inline std::uint64_t between_pairs(std::uint64_t bits) {
  for (unsigned distance = 1; distance < 64; distance *= 2)
    bits ^= bits << distance;
  return bits;
}

}  // namespace swinscope
