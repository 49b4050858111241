#include "workloads/images/procedural.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include <fmt/format.h>

#include "workloads/hash_stream.h"

namespace swinscope {
namespace {

constexpr double kPi = std::numbers::pi;
constexpr std::array<const char*, kProceduralShapes> kShapes = {"disc", "square", "triangle", "star", "ring", "cross"};
constexpr std::array<const char*, kProceduralSurfaces> kSurfaces = {"plain", "stripes", "checks", "dots"};

// Random numbers of one picture, in order.
class Draws {
 public:
  Draws(const std::string& name, std::uint64_t seed) : stream_(name, seed) {}
  double between(double least, double most) { return least + (most - least) * stream_.unit(at_++); }

 private:
  HashStream stream_;
  std::uint64_t at_ = 0;
};

struct Point {
  double x = 0.0;
  double y = 0.0;
};

Point rotate(Point p, double angle) {
  return {p.x * std::cos(angle) + p.y * std::sin(angle), p.y * std::cos(angle) - p.x * std::sin(angle)};
}

using Colour = std::array<double, RgbImage::kChannels>;  // 0 to 255

Colour draw_colour(Draws& draws) { return {draws.between(0, 255), draws.between(0, 255), draws.between(0, 255)}; }

Colour mix(const Colour& a, const Colour& b, double share_of_b) {
  Colour result;
  for (std::size_t i = 0; i < result.size(); ++i)
    result[i] = a[i] + (b[i] - a[i]) * share_of_b;
  return result;
}

double brightness(const Colour& c) { return 0.299 * c[0] + 0.587 * c[1] + 0.114 * c[2]; }

// A colour that differs visibly in brightness from others; tries are bounded, the last one stands.
Colour draw_contrast(Draws& draws, const std::vector<Colour>& others) {
  constexpr int kTries = 24;
  constexpr double kLeastContrast = 55.0;
  Colour colour{};
  for (int i = 0; i < kTries; ++i) {
    colour = draw_colour(draws);
    const bool visible = std::ranges::all_of(others, [&](const Colour& other) {
      return std::abs(brightness(colour) - brightness(other)) >= kLeastContrast;
    });
    if (visible) break;
  }
  return colour;
}

// Signed distances to outlines of about radius 1, negative inside. They need to be right near the outline only.
double triangle_distance(Point p) {
  constexpr double kInner = 0.55;
  double distance = -2.0;
  for (int side = 0; side < 3; ++side) {
    const double angle = 2.0 * kPi * side / 3.0;
    distance = std::max(distance, p.x * std::cos(angle) + p.y * std::sin(angle) - kInner);
  }
  return distance;
}

double star_distance(Point p) {
  constexpr int kPoints = 5;
  constexpr double kInnerRadius = 0.45;
  constexpr double kHalf = kPi / kPoints;
  // Folded into the half sector between a tip at angle 0 and the notch at kHalf.
  const double angle = std::abs(std::remainder(std::atan2(p.y, p.x), 2.0 * kHalf));
  const double radius = std::hypot(p.x, p.y);
  const Point folded{radius * std::cos(angle), radius * std::sin(angle)};
  const Point notch{kInnerRadius * std::cos(kHalf), kInnerRadius * std::sin(kHalf)};
  const Point normal{notch.y, 1.0 - notch.x};  // of the edge from the tip (1, 0) to the notch
  return ((folded.x - 1.0) * normal.x + folded.y * normal.y) / std::hypot(normal.x, normal.y);
}

double cross_distance(Point p) {
  constexpr double kHalfWidth = 0.3;
  const double x = std::abs(p.x);
  const double y = std::abs(p.y);
  return std::min(std::max(x - kHalfWidth, y - 1.0), std::max(y - kHalfWidth, x - 1.0));
}

double outline_distance(int shape, Point p) {
  const double radius = std::hypot(p.x, p.y);
  switch (shape) {
    case 0:
      return radius - 0.9;
    case 1:
      return std::max(std::abs(p.x), std::abs(p.y)) - 0.8;
    case 2:
      return triangle_distance(p);
    case 3:
      return star_distance(p);
    case 4:
      return std::abs(radius - 0.72) - 0.26;
    default:
      return cross_distance(p);
  }
}

// Share of the second colour at a place of the surface; its pattern repeats with period 1.
double surface(int kind, Point p) {
  const double across = p.x - std::floor(p.x);
  const double along = p.y - std::floor(p.y);
  switch (kind) {
    case 0:
      return 0.0;
    case 1:
      return across < 0.5 ? 0.0 : 1.0;
    case 2:
      return (across < 0.5) == (along < 0.5) ? 0.0 : 1.0;
    default:
      return std::hypot(across - 0.5, along - 0.5) < 0.3 ? 1.0 : 0.0;
  }
}

// Smooth noise between -1 and 1 on a lattice of kCells x kCells.
class Clouds {
 public:
  explicit Clouds(Draws& draws) {
    for (double& value : values_)
      value = draws.between(-1.0, 1.0);
  }
  // u, v in [0, 1].
  double at(double u, double v) const {
    const double x = u * kCells;
    const double y = v * kCells;
    const int column = std::min(static_cast<int>(x), kCells - 1);
    const int row = std::min(static_cast<int>(y), kCells - 1);
    const double fx = smooth(x - column);
    const double fy = smooth(y - row);
    const double top = corner(column, row) * (1 - fx) + corner(column + 1, row) * fx;
    const double bottom = corner(column, row + 1) * (1 - fx) + corner(column + 1, row + 1) * fx;
    return top * (1 - fy) + bottom * fy;
  }

