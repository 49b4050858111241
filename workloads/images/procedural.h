// Labelled sets of pictures made from their numbers. In that for classification each shows one shape with one surface,
// and the class is the pair. Position, size, rotation, colours, background, blur of the background and noise are drawn
// apart from the class, so that no pixel and no colour says anything by itself; what has to be seen is an outline and a
// repeating pattern.
#pragma once

#include <cstdint>
#include <string>

#include "workloads/images/label_mask.h"
#include "workloads/images/rgb_image.h"

namespace swinscope {

inline constexpr int kProceduralShapes = 6;    // disc, square, triangle, star, ring, cross
inline constexpr int kProceduralSurfaces = 4;  // plain, stripes, checks, dots
inline constexpr int kProceduralClasses = kProceduralShapes * kProceduralSurfaces;

// "star-checks"; label counts from 0.
std::string procedural_class_name(int label);

// Picture `number` of a part of the set ("train", "val"): size x size pixels, of the given class. The same arguments
// give the same pixels, whatever was drawn before.
RgbImage draw_procedural(const std::string& part, std::int64_t number, int label, int size, std::uint64_t seed);

// Pictures of several figures that hide one another, with the class of every pixel: the background, and each shape
// plain and striped. Masks hold labels as ADE20K's do: class + 1, and 0 where nothing is said, here along the outlines,
// where a pixel shows more than one thing.
inline constexpr int kSceneClasses = 1 + 2 * kProceduralShapes;
inline constexpr std::uint8_t kSceneUnlabelled = 0;

struct LabelledScene {
  RgbImage image;
  LabelMask mask;
};

// As draw_procedural().
LabelledScene draw_scene(const std::string& part, std::int64_t number, int size, std::uint64_t seed);

}  // namespace swinscope
