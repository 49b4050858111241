#include "mcp/server.h"

#include <algorithm>
#include <array>
#include <new>
#include <stdexcept>
#include <string_view>

#include <fmt/format.h>

#include "store/error.h"

namespace swinscope::mcp {
namespace {

constexpr int kParseError = -32700;
constexpr int kInvalidRequest = -32600;
constexpr int kNoSuchMethod = -32601;
constexpr int kWrongParameters = -32602;
constexpr int kInternalError = -32603;

// Of the protocol; the newest first, which is offered where the client's is none of them.
constexpr std::array<std::string_view, 4> kRevisions = {"2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"};

constexpr const char* kInstructions =
    "Profiles of CUDA deep-learning programs. Begin with list_runs, then analyze: its verdict says what a run is bound "
    "by. Each answer is a JSON document; durations are in ns. `evidence` is SQL for the tool query, whose rows give "
    "the "
    "figures; `abstained` says why nothing is said.";

struct ProtocolError : std::runtime_error {
  ProtocolError(int with_code, const std::string& message) : std::runtime_error(message), code(with_code) {}
  int code;
};

Json error_answer(const Json& id, int code, const std::string& message) {
  return {{"jsonrpc", "2.0"}, {"id", id}, {"error", {{"code", code}, {"message", message}}}};
}

std::string dumped(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

bool is_id(const Json& id) { return id.is_string() || id.is_number_integer(); }

// A member of the parameters; null where it is not there.
Json member(const Json& params, const char* name) { return params.is_object() ? params.value(name, Json()) : Json(); }

std::string text_member(const Json& params, const char* name) {
  const Json value = member(params, name);
  if (!value.is_string()) throw ProtocolError(kWrongParameters, fmt::format("{}: not a string", name));
  return value.get<std::string>();
}

Json content(const std::string& text, bool is_error) {
  return {{"content", Json::array({{{"type", "text"}, {"text", text}}})}, {"isError", is_error}};
}

std::string readable(const Error& error) {
  std::string text = fmt::format("error: {}", error.what());
  if (!error.cause().empty()) text += fmt::format("\n  cause: {}", error.cause());
  if (!error.hint().empty()) text += fmt::format("\n  hint: {}", error.hint());
  return text;
}

}  // namespace

std::string Server::too_long() {
  return dumped(error_answer(nullptr, kInvalidRequest, fmt::format("a message has more than {} bytes", kLongestLine)));
}

std::optional<std::string> Server::answer(const std::string& line) {
  if (line.find_first_not_of(" \t\r") == std::string::npos) return std::nullopt;
  const Json message = Json::parse(line, nullptr, false);
  if (message.is_discarded()) return dumped(error_answer(nullptr, kParseError, "the line is no JSON"));
  if (!message.is_array()) {
    const std::optional<Json> one = answer_message(message);
    return one ? std::optional(dumped(*one)) : std::nullopt;
  }
  if (message.empty()) return dumped(error_answer(nullptr, kInvalidRequest, "an empty array is no request"));
  Json answers = Json::array();
  for (const Json& each : message) {
    if (std::optional<Json> one = answer_message(each)) answers.push_back(std::move(*one));
  }
  return answers.empty() ? std::nullopt : std::optional(dumped(answers));
}

std::optional<Json> Server::answer_message(const Json& message) {
  const Json id = member(message, "id");
  const auto refuse = [&](const char* why) { return error_answer(is_id(id) ? id : Json(), kInvalidRequest, why); };
  if (!message.is_object()) return refuse("a message is an object");
  if (member(message, "jsonrpc") != "2.0") return refuse("jsonrpc: not \"2.0\"");
  const Json method = member(message, "method");
  if (!message.contains("method") && (message.contains("result") || message.contains("error"))) return std::nullopt;
  if (!method.is_string()) return refuse("method: not a string");
  if (!message.contains("id")) return std::nullopt;  // a notification
  if (!is_id(id)) return refuse("id: not a string or an integer");
  const Json params = member(message, "params");
  if (!params.is_null() && !params.is_object()) return error_answer(id, kWrongParameters, "params: not an object");
  try {
    return Json{{"jsonrpc", "2.0"}, {"id", id}, {"result", result_of(method.get<std::string>(), params)}};
  } catch (const ProtocolError& error) {
    return error_answer(id, error.code, error.what());
  } catch (const std::bad_alloc&) {
    return error_answer(id, kInternalError, "not enough memory");
  } catch (const std::exception& error) {
    return error_answer(id, kInternalError, error.what());
  }
}

Json Server::result_of(const std::string& method, const Json& params) {
  if (method == "ping") return Json::object();
  if (method == "initialize") return initialize(params);
  const bool is_known = method == "tools/list" || method == "tools/call";
  if (!is_known) throw ProtocolError(kNoSuchMethod, fmt::format("{}: there is no such method", method));
  if (!is_initialized_) throw ProtocolError(kInvalidRequest, "initialize comes first");
  return method == "tools/list" ? list_tools(params) : call_tool(params);
}

Json Server::initialize(const Json& params) {
  const std::string asked = text_member(params, "protocolVersion");
  const bool is_known = std::ranges::find(kRevisions, asked) != kRevisions.end();
  is_initialized_ = true;
  return {{"protocolVersion", is_known ? asked : std::string(kRevisions.front())},
          {"capabilities", {{"tools", Json::object()}}},
          {"serverInfo", {{"name", "swinscope"}, {"version", version_}}},
          {"instructions", kInstructions}};
}

Json Server::list_tools(const Json& params) const {
  // All fit into one page.
  if (!member(params, "cursor").is_null()) throw ProtocolError(kWrongParameters, "cursor: there is one page only");
  Json list = Json::array();
  for (const Tool& tool : tools_) {
    list.push_back({{"name", tool.name},
                    {"title", tool.title},
                    {"description", tool.description},
                    {"inputSchema", schema_of(tool.arguments)},
                    {"annotations", {{"readOnlyHint", true}, {"openWorldHint", false}}}});
  }
  return {{"tools", list}};
}

Json Server::call_tool(const Json& params) const {
  const std::string name = text_member(params, "name");
  const auto tool = std::ranges::find(tools_, name, &Tool::name);
  if (tool == tools_.end()) throw ProtocolError(kWrongParameters, fmt::format("{}: there is no such tool", name));
  try {
    return content(tool->call(Arguments(member(params, "arguments"), tool->arguments)), false);
  } catch (const WrongArgument& error) {
    throw ProtocolError(kWrongParameters, error.what());
  } catch (const Error& error) {
    return content(readable(error), true);
  }
}

}  // namespace swinscope::mcp