 private:
  static constexpr int kCells = 5;
  static double smooth(double t) { return t * t * (3.0 - 2.0 * t); }
  double corner(int column, int row) const {
    const int place = row * (kCells + 1) + column;
    return values_.at(static_cast<std::size_t>(place));
  }

  std::array<double, std::size_t{kCells + 1} * std::size_t{kCells + 1}> values_{};
};

// What is behind the figures.
struct Background {
  explicit Background(Draws& draws)
      : corners{draw_colour(draws), draw_colour(draws)},
        direction(draws.between(0, 2.0 * kPi)),
        clouds(draws),
        cloudiness(draws.between(10, 50)) {}

  Colour at(Point p) const {
    const double along = (p.x - 0.5) * std::cos(direction) + (p.y - 0.5) * std::sin(direction);
    Colour colour = mix(corners[0], corners[1], std::clamp(along + 0.5, 0.0, 1.0));
    for (double& value : colour)
      value += cloudiness * clouds.at(p.x, p.y);
    return colour;
  }

  std::array<Colour, 2> corners;
  double direction;
  Clouds clouds;
  double cloudiness;
};

// A shape with a surface. Lengths are shares of the picture's side.
struct Figure {
  Figure(Draws& draws, double least_radius, double most_radius)
      : radius(draws.between(least_radius, most_radius)),
        centre{draws.between(radius, 1.0 - radius), draws.between(radius, 1.0 - radius)},
        rotation(draws.between(0, 2.0 * kPi)),
        period(draws.between(0.3, 0.45)),
        surface_rotation(draws.between(0, 2.0 * kPi)),
        surface_shift{draws.between(0, 1), draws.between(0, 1)} {}

  void draw_colours(Draws& draws, const Background& background) {
    const Colour behind = background.at(centre);
    first = draw_contrast(draws, {behind});
    second = draw_contrast(draws, {behind, first});
  }
  Point local(Point p) const { return rotate({(p.x - centre.x) / radius, (p.y - centre.y) / radius}, rotation); }
  // How much of a pixel it covers. `pixel`: the pixel's length, over which the outline is smoothed.
  double cover(Point p, int label, double pixel) const {
    const double distance = outline_distance(label / kProceduralSurfaces, local(p)) * radius / pixel;
    return std::clamp(0.5 - distance, 0.0, 1.0);
  }
  Colour colour(Point p, int label) const {
    Point place = rotate(local(p), surface_rotation);
    place = {place.x / period + surface_shift.x, place.y / period + surface_shift.y};
    return mix(first, second, surface(label % kProceduralSurfaces, place));
  }

  double radius;
  Point centre;
  double rotation;
  double period;  // of the surface, in radii
  double surface_rotation;
  Point surface_shift;
  Colour first{};
  Colour second{};
};

// All that is drawn for one picture of one figure.
struct Portrait {
  explicit Portrait(Draws draws) : background(draws), figure(draws, 0.22, 0.42), noise(draws.between(2, 14)) {
    figure.draw_colours(draws, background);
  }

