// Which rank a trace file is of, where the data does not state it: the number that its name gives, or its place among
// the others.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string_view>

namespace swinscope {

// The number behind "rank", "worker", "proc" or a lone "r" in the last part of the path: 10 for trace_rank10.json, 3
// for rank-3.db, 7 for step_r7.sqlite.
std::optional<std::int32_t> rank_in_name(const std::filesystem::path& path);

// Natural order: runs of digits compare as numbers, so that trace9 comes before trace10.
bool natural_less(std::string_view a, std::string_view b);

}  // namespace swinscope
