// The protocol: what is answered to what, and with which error.
#include "mcp/server.h"

#include <gmock/gmock.h>

#include "store/error.h"

namespace swinscope::mcp {
namespace {

using testing::HasSubstr;

Tool echo() {
  return {"echo",
          "Echo",
          "Says what it is told.",
          {{"text", Argument::Type::kText, "what", true},
           {"times", Argument::Type::kWhole, "how often", false, {}, 0},
           {"how", Argument::Type::kText, "loudness", false, {"loud", "low"}}},
          [](const Arguments& arguments) {
            if (arguments.text("text") == "fail")
              throw Error(ErrorKind::kInput, "x.db: cannot be read", "it is empty", "give another");
            return arguments.text("text") + std::to_string(arguments.whole("times").value_or(1));
          }};
}

class ServerTest : public testing::Test {
 protected:
  Json ask(const std::string& line) {
    const std::optional<std::string> answer = server_.answer(line);
    return answer ? Json::parse(*answer) : Json();
  }
  Json request(const std::string& method, const Json& params = Json::object()) {
    return ask(Json{{"jsonrpc", "2.0"}, {"id", 7}, {"method", method}, {"params", params}}.dump());
  }
  int error_of(const std::string& line) { return ask(line).at("error").at("code").get<int>(); }
  void initialize() { request("initialize", {{"protocolVersion", "2025-06-18"}}); }
  Json call(const Json& arguments) { return request("tools/call", {{"name", "echo"}, {"arguments", arguments}}); }

  Server server_{{echo()}, "1.2.3"};
};

TEST_F(ServerTest, TheRevisionOfTheClientIsTakenWhereItIsKnown) {
  const Json result = request("initialize", {{"protocolVersion", "2024-11-05"}})["result"];
  EXPECT_EQ(result["protocolVersion"], "2024-11-05");
  EXPECT_EQ(result["serverInfo"]["version"], "1.2.3");
  EXPECT_TRUE(result["capabilities"]["tools"].is_object());
  EXPECT_EQ(request("initialize", {{"protocolVersion", "1999-01-01"}})["result"]["protocolVersion"], "2025-11-25");
  EXPECT_EQ(request("initialize")["error"]["code"], -32602);
}

TEST_F(ServerTest, ToolsComeAfterInitialize) {
  EXPECT_EQ(request("tools/list")["error"]["code"], -32600);
  EXPECT_EQ(request("ping")["result"], Json::object());
  initialize();
  const Json tools = request("tools/list")["result"]["tools"];
  ASSERT_EQ(tools.size(), 1U);
  EXPECT_EQ(tools[0]["name"], "echo");
  EXPECT_EQ(tools[0]["inputSchema"], Json::parse(R"({"type": "object", "properties": {
      "text": {"type": "string", "description": "what"},
      "times": {"type": "integer", "description": "how often", "minimum": 0},
      "how": {"type": "string", "description": "loudness", "enum": ["loud", "low"]}},
      "required": ["text"], "additionalProperties": false})"));
  EXPECT_TRUE(tools[0]["annotations"]["readOnlyHint"].get<bool>());
  EXPECT_EQ(request("tools/list", {{"cursor", "x"}})["error"]["code"], -32602);
}

TEST_F(ServerTest, AToolAnswersWithText) {
  initialize();
  const Json answer = call({{"text", "a"}, {"times", 3}});
  EXPECT_EQ(answer["id"], 7);
  EXPECT_EQ(answer["result"], Json::parse(R"({"content": [{"type": "text", "text": "a3"}], "isError": false})"));
}

TEST_F(ServerTest, WhatGoesWrongInAToolIsForTheModelToRead) {
  initialize();
  const Json result = call({{"text", "fail"}})["result"];
  EXPECT_TRUE(result["isError"].get<bool>());
  EXPECT_EQ(result["content"][0]["text"], "error: x.db: cannot be read\n  cause: it is empty\n  hint: give another");
}

TEST_F(ServerTest, WrongArgumentsAreErrorsOfTheProtocol) {
  initialize();
  for (const Json& arguments :
       {Json::object(), Json{{"text", 1}}, Json{{"text", "a"}, {"times", -1}}, Json{{"text", "a"}, {"times", 1.5}},
        Json{{"text", "a"}, {"times", 18446744073709551615U}}, Json{{"text", "a"}, {"how", "shrill"}},
        Json{{"text", "a"}, {"more", 1}}, Json{{"text", std::string("a\0b", 3)}}, Json::array({1}), Json("text")}) {
    EXPECT_EQ(call(arguments)["error"]["code"], -32602) << arguments;
  }
  EXPECT_THAT(call({{"text", "a"}, {"more", 1}})["error"]["message"].get<std::string>(), HasSubstr("more"));
  EXPECT_EQ(request("tools/call", {{"name", "none"}})["error"]["code"], -32602);
  EXPECT_EQ(request("tools/call", {{"name", 3}})["error"]["code"], -32602);
}

TEST_F(ServerTest, WhatIsNoRequestIsRefused) {
  EXPECT_EQ(error_of("{"), -32700);
  EXPECT_EQ(error_of("\xff"), -32700);
  EXPECT_EQ(error_of(std::string(100000, '[')), -32700);
  for (const char* line :
       {"7", "null", "[]", R"({"id": 1, "method": "ping"})", R"({"jsonrpc": "2.0", "id": 1})",
        R"({"jsonrpc": "2.0", "id": 1, "method": 5})", R"({"jsonrpc": "2.0", "id": {}, "method": "ping"})",
        R"({"jsonrpc": "2.0", "id": null, "method": "ping"})"}) {
    EXPECT_EQ(error_of(line), -32600) << line;
  }
  EXPECT_EQ(error_of(R"({"jsonrpc": "2.0", "id": 1, "method": "resources/list"})"), -32601);
  EXPECT_EQ(error_of(R"({"jsonrpc": "2.0", "id": 1, "method": "ping", "params": [1]})"), -32602);
  EXPECT_EQ(Json::parse(Server::too_long())["error"]["code"], -32600);
}

TEST_F(ServerTest, NotificationsAndResponsesHaveNoAnswer) {
  for (const char* line : {"", " \r", R"({"jsonrpc": "2.0", "method": "notifications/initialized"})",
                           R"({"jsonrpc": "2.0", "method": "tools/call", "params": {}})",
                           R"({"jsonrpc": "2.0", "id": 3, "result": {}})", R"([{"jsonrpc": "2.0", "method": "x"}])"}) {
    EXPECT_EQ(server_.answer(line), std::nullopt) << line;
  }
}

TEST_F(ServerTest, SeveralAtOnceAreAnsweredTogether) {
  const Json answers =
      ask(R"([{"jsonrpc": "2.0", "id": "a", "method": "ping"}, {"jsonrpc": "2.0", "method": "x"}, 1])");
  ASSERT_EQ(answers.size(), 2U);
  EXPECT_EQ(answers[0], Json::parse(R"({"jsonrpc": "2.0", "id": "a", "result": {}})"));
  EXPECT_EQ(answers[1]["error"]["code"], -32600);
}

}  // namespace
}  // namespace swinscope::mcp