  Colour at(Point p, int label, double pixel) const {
    const Colour behind = background.at(p);
    const double cover = figure.cover(p, label, pixel);
    return cover <= 0.0 ? behind : mix(behind, figure.colour(p, label), cover);
  }

  Background background;
  Figure figure;
  double noise;  // grey levels
};

// Several figures, the later ones in front.
struct Crowd {
  explicit Crowd(Draws draws) : background(draws), noise(draws.between(2, 14)) {
    constexpr double kLeast = 3.0;
    constexpr double kMost = 7.0;
    const int count = static_cast<int>(draws.between(kLeast, kMost + 1.0));
    for (int i = 0; i < count; ++i) {
      const int kind = static_cast<int>(draws.between(0, kSceneClasses - 1));
      kinds.push_back(kind);
      figures.emplace_back(draws, 0.1, 0.26);
      figures.back().draw_colours(draws, background);
    }
  }

  // The colour, and the label of what covers the pixel; kSceneUnlabelled where that is several things in part.
  Colour at(Point p, double pixel, std::uint8_t& label) const {
    Colour colour = background.at(p);
    label = 1;
    for (std::size_t i = 0; i < figures.size(); ++i) {
      // Even kinds are plain, odd ones striped.
      const int drawn = kinds[i] / 2 * kProceduralSurfaces + kinds[i] % 2;
      const double cover = figures[i].cover(p, drawn, pixel);
      if (cover <= 0.0) continue;
      colour = mix(colour, figures[i].colour(p, drawn), cover);
      label = cover < 1.0 ? kSceneUnlabelled : static_cast<std::uint8_t>(2 + kinds[i]);
    }
    return colour;
  }

  Background background;
  double noise;  // grey levels
  std::vector<int> kinds;
  std::vector<Figure> figures;
};

// Calls colour(x, y, place) for each pixel, in order, and adds noise.
template <typename At>
RgbImage draw_pixels(const std::string& name, int size, std::uint64_t seed, double noise, const At& colour) {
  const HashStream grain(name + ".grain", seed);
  RgbImage image{
      size, size,
      std::vector<std::uint8_t>(static_cast<std::size_t>(size) * static_cast<std::size_t>(size) * RgbImage::kChannels)};
  std::uint64_t at = 0;
  for (int y = 0; y < size; ++y) {
    for (int x = 0; x < size; ++x) {
      for (const double value : colour(x, y, Point{(x + 0.5) / size, (y + 0.5) / size})) {
        const double noisy = value + noise * (2.0 * grain.unit(at) - 1.0);
        image.pixels[at++] = static_cast<std::uint8_t>(std::clamp(std::lround(noisy), 0L, 255L));
      }
    }
  }
  return image;
}

}  // namespace

std::string procedural_class_name(int label) {
  return fmt::format("{}-{}", kShapes.at(static_cast<std::size_t>(label / kProceduralSurfaces)),
                     kSurfaces.at(static_cast<std::size_t>(label % kProceduralSurfaces)));
}

RgbImage draw_procedural(const std::string& part, std::int64_t number, int label, int size, std::uint64_t seed) {
  const std::string name = fmt::format("procedural.{}.{}", part, number);
  const Portrait portrait{Draws(name, seed)};
  return draw_pixels(name, size, seed, portrait.noise,
                     [&](int /*x*/, int /*y*/, Point place) { return portrait.at(place, label, 1.0 / size); });
}

LabelledScene draw_scene(const std::string& part, std::int64_t number, int size, std::uint64_t seed) {
  const std::string name = fmt::format("scene.{}.{}", part, number);
  const Crowd crowd{Draws(name, seed)};
  LabelledScene scene;
  scene.mask = {size, size, std::vector<std::uint8_t>(static_cast<std::size_t>(size) * static_cast<std::size_t>(size))};
  scene.image = draw_pixels(name, size, seed, crowd.noise, [&](int x, int y, Point place) {
    return crowd.at(
        place, 1.0 / size,
        scene.mask.labels[static_cast<std::size_t>(y) * static_cast<std::size_t>(size) + static_cast<std::size_t>(x)]);
  });
  return scene;
}

}  // namespace swinscope
