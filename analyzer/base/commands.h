// What tells commands apart that are much alike.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace swinscope {

// A command in one line as a shell would read it, split again: quotes keep spaces.
std::vector<std::string> split_command(std::string_view line);

// Of each command the words that not all of them have, options with their values, in order: "--level eager". Where all
// are the same: "". Folders and files that only say where a run writes (-o, --output, --checkpoint) are left out.
std::vector<std::string> telling_parts(const std::vector<std::vector<std::string>>& commands);

// Whether two commands do different work: another program or sub-command, or another model, task, architecture or data
// set. What only says how it is done (level, precision, batch, …) makes no other task.
bool are_unlike_tasks(const std::vector<std::string>& a, const std::vector<std::string>& b);

// "b has `--level graph`, a (the base) has `--level eager`": by telling_parts(), of these names.
std::string difference_text(const std::string& name, const std::vector<std::string>& command,
                            const std::string& base_name, const std::vector<std::string>& base_command);

// What the work is, by which tasks are told apart: "swin train --model swin_tiny".
std::string task_text(const std::vector<std::string>& command);

// The options that say how much a step takes: "--batch 8"; empty where none does.
std::string batch_text(const std::vector<std::string>& command);

}  // namespace swinscope
