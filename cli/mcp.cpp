// swinscope mcp: the analyses for agents, over the standard input and output.
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <memory>

#include <unistd.h>

#include "cli/command.h"
#include "mcp/line_reader.h"
#include "mcp/server.h"

namespace swinscope::cli {
namespace {

std::size_t read_input(char* into, std::size_t size) {
  for (;;) {
    const ssize_t count = read(STDIN_FILENO, into, size);
    if (count >= 0) return static_cast<std::size_t>(count);
    if (errno != EINTR) return 0;
  }
}

int serve(const std::string& root) {
  std::signal(SIGINT, SIG_DFL);  // nothing is written that would have to be finished
  mcp::Server server(mcp::tools_below(root), SWINSCOPE_VERSION);
  mcp::LineReader lines(&read_input, mcp::kLongestLine);
  while (const std::optional<mcp::Line> line = lines.next()) {
    const std::optional<std::string> answer = line->is_too_long ? mcp::Server::too_long() : server.answer(line->text);
    if (!answer) continue;
    const std::string text = *answer + "\n";
    const bool is_written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0;
    if (!is_written)
      throw Error(ErrorKind::kFailure, "the standard output cannot be written", {}, "the client has closed it");
  }
  return 0;
}

}  // namespace

void add_mcp(Program& program) {
  auto root = std::make_shared<std::string>(".");
  Command& command = program.add_command(
      "mcp", "The same analyses for agents, over stdin/stdout, by the Model Context Protocol; reads only");
  command.option("--root", *root, "Folder whose runs may be read").value_name("DIR").show_default();
  command.does([root] { return serve(*root); });
}

}  // namespace swinscope::cli
