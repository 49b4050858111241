// The whole import of a PyTorch trace, plain or compressed, into a view; and through a stored file into the same view.
#include "analyzer/importers/kineto.h"
#include "tests/fuzz/support.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace swinscope;
  using namespace swinscope::fuzz;
  static const MemoryFolder folder;
  const MemoryFile file({reinterpret_cast<const char*>(data), size});
  Trace trace;
  try {
    TraceBuilder builder;
    import_kineto(file.path(), builder);
    builder.move_into(trace);
  } catch (const Error& error) {
    expect_input_error(error);
    return 0;
  }
  expect(!trace.ranks.empty(), "a PyTorch trace has a rank");
  check(trace);
  // Storing costs a hundred times as much: some inputs must do.
  if (size % 16 != 0) return 0;
  FileSink files(folder.path());
  import_kineto(file.path(), files);
  expect_same_view(trace, files.read_back());
  return 0;
}
