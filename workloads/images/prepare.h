// From a picture to a model's input.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "workloads/images/rgb_image.h"

namespace swinscope {

// [size, size, 3] -> [3, size, size], mirrored if asked for. Values v in [0, 1] become (v - mean) / deviation of
// ImageNet's channels (means 0.485, 0.456, 0.406; deviations 0.229, 0.224, 0.225).
void normalize(const RgbImage& image, bool mirrored, std::span<float> prepared);

// What timm's evaluation feeds to Swin (crop_pct 0.9, bicubic): the shorter side is resized to floor(size / 0.9), the
// longer one in proportion, the middle size x size pixels are taken and normalized into [3, size, size].
void prepare_for_evaluation(const RgbImage& image, int size, std::span<float> prepared);

// The whole way. A picture whose shorter side is at least twice as long as needed is decoded at 1/2, 1/4 or 1/8 of its
// size, which takes a fraction of the time and moves values by about a grey level. Throws as JpegDecoder.
void prepare_for_evaluation(std::span<const std::uint8_t> jpeg, const std::string& name, int size,
                            std::span<float> prepared);

// What a random crop is drawn by.
struct CropDraw {
  std::int64_t sample = 0;
  std::uint64_t seed = 0;
  double least_area = 0.08;  // share of the picture
};

// Inception's random crop (Szegedy et al. 2015, arXiv 1409.4842) as torchvision's RandomResizedCrop has it: an area
// from least_area to all, an aspect ratio from 3/4 to 4/3 (uniform in the logarithm), anywhere; after ten draws that do
// not fit, the middle. `mirrored`: one in two.
struct RandomCrop {
  Box box;
  bool mirrored = false;
};
RandomCrop draw_crop(int width, int height, const CropDraw& draw);

// A random crop, resized (bicubic) and normalized into [3, size, size]; decoded at the smallest size that has at least
// `size` pixels within the crop. Throws as JpegDecoder.
void prepare_for_training(std::span<const std::uint8_t> jpeg, const std::string& name, int size, const CropDraw& draw,
                          std::span<float> prepared);

}  // namespace swinscope
