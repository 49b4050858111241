// Reads files of schema swinscope.rates/1, which docs/workloads.md describes. Keys that it does not know are passed
// over.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "advisor/rates.h"
#include "store/error.h"
#include "store/small_file.h"

namespace swinscope {
namespace {

using Json = nlohmann::json;

constexpr std::string_view kSchema = "swinscope.rates/";
constexpr int kVersion = 1;
// A day of nanoseconds, less than a cycle of any clock, and sizes whose products a double counts.
constexpr double kLeastNs = 1e-3;
constexpr double kMostNs = 86'400e9;
constexpr std::int64_t kMostSize = std::int64_t{1} << 50;
constexpr const char* kMakeOne = "make one on the GPU with `swin peaks --rates FILE`";

}  // namespace

class RatesReader {
 public:
  RatesReader(std::string_view text, const std::string& source) : source_(source) {
    const Json json = Json::parse(text, nullptr, false);
    if (!json.is_object()) refuse("it is no JSON object");
    check_version(json);
    rates_.source_ = source;
    const auto gpu = json.find("gpu");
    if (gpu == json.end() || !gpu->is_string() || gpu->get_ref<const std::string&>().empty())
      refuse("it does not name its GPU (\"gpu\")");
    rates_.gpu_ = gpu->get<std::string>();
    if (const auto found = json.find("scalars"); found != json.end()) read_scalars(*found);
    if (const auto found = json.find("bytes"); found != json.end()) read_bytes(*found);
    if (const auto found = json.find("products"); found != json.end()) {
      if (!found->is_object()) refuse("products is no object");
      for (const auto& [precision, rows] : found->items())
        read_products(precision, rows);
    }
  }

  Rates take() { return std::move(rates_); }

 private:
  [[noreturn]] void refuse(const std::string& cause) const {
    throw Error(ErrorKind::kInput, fmt::format("{}: no table of rates", source_), cause, kMakeOne);
  }

  void check_version(const Json& json) const {
    const auto found = json.find("schema");
    const std::string schema = found != json.end() && found->is_string() ? found->get<std::string>() : "";
    int version = 0;
    const char* const end = schema.data() + schema.size();
    if (!schema.starts_with(kSchema)) refuse(fmt::format("its schema is not {}{}", kSchema, kVersion));
    const auto [read_to, failed] = std::from_chars(schema.data() + kSchema.size(), end, version);
    if (failed != std::errc() || read_to != end || version < 1) refuse(fmt::format("{} is no version of it", schema));
    if (version > kVersion) {
      throw Error(ErrorKind::kInput, fmt::format("{}: made by a newer swinscope", source_),
                  fmt::format("its schema is {}, this program reads {}{}", schema, kSchema, kVersion),
                  "install a newer swinscope");
    }
  }

  double time_in(const Json& row, const std::string& where) const {
    const auto found = row.find("ns");
    const double ns = found != row.end() && found->is_number() ? found->get<double>() : 0.0;
    if (!(ns >= kLeastNs && ns <= kMostNs)) refuse(where + ".ns is no time");
    return ns;
  }

  std::int64_t size_in(const Json& row, const char* key, const std::string& where) const {
    const auto found = row.find(key);
    // What is beyond 63 bits arrives unsigned or as a floating point number.
    const bool fits = found != row.end() && found->is_number_integer() &&
                      (!found->is_number_unsigned() || found->get<std::uint64_t>() <= std::uint64_t{kMostSize});
    const std::int64_t size = fits ? found->get<std::int64_t>() : 0;
    if (size < 1) refuse(fmt::format("{}.{} is no size", where, key));
    return size;
  }

  void check_rows(const Json& rows, const std::string& where) const {
    if (!rows.is_array()) refuse(where + " is no list");
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (!rows[i].is_object()) refuse(fmt::format("{}[{}] is no row", where, i));
    }
  }

  void finish(Rates::Curve& curve, const std::string& where) const {
    std::ranges::sort(curve, {}, &Rates::Point::log_size);
    const auto twice = std::ranges::adjacent_find(curve, {}, &Rates::Point::log_size);
    if (twice != curve.end()) refuse(fmt::format("{} has two rows of the same size", where));
  }

  void read_scalars(const Json& scalars) {
    if (!scalars.is_object()) refuse("scalars is no object");
    for (const auto& [name, value] : scalars.items()) {
      const double ns = value.is_number() ? value.get<double>() : -1.0;
      if (!(ns >= 0.0 && ns <= kMostNs)) refuse(fmt::format("scalars.{} is no time", name));
      rates_.scalars_[name] = ns;
    }
  }

  void read_bytes(const Json& rows) {
    check_rows(rows, "bytes");
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const std::string where = fmt::format("bytes[{}]", i);
      const auto bytes = static_cast<double>(size_in(rows[i], "bytes", where));
      rates_.bytes_.push_back({std::log2(bytes), bytes / time_in(rows[i], where)});
    }
    finish(rates_.bytes_, "bytes");
  }

  void read_products(const std::string& precision, const Json& rows) {
    const std::string table = "products." + precision;
    check_rows(rows, table);
    std::map<std::pair<double, double>, Rates::Curve> curves[2];  // of layers (n, k): single, batched
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const std::string where = fmt::format("{}[{}]", table, i);
      const std::int64_t batch = size_in(rows[i], "batch", where);
      const double size = static_cast<double>(batch) * static_cast<double>(size_in(rows[i], "m", where));
      const auto n = static_cast<double>(size_in(rows[i], "n", where));
      const auto k = static_cast<double>(size_in(rows[i], "k", where));
      const double rate = 2.0 * size * n * k / time_in(rows[i], where);
      curves[batch > 1 ? 1 : 0][{std::log2(n), std::log2(k)}].push_back({std::log2(size), rate});
    }
    Rates::Precision& tables = rates_.products_[precision];
    for (auto* const layers : {&tables.single, &tables.batched}) {
      for (auto& [layer, curve] : curves[layers == &tables.batched ? 1 : 0]) {
        finish(curve, table);
        layers->push_back({layer.first, layer.second, std::move(curve)});
      }
    }
  }

  std::string source_;
  Rates rates_;
};

Rates Rates::parse(std::string_view text, const std::string& source) { return RatesReader(text, source).take(); }

Rates Rates::read(const std::filesystem::path& path) { return parse(read_small_file(path, kMakeOne), path.string()); }

}  // namespace swinscope
