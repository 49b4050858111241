// record_tool DIR COMMAND…: record() as a program, so that tests can send it signals and see its exit status.
#include <cstdio>
#include <cstdlib>
#include <string>

#include "collector/launcher/record.h"

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  swinscope::RecordOptions options;
  options.folder = argv[1];
  options.command.assign(argv + 2, argv + argc);
  options.force = std::getenv("RECORD_TOOL_FORCE") != nullptr;
  std::string unknown;
  if (const char* list = std::getenv("RECORD_TOOL_TRACE")) options.trace = *swinscope::parse_trace_list(list, unknown);
  if (const char* hz = std::getenv("RECORD_TOOL_HZ")) options.sample_hz = std::atof(hz);
  try {
    return swinscope::record(options);
  } catch (const swinscope::CommandError& error) {
    std::fprintf(stderr, "error: %s\n  cause: %s\n  hint: %s\n", error.what(), error.cause().c_str(),
                 error.hint().c_str());
    return error.exit_status();
  } catch (const swinscope::Error& error) {
    std::fprintf(stderr, "error: %s\n  cause: %s\n  hint: %s\n", error.what(), error.cause().c_str(),
                 error.hint().c_str());
    return static_cast<int>(error.kind());
  }
}
