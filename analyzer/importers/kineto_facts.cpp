#include "analyzer/importers/kineto_facts.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "analyzer/importers/json_damage.h"
#include "analyzer/importers/kineto_own.h"
#include "analyzer/importers/kineto_records.h"
#include "analyzer/trace/trace.h"
#include "store/utf8.h"

namespace swinscope {
namespace {

using nlohmann::json;

constexpr std::array<const char*, 4> kVersions = {"cuda_driver_version", "cuda_runtime_version", "cupti_version",
                                                  "schemaVersion"};
constexpr std::array<const char*, 3> kOtherKeys = {"baseTimeNanoseconds", "distributedInfo", "deviceProperties"};
constexpr std::array<const char*, 4> kDistributedKeys = {"backend", "rank", "world_size", "nccl_version"};

std::size_t skip_space(std::string_view text, std::size_t at) {
  while (at < text.size() && std::isspace(static_cast<unsigned char>(text[at])) != 0)
    ++at;
  return at;
}

// The text behind the first `"key":`; empty when there is none.
std::string_view text_behind(std::string_view text, std::string_view key) {
  const std::string quoted = fmt::format("\"{}\"", key);
  for (std::size_t at = text.find(quoted); at != std::string_view::npos; at = text.find(quoted, at + 1)) {
    const std::size_t colon = skip_space(text, at + quoted.size());
    if (colon < text.size() && text[colon] == ':') return text.substr(skip_space(text, colon + 1));
  }
  return {};
}

json value_at(std::string_view text) {
  const JsonCheck check = check_json(text);
  if (check.state != JsonState::kWhole) return json(json::value_t::discarded);
  return json::parse(text.substr(0, check.end), nullptr, false);
}

// The known facts of a text that is no JSON, each by itself.
json find_facts(std::string_view text, std::vector<std::string>& unread) {
  json facts = json::object();
  const auto take = [&](json& into, std::string_view from, const char* key) {
    const std::string_view behind = text_behind(from, key);
    if (behind.empty()) return;
    if (json value = value_at(behind); !value.is_discarded()) {
      into[key] = std::move(value);
    } else if (std::string_view(key) == "distributedInfo") {
      into[key] = json::object();
    } else {
      unread.emplace_back(key);
    }
  };
  for (const char* key : kVersions)
    take(facts, text, key);
  for (const char* key : kOtherKeys)
    take(facts, text, key);
  if (const auto info = facts.find("distributedInfo"); info != facts.end() && info->is_object() && info->empty()) {
    const std::string_view within = text_behind(text, "distributedInfo");
    for (const char* key : kDistributedKeys)
      take(*info, within, key);
  }
  return facts;
}

std::int64_t integer(const json& from, const char* key) {
  const auto found = from.find(key);
  return found != from.end() && found->is_number_integer() ? found->get<std::int64_t>() : 0;
}

GpuInfo gpu_info(const json& device) {
  GpuInfo gpu;
  gpu.device = narrow<std::int32_t>(integer(device, "id"));
  if (const auto name = device.find("name"); name != device.end() && name->is_string()) gpu.name = *name;
  gpu.memory_bytes = integer(device, "totalGlobalMem");
  gpu.sm_count = narrow<std::int32_t>(integer(device, "numSms"));
  gpu.compute_major = narrow<std::int32_t>(integer(device, "computeMajor"));
  gpu.compute_minor = narrow<std::int32_t>(integer(device, "computeMinor"));
  return gpu;
}

void add_gpus(KinetoFacts& facts, const json& document) {
  const auto devices = document.find("deviceProperties");
  if (devices == document.end() || !devices->is_array()) return;
  if (devices->size() > kMostGpus) return facts.unread.emplace_back("deviceProperties"), void();
  for (const json& device : *devices) {
    if (!device.is_object()) continue;
    const GpuInfo gpu = gpu_info(device);
    const auto known = std::ranges::find(facts.run.gpus, gpu.device, &GpuInfo::device);
    if (known == facts.run.gpus.end()) {
      facts.run.gpus.push_back(gpu);
    } else if (*known != gpu) {
      ++facts.repeated_gpus;
    }
  }
}

}  // namespace

void state_rank(RunInfo& run, std::string_view by) {
  std::erase_if(run.collector, [&](const NamedValue& fact) { return fact.name == kRankStatedBy; });
  run.collector.push_back({std::string(kRankStatedBy), std::string(by)});
}

KinetoFacts read_kineto_facts(const JsonDocument& source) {
  KinetoFacts facts;
  const std::string text = replace_invalid_utf8(source.skeleton);
  json document = json::parse(text, nullptr, false);
  // Mostly a file is cut off among its events, and the facts stand before them.
  if (document.is_discarded() && !source.complete) document = json::parse(text + "]}", nullptr, false);
  if (document.is_discarded()) document = find_facts(text, facts.unread);
  if (!document.is_object()) return facts;

  RunInfo& run = facts.run;
  run.utc_epoch_ns = integer(document, "baseTimeNanoseconds");
  if (const auto info = document.find("distributedInfo"); info != document.end() && info->is_object()) {
    run.rank = narrow<std::int32_t>(integer(*info, "rank"));
    run.world_size = narrow<std::int32_t>(integer(*info, "world_size"));
    if (info->contains("rank")) state_rank(run, "distributedInfo");
    for (const char* key : {"backend", "nccl_version"}) {
      const auto value = info->find(key);
      if (value != info->end() && value->is_string()) {
        run.environment.push_back({fmt::format("distributed.{}", key), value->get<std::string>()});
      }
    }
  }
  for (const char* key : kVersions) {
    if (document.contains(key)) run.environment.push_back({key, document[key].dump()});
  }
  facts.is_pytorch = std::ranges::any_of(kOtherKeys, [&](const char* key) { return document.contains(key); }) ||
                     document.contains("schemaVersion");
  add_gpus(facts, document);
  RunInfo own;
  const auto own_facts = document.find(kOwnFacts);
  if (own_facts != document.end() && read_own_facts(*own_facts, own)) {
    own.rank = run.rank;
    own.world_size = run.world_size;
    facts.own = std::move(own);
  }
  return facts;
}

}  // namespace swinscope
