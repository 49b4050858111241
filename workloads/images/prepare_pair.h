// From a picture and its mask to a segmentation model's input, as Swin's segmentation recipe has it (mmsegmentation's
// pipeline for ADE20K).
#pragma once

#include <cstdint>
#include <span>

#include "workloads/images/label_mask.h"
#include "workloads/images/rgb_image.h"

namespace swinscope {

// What a training sample is drawn by.
struct PairDraw {
  std::int64_t sample = 0;
  std::uint64_t seed = 0;
};

// Resized by a random factor (1/2 to 2 times the size at which the shorter side is `size`), a random size x size part
// of it, mirrored one time in two, brightness, contrast, saturation and hue moved, each one time in two; what the part
// misses is grey (the mean) and ignored. A part of which one class would be more than 3/4 is drawn again, up to ten
// times. The mask, whose labels are classes (label_classes), follows by the nearest pixel.
// prepared: [3, size, size]; labels: [size, size].
void prepare_pair_for_training(const RgbImage& image, const LabelMask& mask, int size, const PairDraw& draw,
                               std::span<float> prepared, std::span<std::uint8_t> labels);

// The whole picture resized so that it fits, at the top left; the rest is grey and ignored.
void prepare_pair_for_evaluation(const RgbImage& image, const LabelMask& mask, int size, std::span<float> prepared,
                                 std::span<std::uint8_t> labels);

// The picture alone, in the same way.
void prepare_scene(const RgbImage& image, int size, std::span<float> prepared);

// Moves an image's colours, in place: brightness by up to 32 grey levels, contrast and saturation by factors of 1/2 to
// 3/2, hue by up to 18 degrees.
void distort_colours(RgbImage& image, const PairDraw& draw);

}  // namespace swinscope
