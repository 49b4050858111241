// Files of settings: whatever stands in the user's ('u' before it) or the working folder's, it is refused as a mistake,
// or the options have values that they take; the working folder's sets nothing but how things look.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <string_view>

#include <fcntl.h>
#include <unistd.h>

#include "cli/config.h"
#include "tests/fuzz/memory_file.h"
#include "tests/fuzz/some_program.h"

namespace swinscope::fuzz {
namespace {

namespace fs = std::filesystem;

// The working folder and the user's, in memory. The fuzzer's own paths are relative: it is left after each input.
class Folders {
 public:
  Folders() : before_(open(".", O_PATH | O_DIRECTORY | O_CLOEXEC)) {
    fs::create_directories(folder_.path() / "swinscope");
    setenv("XDG_CONFIG_HOME", folder_.path().c_str(), 1);
  }
  Folders(const Folders&) = delete;
  Folders& operator=(const Folders&) = delete;
  Folders(Folders&&) = delete;
  Folders& operator=(Folders&&) = delete;
  ~Folders() { close(before_); }

  void enter() const { expect(chdir(folder_.path().c_str()) == 0, "the folder can be worked in"); }
  void leave() const { expect(fchdir(before_) == 0, "the folder can be left"); }
  void write(std::string_view text, bool is_users) const {
    fs::remove(folder_.path() / kUsers);
    fs::remove(folder_.path() / kFolders);
    std::ofstream(folder_.path() / (is_users ? kUsers : kFolders), std::ios::binary)
        .write(text.data(), static_cast<std::streamsize>(text.size()));
  }

 private:
  static constexpr const char* kUsers = "swinscope/config.toml";
  static constexpr const char* kFolders = ".swinscope.toml";
  int before_;
  MemoryFolder folder_;
};

void check(bool is_users) {
  SomeProgram some;
  const cli::ConfigFiles files(*some);
  expect(some->parse({"analyze", "run"}), "defaults do not stand in the way of words");
  some.expect_sound();
  if (is_users) files.report(*some);
}

}  // namespace
}  // namespace swinscope::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace swinscope;
  if (size == 0) return 0;
  static const fuzz::Folders folders;
  const bool is_users = data[0] == 'u';
  folders.enter();
  folders.write({reinterpret_cast<const char*>(data) + 1, size - 1}, is_users);
  try {
    fuzz::check(is_users);
  } catch (const Error& error) {
    fuzz::expect(error.kind() == ErrorKind::kUsage, "the error is one of the user", error.what());
  }
  folders.leave();
  return 0;
}
