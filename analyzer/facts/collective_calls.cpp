#include "analyzer/facts/collective_calls.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

namespace swinscope {
namespace {

using enum CollectiveKind;

// Lower-case letters only: "AllReduce", "all_reduce" and "allreduce" are one.
std::string letters_of(std::string_view name) {
  std::string letters;
  for (const char c : name) {
    if (std::isalpha(static_cast<unsigned char>(c)) != 0)
      letters += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return letters;
}

// The first that a name holds; a reduction of any other kind would be found in the names of those before it.
constexpr std::array<std::pair<std::string_view, CollectiveKind>, 12> kWords = {{
    {"allreduce", kAllReduce},
    {"crossdevicereduce", kAllReduce},
    {"allgather", kAllGather},
    {"reducescatter", kReduceScatter},
    {"alltoall", kAllToAll},
    {"broadcast", kBroadcast},
    {"bcast", kBroadcast},
    {"sendrecv", kSendReceive},
    {"ncclsend", kSendReceive},
    {"ncclrecv", kSendReceive},
    {"coalesced", kOther},  // several calls in one
    {"reduce", kReduce},
}};

// As PyTorch names them.
std::optional<std::int64_t> bytes_of_type(std::string_view dtype) {
  constexpr std::array<std::pair<std::string_view, std::int64_t>, 15> kTypes = {{{"Byte", 1},
                                                                                 {"Char", 1},
                                                                                 {"Bool", 1},
                                                                                 {"Float8_e4m3fn", 1},
                                                                                 {"Float8_e5m2", 1},
                                                                                 {"Float8_e4m3fnuz", 1},
                                                                                 {"Float8_e5m2fnuz", 1},
                                                                                 {"Short", 2},
                                                                                 {"Half", 2},
                                                                                 {"BFloat16", 2},
                                                                                 {"Int", 4},
                                                                                 {"Float", 4},
                                                                                 {"Long", 8},
                                                                                 {"Double", 8},
                                                                                 {"ComplexFloat", 8}}};
  const auto found = std::ranges::find(kTypes, dtype, &std::pair<std::string_view, std::int64_t>::first);
  return found == kTypes.end() ? std::nullopt : std::optional(found->second);
}

std::optional<std::int64_t> bytes_of(const CollectiveRecord& record, CollectiveKind kind, std::string_view dtype) {
  const std::optional<std::int64_t> size = bytes_of_type(dtype);
  const std::int64_t elements = std::max(record.in_elements, record.out_elements);
  if (!size || elements <= 0) return std::nullopt;
  // In and out alike is what was passed to the call: a rank's part of what is gathered or scattered.
  const bool is_part = (kind == kAllGather || kind == kReduceScatter) && record.in_elements == record.out_elements;
  if (is_part && record.group_size <= 0) return std::nullopt;
  return elements * *size * (is_part ? record.group_size : 1);
}

}  // namespace

std::string_view collective_kind_name(CollectiveKind kind) {
  constexpr std::array<std::string_view, 8> kNames = {"all-reduce", "all-gather", "reduce-scatter", "broadcast",
                                                      "reduce",     "all-to-all", "send/recv",      "other"};
  return kNames[static_cast<std::size_t>(kind)];
}

CollectiveKind collective_kind(std::string_view name) {
  const std::string letters = letters_of(name);
  if (letters == "send" || letters == "recv") return kSendReceive;
  for (const auto& [word, kind] : kWords) {
    if (letters.find(word) != std::string::npos) return kind;
  }
  return kOther;
}

CollectiveCall collective_call(const Trace& trace, const CollectiveMember& member) {
  const Rank& rank = trace.ranks[member.rank_index];
  const CollectiveRecord* record = described_collective(rank, member.event);
  CollectiveCall call;
  if (record != nullptr) call.kind = collective_kind(trace.text(record->name));
  if (call.kind == kOther) call.kind = collective_kind(trace.text(rank.gpu.short_name[member.event]));
  if (record == nullptr) return call;
  call.group = trace.text(record->ranks).empty() ? trace.text(record->group_name) : trace.text(record->ranks);
  if (record->group_size > 0) call.ranks = record->group_size;
  call.bytes = bytes_of(*record, call.kind, trace.text(record->dtype));
  return call;
}

std::optional<double> bus_factor(CollectiveKind kind, std::int64_t ranks) {
  if (ranks < 2 || kind == kOther) return std::nullopt;
  const double others = static_cast<double>(ranks - 1) / static_cast<double>(ranks);
  if (kind == kAllReduce) return 2 * others;
  return kind == kAllGather || kind == kReduceScatter || kind == kAllToAll ? others : 1.0;
}

}  // namespace swinscope
