// Decoding JPEG pictures with libjpeg: baseline and progressive; grey, colour and CMYK. A picture comes as it is
// stored: the orientation that a camera notes beside it is not applied, as in torchvision.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "workloads/images/rgb_image.h"

namespace swinscope {

// A header may claim anything; no photograph is larger.
inline constexpr std::int64_t kMostPixels = std::int64_t{1} << 28;

class JpegDecoder {
 public:
  // Reads the header. `bytes` must outlive the decoder; `name` is for messages. Throws WorkloadError (kInput) whose
  // cause says what is wrong: libjpeg's words, or a picture of more than `most_pixels`.
  JpegDecoder(std::span<const std::uint8_t> bytes, std::string name, std::int64_t most_pixels = kMostPixels);
  ~JpegDecoder();
  JpegDecoder(const JpegDecoder&) = delete;
  JpegDecoder& operator=(const JpegDecoder&) = delete;
  JpegDecoder(JpegDecoder&&) = delete;
  JpegDecoder& operator=(JpegDecoder&&) = delete;

  int width() const;
  int height() const;

  // The picture with 1/reduction of its width and height (rounded up); reduction is 1, 2, 4 or 8. Reducing is part of
  // the inverse cosine transform, which makes it several times faster than decoding all pixels. At most once. Throws
  // WorkloadError (kInput) for damage, also such that libjpeg would paint over with grey.
  RgbImage decode(int reduction = 1);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// The largest reduction (1, 2, 4 or 8) that leaves `length` pixels at least `least` of them.
int reduction_for(int length, int least);

}  // namespace swinscope
