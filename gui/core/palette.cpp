#include "gui/core/palette.h"

#include <array>
#include <cstddef>
#include <unordered_map>

#include "analyzer/trace/kernel_operation.h"
#include "analyzer/trace/torch_operation.h"

namespace swinscope::gui {
namespace {

struct Look {
  std::string_view name;
  Color color;
};

// Okabe and Ito, "Color Universal Design" (2008), without black; greys for what the host does and what is not known.
constexpr std::array<Look, kEventCategories> kLooks = {{{"products", 0xff0072b2},
                                                        {"attention", 0xff56b4e9},
                                                        {"norm, sums", 0xff009e73},
                                                        {"elementwise", 0xfff0e442},
                                                        {"data layout", 0xffcc79a7},
                                                        {"optimizer", 0xffe69f00},
                                                        {"communication", 0xffd55e00},
                                                        {"copies", 0xff8c6d46},
                                                        {"launches", 0xff7f95ad},
                                                        {"waits", 0xff4f5b6b},
                                                        {"CUDA calls", 0xffb4bfcc},
                                                        {"other", 0xffa3a3a3}}};
constexpr Color kWhite = 0xffffffff;
constexpr Color kBlack = 0xff000000;
constexpr int kShade = 64;  // of 255

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// FNV-1a, 64 bits, of the letters that are no digits.
std::uint64_t hash(std::string_view text) {
  std::uint64_t value = 0xcbf29ce484222325;
  for (const char c : text)
    if (!is_digit(c)) value = (value ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return value;
}

bool contains(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

// "cudaLaunchKernel_v7000", "cuLaunchKernelEx".
bool is_cuda_call(std::string_view name) {
  const std::size_t prefix = name.starts_with("cuda") ? 4 : 2;
  return name.starts_with("cu") && name.size() > prefix && name[prefix] >= 'A' && name[prefix] <= 'Z' &&
         !contains(name, "::");
}

EventCategory category_of_call(std::string_view name) {
  if (contains(name, "Launch")) return EventCategory::kLaunch;
  if (contains(name, "Synchronize")) return EventCategory::kWait;
  return EventCategory::kCall;
}

EventCategory category_of(OperationKind operation) {
  switch (operation) {
    case OperationKind::kGemm:
    case OperationKind::kConv:
      return EventCategory::kMatrix;
    case OperationKind::kAttention:
      return EventCategory::kAttention;
    case OperationKind::kNorm:
    case OperationKind::kSoftmaxLoss:
    case OperationKind::kReduce:
      return EventCategory::kNorm;
    case OperationKind::kElementwise:
      return EventCategory::kElementwise;
    case OperationKind::kLayout:
    case OperationKind::kResample:
    case OperationKind::kEmbedding:
      return EventCategory::kLayout;
    case OperationKind::kOptimizer:
      return EventCategory::kOptimizer;
    case OperationKind::kCommunication:
      return EventCategory::kCommunication;
    case OperationKind::kCopy:
    case OperationKind::kSet:
      return EventCategory::kCopy;
    case OperationKind::kGraph:
    case OperationKind::kOther:
    case OperationKind::kUnknown:
      break;
  }
  return EventCategory::kOther;
}

Color shade(Color color, std::uint64_t choice) {
  if (choice % 3 == 0) return color;
  return blend(color, choice % 3 == 1 ? kWhite : kBlack, kShade);
}

// Names that differ in digits only are looked at once: a trace may name millions of ranges differently.
class Categories {
 public:
  EventCategory of(std::string_view name, std::uint64_t hash) {
    const auto [known, is_new] = known_.try_emplace(hash);
    if (is_new) known->second = gui::category_of(name);
    return known->second;
  }

 private:
  std::unordered_map<std::uint64_t, EventCategory> known_;
};

}  // namespace

std::string_view category_name(EventCategory category) { return kLooks.at(static_cast<std::size_t>(category)).name; }
Color category_color(EventCategory category) { return kLooks.at(static_cast<std::size_t>(category)).color; }

EventCategory category_of(std::string_view name) {
  if (is_cuda_call(name)) return category_of_call(name);
  if (name.starts_with("Memcpy PtoP")) return EventCategory::kCommunication;
  if (name.starts_with("Memcpy ") || name.starts_with("Memset ")) return EventCategory::kCopy;
  if (const OperationKind operation = torch_operation(name); operation != OperationKind::kUnknown)
    return category_of(operation);
  return category_of(kernel_operation(name));
}

Color name_color(std::string_view name) { return shade(category_color(category_of(name)), hash(name)); }

std::vector<Color> name_colors(const NameTable& names) {
  Categories categories;
  std::vector<Color> colors(names.size());
  for (NameId id = 0; id < names.size(); ++id) {
    const std::uint64_t key = hash(names.text(id));
    colors[id] = shade(category_color(categories.of(names.text(id), key)), key);
  }
  return colors;
}

std::vector<EventCategory> categories_of(const NameTable& names) {
  Categories categories;
  std::array<bool, kEventCategories> found{};
  for (NameId id = 0; id < names.size(); ++id)
    found.at(static_cast<std::size_t>(categories.of(names.text(id), hash(names.text(id))))) = true;
  std::vector<EventCategory> all;
  for (std::size_t i = 0; i < found.size(); ++i)
    if (found.at(i)) all.push_back(static_cast<EventCategory>(i));
  return all;
}

}  // namespace swinscope::gui
