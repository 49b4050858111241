// One rank while its file is read: where its records go, and how the strings of the file become those of its sink.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>

#include "store/numbered_name.h"
#include "store/records.h"
#include "store/sink.h"
#include "store/table_reader.h"

namespace swinscope {

// The texts of a file by their ids in it.
using FileStrings = std::unordered_map<std::int64_t, std::string>;

// One rank while it is read: its sink, and the file's string ids as the sink knows them.
class RankReader {
 public:
  RankReader(RecordSink& sink, const FileStrings& strings) : sink_(sink), strings_(strings) {}

  RecordSink& sink() { return sink_; }

  // The text of a string of the file's own, nothing where it has none of that number.
  std::string_view text(std::int64_t id) const {
    const auto text = strings_.find(id);
    return text == strings_.end() ? std::string_view() : std::string_view(text->second);
  }

  // Names the range; what its name says of numbers goes where they belong.
  void name_range(NvtxRecord& r, std::string_view name) {
    const auto numbered = split_numbered_name(name);
    if (!numbered) {
      r.text = sink_.intern(name);
    } else if (take_numbers(*numbered, sink_, r) && !has_numbered_domain_) {
      has_numbered_domain_ = true;
      NvtxRecord domain;
      domain.type = NvtxType::kDomain;
      domain.domain = kNumberedDomain;
      domain.text = sink_.intern(kTorchOperatorDomain);
      sink_.add(domain);
    }
  }

  StringId string(std::int64_t id) {
    if (const auto known = ids_.find(id); known != ids_.end()) return known->second;
    const auto text = strings_.find(id);
    const StringId mapped = text == strings_.end() ? kNoString : sink_.intern(text->second);
    ids_.emplace(id, mapped);
    return mapped;
  }

  RunInfo run;

 private:
  RecordSink& sink_;
  const FileStrings& strings_;
  std::unordered_map<std::int64_t, StringId> ids_;
  bool has_numbered_domain_ = false;
};

// A row of which the strings go to a rank.
class RankRow {
 public:
  RankRow(const TableReader& rows, RankReader& rank) : rows_(rows), rank_(rank) {}

  RankReader& rank() const { return rank_; }
  bool is_null(int i) const { return rows_.is_null(i); }
  std::string text(int i) const { return rows_.text(i); }
  std::string_view blob(int i) const { return rows_.blob(i); }
  StringId string_of_id(int i) const { return rank_.string(rows_.integer<std::int64_t>(i)); }
  StringId string_of_text(int i) const { return rank_.sink().intern(rows_.text(i)); }
  void name_by_text(int i, NvtxRecord& r) const {
    if (is_range(r)) {
      rank_.name_range(r, rows_.text(i));
    } else {
      r.text = string_of_text(i);
    }
  }
  void name_by_id(int i, NvtxRecord& r) const {
    const std::string_view name = rank_.text(rows_.integer<std::int64_t>(i));
    if (is_range(r) && name.find(" = ") != std::string_view::npos) {
      rank_.name_range(r, name);
    } else {
      r.text = string_of_id(i);
    }
  }

 private:
  static bool is_range(const NvtxRecord& r) { return r.type == NvtxType::kPushPop || r.type == NvtxType::kStartEnd; }

  const TableReader& rows_;
  RankReader& rank_;
};

}  // namespace swinscope
