// What the advisor knows of single kernels and layers, as columns of their tables: what their products would gain from
// 8 bits, and what they could be fused with. Analyses know nothing of the advisor, so whoever shows such a table adds
// them.
#pragma once

#include <string_view>
#include <vector>

#include "advisor/advice.h"
#include "analyzer/table/table.h"

namespace swinscope {

// What is added to the definition of the table.
extern const std::string_view kAdviceColumnsDefinition;

// Of which tables it knows something, by key.
bool has_advice_columns(std::string_view table);
// To the tables `kernels` (rows are names of kernels) and `layers` of the run; others stay as they are. `advisor`, of
// the same run: nullptr, or one that refuses: the columns are empty.
void add_advice_columns(Table& table, const RunFacts& run, const Advisor* advisor);
void add_advice_columns(std::vector<Table>& tables, const RunFacts& run, const Advisor* advisor);

}  // namespace swinscope
