// The Model Context Protocol over lines of JSON-RPC 2.0: initialize, ping, tools/list, tools/call. It knows nothing of
// what the tools do (tools.h), and nothing of where lines come from (line_reader.h).
//
// A line is a request, a notification (no id: never answered), a response to something that was never asked (ignored),
// or an array of these, as revision 2025-03-26 has them. What is wrong with a message is an error by the
// specification: -32700 no JSON, -32600 no request, -32601 no such method, -32602 wrong parameters; what goes wrong in
// a tool is a result with isError, which the model is to read.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "mcp/tools.h"

namespace swinscope::mcp {

inline constexpr std::size_t kLongestLine = std::size_t{1} << 20U;

class Server {
 public:
  Server(std::vector<Tool> tools, std::string version) : tools_(std::move(tools)), version_(std::move(version)) {}

  // What to answer, without a line end; nothing where nothing is to be said. Never throws for what the line holds.
  std::optional<std::string> answer(const std::string& line);
  // To a line of more than kLongestLine bytes.
  static std::string too_long();

 private:
  std::optional<Json> answer_message(const Json& message);
  Json result_of(const std::string& method, const Json& params);
  Json initialize(const Json& params);
  Json list_tools(const Json& params) const;
  Json call_tool(const Json& params) const;

  std::vector<Tool> tools_;
  std::string version_;
  bool is_initialized_ = false;
};

}  // namespace swinscope::mcp
